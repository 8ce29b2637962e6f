"""A trained or constructed model as an object of a script: it solves problems, shows its attention, and is scored.

import lengen
model = lengen.load("coupling/fig1/coupling-scratchpad")
model.solve([57, 48, 96])["read"]
"""

import hashlib
import json
import warnings
from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from lengen import clone
from lengen.callbacks.attention_maps_and_probes import attention_of
from lengen.callbacks.unequal_lengths import operand_lengths
from lengen.clone import MODELS, SHIPPED
from lengen.data.task_data import TaskData
from lengen.decoding.decoding import at_once, verify
from lengen.digits import operand_texts, problem_texts
from lengen.huggingface import CONFIG, spec_of
from lengen.models import Transformer
from lengen.models.foreign import answering
from lengen.models.weight_files import WeightsError, content
from lengen.part import nearest
from lengen.results.records import Grid, said_against
from lengen.settings.spec import Spec, from_dict
from lengen.solve import answer, answers
from lengen.training.model_building import SMALL, few_threads
from lengen.training.model_building import load as build

if TYPE_CHECKING:
    from lengen.training.module import SequenceModule

GROUP = "lengen.runs"
"""Entry points of other packages that find a run by its name, asked after the clone: functions ``find(name) -> Found``,
which raise `ValueError` for one that is not theirs; the first that finds it has it."""
RUN, WEIGHTS = "run.json", "model.safetensors"
"""Files of a run folder: what it is a run of, and its weights."""
SUFFIXES = (".ckpt", ".pt", ".pth", ".bin", ".safetensors")
"""Ends of the names of files of weights, which no experiment has."""


class LoadError(ValueError):
    """Nothing to load; one sentence.

    Example:
        >>> import lengen
        >>> try:
        ...     lengen.load("")
        ... except lengen.LoadError as error:
        ...     print(error)
        '.': expected the folder of a finished run, which holds run.json, or a checkpoint
    """


class Found(NamedTuple):
    """The parts of a model that was found."""

    spec: Spec
    weights: Path | None
    """None: the specification constructs them."""
    name: str
    note: str = ""
    """A sentence that its run holds against it, such as that it never left chance."""


Finder = Callable[[str], Found]


class Model:
    """A model with the data of its setting; `module` is the network itself, which answers without dropout."""

    def __init__(self, parts: Found, module: Transformer | None = None) -> None:
        self.spec, self.weights, self.name, self.note = parts
        self.data = TaskData(self.spec, seed=0)
        try:
            self.module = build(self.spec, self.weights) if module is None else module
        except WeightsError as error:
            raise LoadError(str(error)) from None

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def solve(self, operands: Sequence[object], task: str = "") -> dict[str, object]:
        """Solve a problem as `lengen.solve.solve` does: prompt, output, answer, read, correct.

        ``task`` names an auxiliary task. Raises `OperandError` or `SettingError` for operands it cannot take.
        """
        with answering(self.module):
            return answer(self.data, self.module, operand_texts(operands), task)

    def answers(self, rows: Sequence[Sequence[object]]) -> list[str | None]:
        """Return plain answers to problems, each given by its operands; None for one that the model cannot be given.

        Raises `OperandError` for what are no lists of operands.
        """
        with answering(self.module):
            return answers(self.data, self.module, problem_texts(rows)).texts

    def true(self, operands: Sequence[object]) -> str:
        """Return the true answer to a problem; raises `OperandError` for operands that the task cannot take."""
        task = self.data.task
        return task.text(task.parse(operand_texts(operands)))[0]

    def attention(self, operands: Sequence[object]) -> dict[str, np.ndarray]:
        """Return softmax weights while it reads one problem and its true response.

        "self" (layers, heads, T, T) and, beside an encoder, "cross" (layers, heads, T, S); "target" (T,) and "source"
        (S,): the tokens. Row t predicts the token after token t, or in an encoder-only model token t itself.
        """
        self.spec.admit(tuple(self.data.task.parse(operand_texts(operands)).lengths[0].tolist()))
        with answering(self.module), few_threads(self.module):
            return attention_of(self.module, self.data, operand_texts(operands))

    def operand_lengths(self, lengths: Sequence[int], examples: int = 100) -> Grid:
        """Return counts by the length of the first and of the second operand (`lengen.callbacks.unequal_lengths`)."""
        with answering(self.module), few_threads(self.module, SMALL):
            return operand_lengths(self.module, self.data, lengths, examples)

    def accuracy(self, length: int, count: int | None = None, examples: int = 1000) -> float:
        """Return exact match on test problems of ``count`` operands of ``length`` digits.

        There are by default as many operands as were trained.

        The problems are those that every model of the setting is tested on. Raises `OperandError` or `SettingError` for
        those that the model cannot take, as `solve` does.
        """
        problems = self.data.test(length, self.spec.data.task.most if count is None else count, examples)
        for shape in set(map(tuple, problems.lengths.tolist())):
            self.spec.admit(shape)
        writer = self.data.writer
        parts = problems.parts(at_once(writer, problems, self.module))
        with answering(self.module), few_threads(self.module, SMALL):
            correct = [verify(self.module, writer.write(part)).correct for part in parts]
        return float(torch.cat(correct).double().mean())


def load(source: "str | Path | Spec | SequenceModule", weights: str | Path | None = None) -> Model:
    """Return the model of a run: of its name, of its folder, of a trained module, or of a specification with weights.

    A name such as ``sums-coupled`` is of a model that comes with the package (`lengen.clone.SHIPPED`), one such as
    ``coupling/fig1/coupling-scratchpad`` stands for the newest finished run of the declared setting; one of the
    smallest size has to be named, ``coupling/fig1/coupling-scratchpad/smoke``. A specification that constructs its
    weights needs none. A run that says something against itself, such as that it never left chance, is warned of.

    Args:
        source: Name, folder of a run or of ``export --hf``, checkpoint of a `SequenceModule`, trained module, or
            specification.
        weights: File of weights for a specification: safetensors, a state_dict of `torch.save`, or a checkpoint of
            Lightning. Names may share a prefix, such as ``model.`` or ``_orig_mod.``.

    Raises:
        LoadError: There is nothing to load; one sentence.

    Example:
        >>> import lengen
        >>> model = lengen.load(lengen.train("copy", digits=2, steps=2, batch=4))
        >>> model.solve(["01"])["prompt"], model.true(["01"])
        ('$01=', '01')
    """
    if weights is not None and not isinstance(source, Spec):
        raise LoadError(f"load({source!r:.80}, {weights!r}): weights go with a Spec; leave them out, or give its Spec")
    trained = getattr(source, "model", None)
    if isinstance(trained, Transformer):
        return Model(Found(source.spec, None, "a trained module"), trained)  # type: ignore[union-attr]
    if not isinstance(source, Spec | str | Path):
        fault = "expected an experiment by name, the folder of a run, a trained module, or a Spec"
        raise LoadError(f"load({source!r:.80}): {fault}")
    if isinstance(source, Spec):
        if weights is None and not source.constructed:
            raise LoadError("load(spec) of a model that is trained needs its weights: load(spec, 'model.safetensors')")
        return Model(Found(source, None if weights is None else Path(weights), str(weights or "constructed")))
    model = Model(_of_path(Path(source)) or _named(str(source)))
    if model.note:
        warnings.warn(f"{model.name}: {model.note}", stacklevel=2)
    return model


def _of_path(path: Path) -> Found | None:
    """Return the parts of what lies there; None for a name of which nothing lies there."""
    if (path / RUN).is_file():
        return _in_folder(path)
    if (path / CONFIG).is_file():
        return Found(from_dict(spec_of(path)), path / WEIGHTS, str(path))
    if path.is_file():
        return _in_checkpoint(path)
    if not path.name or path.is_absolute() or path.exists() or path.suffix in SUFFIXES:
        raise LoadError(f"'{path}': expected the folder of a finished run, which holds {RUN}, or a checkpoint")
    return None


def _in_checkpoint(path: Path) -> Found:
    try:
        held = content(path)
    except WeightsError as error:
        raise LoadError(str(error)) from None
    settings = held.get("hyper_parameters") if isinstance(held, dict) and "state_dict" in held else None
    if settings is None:
        raise LoadError(f"{path} holds weights without their setting: give it, too, load(spec, '{path}')")
    try:
        return Found(from_dict(settings["spec"]), path, str(path))
    except (KeyError, TypeError, ValueError) as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"
        raise LoadError(f"{path} is a checkpoint of another module than lengen.SequenceModule ({reason})") from None


def _in_folder(folder: Path) -> Found:
    weights = folder / WEIGHTS
    if not weights.is_file():
        raise LoadError(f"{folder} has no {WEIGHTS}: its run was kept without weights; load another, or run it again")
    try:
        info = json.loads((folder / RUN).read_text(encoding="utf-8"))
        spec: Spec = from_dict(info["spec"])
        wanted = info.get("files", {}).get(WEIGHTS)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"
        raise LoadError(f"{folder / RUN}: expected the record of a run with its specification ({reason})") from None
    if wanted is not None and hashlib.sha256(weights.read_bytes()).hexdigest() != wanted:
        fault = f"{weights} is not the file its run wrote: expected the sha256 in {RUN}"
        raise LoadError(f"{fault}; restore it, or run it again")
    return Found(spec, weights, str(folder), said_against(info))


def _named(name: str) -> Found:
    if name in SHIPPED:
        file = MODELS / f"{name}.json"
        record = json.loads(file.read_text(encoding="utf-8"))
        return Found(from_dict(record["spec"]), file.with_suffix(".safetensors"), name)
    finders: list[Callable[[], Finder]] = [lambda: clone.run, *(point.load for point in entry_points(group=GROUP))]
    errors = []
    for finder in finders:
        try:
            return finder()(name)
        except ValueError as error:  # the run may be another package's
            errors.append(error)
    close = "" if "/" in name else nearest(name, SHIPPED)
    raise LoadError(f"'{name}' is no folder of a run, and names none: {close.lstrip('; ') or errors[0]}") from errors[0]
