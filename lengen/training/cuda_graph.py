"""A whole optimizer step as one CUDA graph: forward pass, backward pass, clipping and AdamW, launched as one.

A small model's step is hundreds of kernels of a few microseconds each, and launching them takes longer than running
them. A graph is recorded for every shape of a batch; so that there are few, batches are padded to a multiple of tokens.
"""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, final

import torch
from torch import Tensor

from lengen.data.batch import TrainBatch

MULTIPLE = 32
"""Tokens to whose multiples batches are padded: each length more is a graph more, each shorter one computed in vain."""

Step = Callable[[TrainBatch], Tensor]


class Graphs(Protocol):
    """What records steps: `CudaGraphs`, or in a test what only repeats them."""

    def beside(self, step: Step, batch: TrainBatch) -> Tensor:
        """Take a step where steps are recorded: the warm-up of a recording."""

    def record(self, step: Step, batch: TrainBatch) -> Callable[[], Tensor]:
        """Record a step without taking it; what is returned takes it, on what the tensors of ``batch`` hold then."""


class _Recorded(NamedTuple):
    inputs: TrainBatch
    replay: Callable[[], Tensor]


@final
class GraphedStep:
    """A step that is recorded when a shape of batch comes for the second time, and replayed from then on.

    The first batch of a shape is trained on as it is: that is the warm-up that a recording needs (libraries allocate,
    the optimizer makes its averages), and no step is wasted on it. What the step returns lies in memory that the next
    one writes over: read it before.

    The step must not read values on the host, must leave no gradients behind, and must find everything it changes
    (weights, averages, the learning rate) in the same memory every time: `lengen.training.stacked.Stack.step` of a
    stack that is ``capturable``.
    """

    def __init__(self, step: Step, graphs: Graphs) -> None:
        self._step, self._graphs = step, graphs
        self._seen: set[object] = set()
        self._recorded: dict[object, _Recorded] = {}

    def __call__(self, batch: TrainBatch) -> Tensor:
        shape = shape_of(batch)
        if shape not in self._seen:
            self._seen.add(shape)
            return self._graphs.beside(self._step, batch)
        if shape not in self._recorded:
            inputs = copied(batch)
            self._recorded[shape] = _Recorded(inputs, self._graphs.record(self._step, inputs))
        recorded = self._recorded[shape]
        refill(recorded.inputs, batch)
        return recorded.replay()


@final
class CudaGraphs:
    """Records CUDA graphs that share one pool of memory: they never run at the same time."""

    def __init__(self) -> None:
        stream: Any = torch.cuda.Stream
        self._stream = stream()
        self._pool = torch.cuda.graph_pool_handle()

    def beside(self, step: Step, batch: TrainBatch) -> Tensor:
        """Take a step on the stream that graphs are recorded on, in order with the main one."""
        self._stream.wait_stream(torch.cuda.current_stream())
        with warnings.catch_warnings(), torch.cuda.stream(self._stream):
            # The optimizer warns that it could be recorded and is not: it will be.
            warnings.filterwarnings("ignore", message="This instance was constructed with capturable=True")
            losses = step(batch)
        torch.cuda.current_stream().wait_stream(self._stream)
        return losses

    def record(self, step: Step, batch: TrainBatch) -> Callable[[], Tensor]:
        """Record a step without taking it."""
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool, stream=self._stream):
            losses = step(batch)

        def replay() -> Tensor:
            graph.replay()
            return losses

        return replay


def tensors_of(batch: TrainBatch) -> list[Tensor]:
    """The tensors of a batch, its source's included."""
    source = [] if batch.source is None else list(batch.source)
    return [batch.tokens, batch.ids, batch.loss, batch.scale, *source]


def shape_of(batch: TrainBatch) -> object:
    """What two batches must share to be trained on by one graph: all shapes, and the output head."""
    return (batch.output, *(tuple(tensor.shape) for tensor in tensors_of(batch)))


def copied(batch: TrainBatch) -> TrainBatch:
    """The batch in memory of its own."""
    source = batch.source and batch.source._replace(tokens=batch.source.tokens.clone(), ids=batch.source.ids.clone())
    tokens, ids, loss, scale = (tensor.clone() for tensor in tensors_of(batch)[:4])
    return TrainBatch(tokens, ids, loss, scale, source, batch.output)


def refill(held: TrainBatch, batch: TrainBatch) -> None:
    """Copy a batch into the memory of one of the same shape."""
    for target, tensor in zip(tensors_of(held), tensors_of(batch), strict=True):
        target.copy_(tensor, non_blocking=True)
