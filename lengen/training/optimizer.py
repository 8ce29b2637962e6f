"""Optimizer and learning-rate schedule of a specification: AdamW, linear warm-up, cosine decay."""

import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn

from lengen.settings.spec import TrainSpec


def learning_rate_factor(step: int, train: TrainSpec) -> float:
    """Return share of the peak learning rate at a step (0-based): linear from 0, then cosine to ``final_lr``.

    Tables 1-3 of "Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count": warm-up over 1 %
    of the steps, cosine decay from LR to 0.1 LR. "Length Generalization on Multi-Digit Integer Addition with
    Transformers", Section 4.2.4 (nanoGPT's): the same after 100 steps of warm-up (``warmup_steps``).

    >>> from lengen.settings.spec import TrainSpec
    >>> train = TrainSpec(steps=101, batch=1, lr=1.0, warmup=0.01)
    >>> learning_rate_factor(0, train), learning_rate_factor(1, train), round(learning_rate_factor(101, train), 3)
    (0.0, 1.0, 0.1)
    """
    warmup = train.warmup_steps or int(train.warmup * train.steps)
    if step < warmup:
        return step / warmup
    done = min(1.0, (step - warmup) / max(1, train.steps - warmup))
    return train.final_lr + (1 - train.final_lr) * 0.5 * (1 + math.cos(math.pi * done))


def build_optimizer(
    model: nn.Module, train: TrainSpec
) -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler]:
    """Return AdamW over all parameters of a model and its schedule, stepped once per optimizer step."""
    optimizer = adamw(model.parameters(), train)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: learning_rate_factor(step, train))
    return optimizer, schedule


def adamw(parameters: Iterable[Tensor], train: TrainSpec) -> torch.optim.Optimizer:
    """Return AdamW over parameters (fused: one kernel a step).

    Weight decay is for matrices and tables only; scales and biases have none, as in nanoGPT (Karpathy 2022).
    """
    listed = list(parameters)
    groups = [
        {"params": [p for p in listed if (p.dim() > 1) == decayed], "weight_decay": decay}
        for decayed, decay in ((True, train.weight_decay), (False, 0.0))
    ]
    return torch.optim.AdamW(groups, lr=train.lr, betas=train.betas, eps=train.eps, fused=True)
