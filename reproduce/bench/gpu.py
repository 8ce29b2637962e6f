"""Training speed of a small model on a GPU: step by step, compiled, as CUDA graphs, and with seeds stacked.

Batches are drawn beforehand and lie on the device, so a step is what is measured. Wall-clock time, because processor
time says nothing of a GPU; whatever is compared runs in turns, and a ratio is the median over the turns.
"""

from collections.abc import Callable, Sequence
from time import perf_counter

import numpy as np
import torch
from lightning.fabric.utilities.apply_func import move_data_to_device
from torch.nn.utils import clip_grad_norm_

from lengen.config.spec import Spec
from lengen.data.batch import TrainBatch
from lengen.data.task_data import TaskData
from lengen.timing import Entry, entry
from lengen.training.cuda_graph import MULTIPLE, CudaGraphs, GraphedStep, Graphs
from lengen.training.module import SequenceModule
from lengen.training.optimizer import build_optimizer
from lengen.training.stacked import Stack, stacked_batches
from reproduce.bench.speed import SPEC, Sizes

MEMBERS = (1, 4, 16)
WARM = 3
"""Rounds before the first that counts: one trains, one records, one is on the safe side."""
Way = Callable[[], None]
"""Trains a window of batches."""


class NoGpuError(ValueError):
    """There is nothing to measure on."""


def gpu(sizes: Sizes) -> list[Entry]:
    """The ways to train the setting of the cpu profile, on a CUDA device; raises `NoGpuError` where there is none."""
    if not torch.cuda.is_available():
        raise NoGpuError("gpu: there is no CUDA device here; measure it on a machine that has one")
    device = torch.device("cuda")
    ways = {"eager": one_by_one(SPEC, device), "compiled": one_by_one(SPEC, device, compiled=True)}
    for members in MEMBERS:
        ways[f"stacked_{members}"] = together(SPEC, device, members)
        ways[f"graph_{members}"] = together(SPEC, device, members, CudaGraphs())
    return compared(ways, torch.cuda.synchronize, sizes.turns, torch.cuda.get_device_name(device))


def one_by_one(spec: Spec, device: torch.device, compiled: bool = False) -> Way:
    """One seed, every kernel launched by itself, or the model compiled."""
    module = SequenceModule(spec, seed=0).to(device)
    if compiled:
        module.model.compile()
    optimizer, schedule = build_optimizer(module.model, spec.train)
    batches = _drawn(spec, device, 1, 1)
    alone = [TrainBatch(one.tokens[0], one.ids[0], one.loss[0], one.scale[0]) for one in batches]

    def window() -> None:
        for number, batch in enumerate(alone):
            optimizer.zero_grad()
            module.training_step(batch, number).backward()
            clip_grad_norm_(module.parameters(), spec.train.clip)
            optimizer.step()
            schedule.step()

    return window


def together(spec: Spec, device: torch.device, members: int, graphs: Graphs | None = None) -> Way:
    """Several seeds as one program, every kernel launched by itself or each step as one graph."""
    modules = [SequenceModule(spec, seed=seed).to(device) for seed in range(members)]
    stack = Stack(modules, spec.train, capturable=graphs is not None)
    take = stack.step if graphs is None else GraphedStep(stack.step, graphs)
    batches = _drawn(spec, device, members, 1 if graphs is None else MULTIPLE)

    def window() -> None:
        for number, batch in enumerate(batches):
            stack.begin(number)
            take(batch)

    return window


def compared(ways: dict[str, Way], finish: Callable[[], object], repeats: int, where: str) -> list[Entry]:
    """Steps of seeds per second of every way, against those of the first; ``finish`` waits for the device."""
    seconds = np.array([[_seconds(way, finish) for way in ways.values()] for _ in range(WARM + repeats)])[WARM:]
    train = SPEC.train
    what = f"1 layer, width {SPEC.model.width}, batch {train.batch}, S_A(5,5), on {where}"
    steps = [
        _entry("gpu_steps_per_second", f"training, kernel by kernel: {what}", train.bucket / seconds[:, 0], "steps/s")
    ]
    for number, name in enumerate(ways):
        kind, _, members = name.partition("_")
        if kind == "eager":
            continue
        how = {"compiled": "compiled", "stacked": "kernel by kernel", "graph": "each step one CUDA graph"}[kind]
        seeds = f"{members} seeds as one program, {how}" if members else how
        ratios = int(members or 1) * seconds[:, 0] / seconds[:, number]
        steps.append(_entry(f"gpu_{name}", f"steps of all seeds: {seeds}; {what}", ratios, "times faster", "one seed"))
    return steps


def _entry(name: str, what: str, values: Sequence[float] | np.ndarray, unit: str, against: str = "") -> Entry:
    return entry(name, what, values, unit, f"{against}, kernel by kernel" if against else "")


def _seconds(way: Way, finish: Callable[[], object]) -> float:
    finish()
    start = perf_counter()
    way()
    finish()
    return perf_counter() - start


def _drawn(spec: Spec, device: torch.device, members: int, multiple: int) -> list[TrainBatch]:
    """The batches of a window, on the device."""
    data = [TaskData(spec, seed) for seed in range(members)]
    drawn = stacked_batches(data, 0, spec.train.bucket, multiple)
    return [move_data_to_device(batch, device) for batch in drawn]
