"""Attention of a trained model: averaged over test cells, how many keys a step needs, and on single problems.

Figure 7 of "Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count" shows maps averaged over
1,000 examples and says that with a scratchpad a head looks at a fixed number of keys, while without it the number
grows with the operands. A picture cannot be tested; the number of keys that hold 90 % of the softmax can.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from lightning import LightningModule, Trainer
from torch import Tensor

from lengen.callbacks.accuracy_grid import Measurement
from lengen.data.batch_and_random_spaces import Batch
from lengen.data.datamodule import ArithmeticData, data_of
from lengen.data.task_data import TaskData
from lengen.digits import OperandError, problem_texts, whole
from lengen.digits import cells as checked
from lengen.models import Transformer
from lengen.part import SettingError
from lengen.results.progress import Progress, Report
from lengen.results.records import AttentionMap, ExampleMap, KeyCount, in_steps

MASS = 0.9
"""Share of the softmax that the counted keys hold."""
EXAMPLES_AT_ONCE = 50
KEPT = 3
"""Examples whose own maps are kept beside the average: single heads are sharp where their average may be a blur."""


def keys_holding(weights: Tensor, mass: float = MASS) -> Tensor:
    """Return the smallest number of keys that hold ``mass`` of each softmax row: (..., K) to (...).

    >>> keys_holding(torch.tensor([[0.95, 0.05, 0.0], [0.5, 0.3, 0.2]])).tolist()
    [1, 3]
    """
    largest_first = weights.sort(dim=-1, descending=True).values
    return (largest_first.cumsum(dim=-1) < mass).sum(dim=-1) + 1


class AttentionMaps(Measurement):
    """Measures the attention in cells; ``map`` is the averaged one of the first, ``key_counts`` those of all.

    Args:
        cells: Pairs (length, count).
        examples: Examples averaged in each.
        data: The problems, where the Trainer trains on data of your own; None: its `ArithmeticData`.
        every_n_steps: Also measure after every so many steps; 0: only at the end.

    Raises:
        OperandError: Cells that are no pairs.
        SettingError: A model with an encoder beside its decoder: its text is two sequences.

    Example:
        >>> import lengen
        >>> measured = lengen.AttentionMaps([(2, 1)], examples=4)
        >>> module = lengen.train("copy", digits=2, steps=2, batch=4, callbacks=measured)
        >>> measured.map.to_frame().columns.tolist()
        ['$', '1', '0', '=', '1', '0']
    """

    def __init__(
        self, cells: Sequence[tuple[int, int]], examples: int = 1000, *,
        data: ArithmeticData | TaskData | None = None, every_n_steps: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(data, every_n_steps)
        try:
            pairs = [(length, count) for length, count in cells]
        except (TypeError, ValueError):
            raise OperandError(f"cells={cells!r:.60}: expected pairs (length, count), such as [(2, 3)]") from None
        self.cells = [cell for length, count in pairs for cell in checked([length], [count])]
        self.examples = whole("examples", examples)
        self.reads_attention = bool(self.cells)
        self.map: AttentionMap | None = None
        self.key_counts: list[KeyCount] = []

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Refuse cells that have no problems, or no room, and two texts, before anything is trained."""
        super().setup(trainer, pl_module, stage)
        data = data_of(trainer, self.data)
        if self.cells and data.writer.split:
            raise SettingError("AttentionMaps: expected a decoder alone, whose text is one sequence, not two texts")
        for length, count in self.cells:
            data.check_cells((length,), (count,), self.examples)

    def measure(self, model: Transformer, data: TaskData, report: Report) -> None:
        self.map, self.key_counts = None, []
        for done, (length, count) in enumerate(self.cells, start=1):
            batch = data.writer.write(data.test(length, count, self.examples))
            mean, keys, steps = measure_attention(model, batch)
            places = [(layer, head) for layer in range(len(keys)) for head in range(len(keys[0]))]
            self.key_counts += [KeyCount(length, count, *place, steps, int(keys[place])) for place in places]
            if self.map is None:
                examples = example_maps(model, batch, data.vocab.decode, KEPT)
                averaged = int(laid_out_alike(batch).sum())
                self.map = AttentionMap(examples[0].tokens, mean.numpy().astype(np.float32), averaged, examples)
            report(Progress("attention", done, len(self.cells), None, None))


def laid_out_alike(batch: Batch) -> Tensor:
    """Return (B,) bool: examples whose prompt and response have as many tokens as those of the first one."""
    return (batch.loss == batch.loss[:1]).all(dim=1)


@torch.no_grad()
def measure_attention(model: Transformer, batch: Batch) -> tuple[Tensor, Tensor, int]:
    """Return mean weights (layers, heads, T - 1, T - 1), summed key counts (layers, heads), and the steps in the sums.

    A step is a position whose next token is a training target, in each example those of its own response. The mean is
    over the examples that are `laid_out_alike`: tokens of others have other places, and would blur it.
    """
    steps, alike = batch.loss[:, 1:], laid_out_alike(batch)
    predicting = steps.any(dim=0).nonzero()[:, 0]
    rows = slice(int(predicting[0]), int(predicting[-1]) + 1)
    total, keys = torch.tensor(0.0), torch.tensor(0)
    for index in torch.split(torch.arange(len(batch.tokens)), EXAMPLES_AT_ONCE):
        layers = self_attention(model, batch, index)
        total = total + layers[:, alike[index].to(layers.device)].sum(dim=1).cpu()
        counted = keys_holding(layers[:, :, :, rows]) * steps[index, None, rows].to(layers.device)
        keys = keys + counted.sum(dim=(1, 3)).cpu()
    return total / int(alike.sum()), keys, int(steps.sum())


@torch.no_grad()
def example_maps(
    model: Transformer, batch: Batch, decode: Callable[[Sequence[int]], str], most: int
) -> tuple[ExampleMap, ...]:
    """Return the maps of the first ``most`` examples."""
    layers = self_attention(model, batch, torch.arange(min(most, len(batch.tokens)))).transpose(0, 1).cpu()
    return tuple(
        ExampleMap(tuple(decode([token]) for token in row[:-1]), in_steps(weights.float().numpy()))
        for row, weights in zip(batch.tokens.tolist(), layers, strict=False)
    )


def self_attention(model: Transformer, batch: Batch, index: Tensor) -> Tensor:
    """Return softmax weights of the examples ``index`` of a batch: (layers, examples, heads, T - 1, T - 1).

    Raises `TypeError` if the attention of a foreign network is none.
    """
    ids = batch.ids if batch.ids.shape[1] == 1 else batch.ids[:, index]
    part = Batch(batch.tokens[index], ids, batch.loss[index]).to(model.device)
    recorded, (rows, length) = model.attention(part), part.tokens.shape
    expected = f"expected a dictionary for each layer, its 'self' of shape ({rows}, heads, {length - 1}, {length - 1})"
    try:
        weights = torch.stack([layer["self"] for layer in recorded])
    except (TypeError, KeyError, IndexError, RuntimeError) as error:
        raise TypeError(f"attention(batch) gave {type(recorded).__name__} ({error}); {expected}") from None
    if weights.dim() != 5 or (weights.shape[1], *weights.shape[3:]) != (rows, length - 1, length - 1):
        raise TypeError(f"attention(batch) gave weights of shape {tuple(weights.shape[1:])}; {expected}")
    return weights


class Probes(Measurement):
    """Records the attention of the last layer on problems, each given by its operands; ``arrays`` holds it.

    ``probe0.self`` (heads, T, T) and, beside an encoder, ``probe0.cross`` (heads, T, S): softmax weights of the last
    layer; ``probe0.target`` (T,) and ``probe0.source`` (S,): the tokens. Row t predicts the token after token t, or
    in an encoder-only model token t itself.

    Args:
        problems: Problems, each given by its operands.
        data: The task that reads them, where the Trainer trains on data of your own; None: that of its
            `ArithmeticData`.

    Example:
        >>> import lengen
        >>> measured = lengen.Probes([["01"]])
        >>> module = lengen.train("copy", digits=2, steps=2, batch=4, callbacks=measured)
        >>> sorted(measured.arrays)
        ['probe0.self', 'probe0.target']
    """

    def __init__(self, problems: Sequence[Sequence[object]], *, data: ArithmeticData | TaskData | None = None) -> None:
        super().__init__(data)
        self.problems = problem_texts(problems)
        self.reads_attention = bool(self.problems)

    def measure(self, model: Transformer, data: TaskData, report: Report) -> None:
        for number, operands in enumerate(self.problems):
            for name, array in attention_of(model, data, operands).items():
                last = array[-1].astype(np.float16) if array.ndim == 4 else array
                self.arrays[f"probe{number}.{name}"] = last


def attention_of(model: Transformer, data: TaskData, operands: list[str]) -> dict[str, np.ndarray]:
    """Return what `Probes` records of a problem, unrounded and of all layers: weights (layers, heads, T, T or S)."""
    batch = data.writer.write(data.task.parse(operands))
    layers = model.attention(batch.to(model.device))
    arrays = {name: np.stack([layer[name][0].float().cpu().numpy() for layer in layers]) for name in layers[0]}
    tokens = {"target": batch.tokens[0, :-1] if model.writes_in_order else batch.tokens[0]}
    if batch.source is not None:
        tokens["source"] = batch.source.tokens[0]
    return arrays | {side: np.array([data.vocab.decode([token]) for token in row]) for side, row in tokens.items()}
