"""What the benchmark of a GPU compares trains, and its ratios count the seeds; no GPU is needed for that."""

import pytest
import torch

from lengen.training.stacked import Stack
from reproduce.bench import gpu, speed
from tests.lengen.stacking import Repeats

CPU = torch.device("cpu")
SMALL = speed.SPEC.override("train.batch=2", "train.bucket=2", "model.width=16", "model.ff_width=16")


def test_every_way_trains_a_window(monkeypatch):
    taken, step = [], Stack.step
    monkeypatch.setattr(Stack, "step", lambda self, batch: taken.append(len(self.modules)) or step(self, batch))
    gpu.one_by_one(SMALL, CPU)()
    assert taken == []
    gpu.together(SMALL, CPU, 3)()
    assert taken == [3, 3]
    graphs = Repeats()
    window = gpu.together(SMALL, CPU, 2, graphs)
    window()
    window()
    assert taken == [3, 3, 2, 2, 2, 2] and graphs.recorded >= 1


def test_ratios_count_the_steps_of_all_seeds(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(gpu, "perf_counter", lambda: clock[0])

    def lasting(seconds):
        def way():
            clock[0] += seconds

        return way

    ways = {"eager": lasting(8.0), "compiled": lasting(4.0), "stacked_4": lasting(8.0), "graph_16": lasting(2.0)}
    entries = gpu.compared(ways, lambda: None, 2, "a device")
    assert {entry.name: entry.value for entry in entries} == {
        "gpu_steps_per_second": speed.SPEC.train.bucket / 8,
        "gpu_compiled": 2.0,
        "gpu_stacked_4": 4.0,
        "gpu_graph_16": 64.0,
    }
    assert all("on a device" in entry.what for entry in entries)


def test_a_machine_without_a_gpu_is_told_so(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(gpu.NoGpuError, match="there is no CUDA device here"):
        gpu.gpu(speed.TINY)
