"""Several seeds of one setting as one program: stacked weights, a vmapped forward pass, ordinary autograd.

A small model leaves a GPU idle between kernels; k of them in one program launch as many kernels as one. A wide model
keeps it busy, and gains nothing; on a processor, which waits for nothing, a stack takes longer than its members do.

What a member learns is what it learns alone: its own initial weights, its own batches, its own gradient norm. A matrix
product of all members adds in another order than one of a single member, so weights agree to rounding and not to the
bit.

Axes: k members in front of all others; B batch, T tokens.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Never, final

import torch
from torch import Tensor
from torch.func import functional_call, stack_module_state, vmap
from torch.nn.functional import pad, scaled_dot_product_attention
from torch.overrides import TorchFunctionMode
from torch.utils.data import DataLoader, Dataset

from lengen.config.spec import TrainSpec
from lengen.data.batch import Batch, Source, TrainBatch
from lengen.data.task_data import TaskData
from lengen.training.module import SequenceModule, response_loss
from lengen.training.optimizer import adamw, learning_rate_factor
from lengen.vocab import PAD

STATES = ("exp_avg", "exp_avg_sq")
"""What AdamW keeps of every parameter, beside the number of its steps."""


@final
class Stack:
    """The members of a stack: one leaf per parameter, of which every member's module has a slice.

    The optimizer changes the leaves in place, so a module is always as trained as the stack.

    Args:
        modules: The members, equal but for their weights, on the device and in the precision they train in.
        train: How they train.
        capturable: The step can become part of a CUDA graph: the learning rate and the number of steps are tensors.
    """

    def __init__(self, modules: Sequence[SequenceModule], train: TrainSpec, capturable: bool = False) -> None:
        self.modules = list(modules)
        self.train = train
        self.leaves: dict[str, Tensor] = stack_module_state(self.modules)[0]
        for member, module in enumerate(self.modules):
            for name, parameter in module.named_parameters():
                parameter.data = self.leaves[name].data[member]
        options: dict[str, Any] = {}
        if capturable:
            options = {"capturable": True, "lr": torch.tensor(train.lr, device=self.modules[0].device)}
        self.optimizer = adamw(self.leaves.values(), train, axes=1, **options)

    def release(self) -> None:
        """Give every module memory of its own again."""
        for module in self.modules:
            for parameter in module.parameters():
                parameter.data = parameter.data.clone()

    def begin(self, step: int) -> None:
        """Set the learning rate of a step (0-based)."""
        rate = self.train.lr * learning_rate_factor(step, self.train)
        for group in self.optimizer.param_groups:
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate

    def losses(self, batch: TrainBatch) -> Tensor:
        """(k,) loss per target token of every member; ``batch`` as `stack_batches` makes it."""
        of_source = None if batch.source is None else Source(0, 0)  # type: ignore[arg-type]
        axes = TrainBatch(0, 0, 0, 0, of_source, None)  # type: ignore[arg-type]
        with _MembersAsHeads():
            losses: Tensor = vmap(self._loss, in_dims=(0, axes))(self.leaves, batch)
        return losses

    def _loss(self, weights: dict[str, Tensor], batch: TrainBatch) -> Tensor:
        """As `SequenceModule.training_step`, with the weights given."""
        seen = Batch(batch.tokens, batch.ids, batch.loss, batch.source, batch.output)
        logits: Tensor = functional_call(self.modules[0], weights, (seen,))
        return response_loss(logits, batch.tokens, batch.loss) / batch.scale

    def step(self, batch: TrainBatch) -> Tensor:
        """One optimizer step of all members, at the rate that `begin` set; their losses (k,) before it."""
        losses = self.losses(batch)
        torch.autograd.backward(losses.sum())
        if self.train.clip:
            clip_per_member([leaf.grad for leaf in self.leaves.values() if leaf.grad is not None], self.train.clip)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return losses.detach()

    def state(self, member: int) -> dict[str, dict[str, Tensor]]:
        """What AdamW keeps of a member: by parameter, its two averages and the number of steps."""
        kept = {}
        for name, leaf in self.leaves.items():
            if state := self.optimizer.state.get(leaf):
                kept[name] = {key: state[key][member].clone() for key in STATES} | {"step": state["step"].clone()}
        return kept

    def restore(self, states: Sequence[dict[str, dict[str, Tensor]]]) -> None:
        """Go on with what AdamW kept of every member."""
        for name, first in states[0].items():
            leaf = self.leaves[name]
            merged = {key: torch.stack([state[name][key] for state in states]).to(leaf.device) for key in STATES}
            self.optimizer.state[leaf] = {**merged, "step": first["step"].to(leaf.device)}


def clip_per_member(gradients: Sequence[Tensor], largest: float) -> Tensor:
    """Scale gradients (k, ...) in place so that no member's norm over all of them exceeds ``largest``.

    Returns the norms (k,) before. For each member what `torch.nn.utils.clip_grad_norm_` does for one model, without
    asking the device for a value.
    """
    of_each = [torch.linalg.vector_norm(gradient.flatten(1), dim=1) for gradient in gradients if gradient.dim() > 1]
    of_each += [gradient.abs() for gradient in gradients if gradient.dim() == 1]
    norms: Tensor = torch.linalg.vector_norm(torch.stack(of_each), dim=0)
    factors = (largest / (norms + 1e-6)).clamp(max=1.0)
    for gradient in gradients:
        gradient.mul_(factors.view(-1, *[1] * (gradient.dim() - 1)))
    return norms


# ------------------------------------------------------------------ batches


def stack_batches(batches: Sequence[TrainBatch], multiple: int = 1) -> TrainBatch:
    """One batch with a new first axis, padded on the right to the longest, or the next ``multiple`` of it.

    Padding is no target, and no target sees it: it stands behind (causal attention), or is masked (an encoder). Its
    position ids are 0.
    """
    sources = [batch.source for batch in batches if batch.source is not None]
    source = None
    if sources:
        source = Source(*(_joined([getattr(one, name) for one in sources], multiple) for name in Source._fields))
    tokens, ids, loss = (
        _joined([getattr(one, name) for one in batches], multiple) for name in ("tokens", "ids", "loss")
    )
    return TrainBatch(tokens, ids, loss, torch.stack([one.scale for one in batches]), source, batches[0].output)


def _joined(tensors: Sequence[Tensor], multiple: int) -> Tensor:
    """Stacked along a new first axis, with zeros (`PAD` is one) where one is shorter along its last."""
    assert PAD == 0
    longest = -(-max(tensor.shape[-1] for tensor in tensors) // multiple) * multiple
    return torch.stack([pad(tensor, (0, longest - tensor.shape[-1])) for tensor in tensors])


def stacked_batches(
    data: Sequence[TaskData], first: int, last: int, multiple: int = 1, workers: int = 0
) -> Iterator[TrainBatch]:
    """The batches of the steps ``first`` to ``last`` - 1, members stacked, each from its own (seed, step) stream.

    ``workers`` processes draw ahead, whole windows at a time (`lengen.data.training_batches`): on a GPU k members draw
    for longer than they train.
    """
    windows = DataLoader(_Windows(data, first, last, multiple), batch_size=None, num_workers=workers)
    for drawn, sizes in windows:
        for place, (size, source_size, output) in enumerate(sizes):
            source = None
            if drawn.source is not None:
                source = Source(*(part[place, ..., :source_size] for part in drawn.source))
            tokens, ids, loss = (part[place, ..., :size] for part in (drawn.tokens, drawn.ids, drawn.loss))
            yield TrainBatch(tokens, ids, loss, drawn.scale[place], source, output)


Sizes = list[tuple[int, int, int]]
"""Tokens, source tokens and output head of every step of a window."""


class _Windows(Dataset[tuple[TrainBatch, Sizes]]):
    """Windows of steps, each as one batch with the steps as its first axis: few tensors pass between processes."""

    def __init__(self, data: Sequence[TaskData], first: int, last: int, multiple: int) -> None:
        self._data, self._multiple = data, multiple
        size = data[0].spec.train.bucket * len(data[0].streams)
        starts = range(first - first % size, last, size)
        self._windows = [range(max(first, start), min(last, start + size)) for start in starts]

    def __len__(self) -> int:
        return len(self._windows)

    def __getitem__(self, index: int) -> tuple[TrainBatch, Sizes]:
        if index >= len(self):
            raise IndexError
        drawn = ([one.batch(step) for one in self._data] for step in self._windows[index])
        steps = [stack_batches(batches, self._multiple) for batches in drawn]
        sizes = [
            (one.tokens.shape[-1], 0 if one.source is None else one.source.tokens.shape[-1], one.output)
            for one in steps
        ]
        return stack_batches(steps), sizes


# ------------------------------------------------------------------ attention


class _MembersAsHeads(TorchFunctionMode):
    """Fused attention of a vmapped model as one call, in which members are further heads.

    torch 2.13 runs the fused kernel of a CPU member by member, and under vmap takes a learned bias for one that needs
    no gradient. As heads, members keep what a whole batch shares (a bias, a mask) shared.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is not scaled_dot_product_attention:
            return func(*args, **kwargs)
        assert not kwargs.get("dropout_p"), "a stack drops nothing"
        query, key, value = args
        mask, causal, scale = (kwargs.get(name) for name in ("attn_mask", "is_causal", "scale"))
        attend: Any = _Attention.apply
        return attend(query, key, value, mask, bool(causal), scale)


class _Attention(torch.autograd.Function):
    """`scaled_dot_product_attention` with a rule for vmap; what is differentiated is what the rule calls."""

    @staticmethod
    def forward(*arguments: Any) -> Never:
        raise RuntimeError("this attention is for vmapped models; call scaled_dot_product_attention")

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Nothing: see `forward`."""

    @staticmethod
    def vmap(
        info: Any,
        axes: tuple[int | None, ...],
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        causal: bool,
        scale: float | None,
    ) -> tuple[Tensor, int]:
        members, heads = info.batch_size, query.shape[-3]

        def as_heads(tensor: Tensor, axis: int | None) -> Tensor:
            """(B, H, ...) of each member to (B, kH, ...)."""
            if axis is None:
                return tensor.repeat(1, members, 1, 1)
            return tensor.movedim(axis, 1).flatten(1, 2)

        def mask_as_heads(tensor: Tensor, axis: int | None) -> Tensor:
            if axis is None and (tensor.dim() < 4 or tensor.shape[1] == 1):
                return tensor  # the same for all members and heads
            tensor = tensor.expand(*tensor.shape[:-3], heads, *tensor.shape[-2:])
            return as_heads(tensor, axis)

        mixed = scaled_dot_product_attention(
            as_heads(query, axes[0]),
            as_heads(key, axes[1]),
            as_heads(value, axes[2]),
            attn_mask=None if mask is None else mask_as_heads(mask, axes[3]),
            is_causal=causal,
            scale=scale,
        )
        return mixed.reshape(mixed.shape[0], members, heads, *mixed.shape[2:]), 1
