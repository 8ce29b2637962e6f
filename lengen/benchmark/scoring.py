"""Predictions against problems: the answer in a text, counts of every cell, headline numbers and their picture."""

import io
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from numbers import Integral
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from lengen.benchmark.problem import SPLITS, Problem, frozen
from lengen.benchmark.tasks import SINCE_2, TASKS
from lengen.data.reading_problems import cleaned
from lengen.metrics.run_measures import area, reach
from lengen.results.records import Counts, Grid, wilson

MODE = "free_running"
"""All answers are texts that the model wrote itself."""
GZIP = b"\x1f\x8b"
"""Beginning of a compressed file."""
Prediction = Mapping[str, Any]
"""A prediction: ``id`` and ``prediction`` or ``raw``, perhaps ``seed``."""


class PredictionError(ValueError):
    """Predictions, or what should give them, that cannot be used; one sentence."""


def read_predictions(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file of predictions, ``.jsonl`` or ``.jsonl.gz``; raises `PredictionError`."""
    import gzip
    import zlib

    try:
        content = path.read_bytes()
        text = (gzip.decompress(content) if content.startswith(GZIP) else content).decode("utf-8-sig")
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise PredictionError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    rows = []
    for number, line in enumerate(io.StringIO(text, newline=None), start=1):  # a text may contain other line ends
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            if not isinstance(row["id"], str):
                raise ValueError
        except (ValueError, KeyError, TypeError, RecursionError):
            raise PredictionError(
                f"{path}, line {number}: expected JSON with the id of a problem, a prediction and perhaps a seed"
            ) from None
        seed = row.get("seed", 0)
        if type(seed) is not int or seed < 0:
            raise PredictionError(f"{path}, line {number}: seed {seed!r}: expected a whole number from 0 on")
        rows.append(row)
    return rows


def read_samples(path: Path) -> list[dict[str, Any]]:
    """Return the rows of the samples that lm-evaluation-harness logged; raises `PredictionError`.

    The first reply to a problem is its ``raw`` text.
    """
    try:  # a text may contain other line ends
        samples = map(json.loads, filter(str.strip, io.StringIO(path.read_text(encoding="utf-8-sig"))))
        return [{"id": sample["doc"]["id"], "raw": sample["resps"][0][0]} for sample in samples]
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise PredictionError(
            f"{path}: {type(error).__name__}: {error}; expected samples that lm_eval --log_samples wrote, with doc, "
            "resps and, in doc, the id of a problem"
        ) from None


def check_given(rows: Sequence[Prediction], where: str = "") -> None:
    """Raise `PredictionError` if there are rows and none says anything: a field may be misspelt."""
    if rows and not any("prediction" in row or "raw" in row for row in rows):
        raise PredictionError(f"{where}no row has a prediction, or raw, beside the id; docs/benchmark.md has the form")


def answer_of(row: Prediction, task: str, units_first: bool = False) -> str | None:
    """Return the answer that a prediction contains, as it is compared; None if there is none.

    ``prediction`` is the answer; without it the answer is the text of ``raw`` behind its last ``=`` or ``>``, up to a
    ``$`` or the end of the line.
    """
    text = row.get("prediction")
    if text is None and row.get("raw") is not None:
        text = re.split("[=>]", re.split(r"[$\n]", str(row["raw"]).lstrip("$\n"), maxsplit=1)[0])[-1]
    if text is None:
        return None
    known = TASKS.get(task)
    return known.cleaned(str(text), units_first) if known else cleaned(str(text), number=False)


def decoration(rows: Iterable[Prediction]) -> str:
    """Return the sentence on characters that stand in every prediction and in no true answer, or nothing.

    >>> decoration([{"prediction": "16$"}, {"prediction": "$7"}])
    "every prediction has '$', which no answer has: it counts as part of the answer"
    """
    texts = [str(row["prediction"]) for row in rows if row.get("prediction")]
    common = set(texts[0]).intersection(*texts) - {*"0123456789, "} if texts else set()
    shown = ", ".join(map(repr, sorted(common)[:3]))
    return f"every prediction has {shown}, which no answer has: it counts as part of the answer" if shown else ""


def by_seed(rows: Iterable[Prediction]) -> dict[int, list[Prediction]]:
    """Return predictions by their seed, 0 if they name none or if there are none."""
    rows_of: dict[int, list[Prediction]] = {}
    for row in rows:
        rows_of.setdefault(row.get("seed", 0), []).append(row)
    return dict(sorted(rows_of.items())) or {0: []}


def by_id(rows: Iterable[Prediction]) -> dict[str, Prediction]:
    """Return predictions of one seed by the id of their problem.

    Raises `PredictionError` for an id that occurs twice.
    """
    rows_of: dict[str, Prediction] = {}
    for row in rows:
        if not isinstance(row, Mapping) or not isinstance(row.get("id"), str):
            raise PredictionError(
                f"{row!r:.40} is no prediction; expected texts, or dictionaries with id and prediction"
            )
        for text in (row.get("prediction"), row.get("raw")):
            if not isinstance(text, str | Integral | None):
                raise PredictionError(f"{row['id']}: {text!r:.40} is no prediction; expected a text")
        if row["id"] in rows_of:
            if (seeds := {rows_of[row["id"]].get("seed", 0), row.get("seed", 0)}) and len(seeds) > 1:
                raise PredictionError(f"predictions are of seeds {sorted(seeds)}: lengen.benchmark.by_seed parts them")
            raise PredictionError(f"{row['id']} occurs twice among the predictions of one seed; leave one out")
        rows_of[row["id"]] = row
    return rows_of


def check_problems(problems: Sequence[object]) -> None:
    """Raise `PredictionError` unless these are problems, one or more."""
    if not problems or not all(isinstance(problem, Problem) for problem in problems):
        other = next((problem for problem in problems if not isinstance(problem, Problem)), "nothing")
        raise PredictionError(f"{other!r:.40} is no problem; expected a list of lengen.problems(task, size)")


@dataclass(repr=False)
class Scores(Grid):
    """Counts of predictions in every cell, with the size and the protocol of their problems."""

    size: int = 0
    """Longest trained length whose problems were all scored; 0: they are of no size as a whole."""
    version: int = 2
    """Version of the protocol."""

    @property
    def measures(self) -> "Measures":
        """Headline numbers; raises `PredictionError` for problems that are of no size as a whole."""
        if not self.size:
            message = "these are not all problems of a size: lengen.benchmark.measures(grid, size) takes one"
            raise PredictionError(message)
        return measures(self, self.size)

    @property
    def reach(self) -> int:
        """Longest tested length such that this and all tested lengths below it have exact match 0.9."""
        return int(self.measures.reach)

    @property
    def area(self) -> float:
        """Mean exact match over the logarithm of length, from the trained size to the last tested length."""
        return self.measures.area

    @property
    def in_range(self) -> float:
        """Exact match over all problems with both axes in the trained range."""
        return self.measures.in_range


def size_of(problems: Sequence[Problem]) -> tuple[int, int]:
    """Return the size whose tested cells these problems fill, 0 if there is none, and the version of its protocol."""
    version = 2 if any("/2/" in problem.id for problem in problems) else 1
    task, lengths = TASKS.get(problems[0].task), {max(problem.cell) for problem in problems}
    chained = problems[0].split in SPLITS[1:]
    mixed = len({(problem.task, problem.split in SPLITS[1:]) for problem in problems}) > 1
    if task is None or mixed or (version == 1 and task.name in SINCE_2):
        return 0, version
    for size in task.sizes(version):
        tested = {max(cell) for cell in task.cells(size, version)}
        if lengths == {length for length in tested if not chained or length >= size}:
            parts = {problem.split for problem in problems}
            whole = sum(len(frozen(task.name, size, version, split)) for split in parts)
            return (size if len(problems) == whole else 0), version
    return 0, version


def in_order(problems: Sequence[Problem], texts: Sequence[object]) -> list[dict[str, Any]]:
    """Return rows of texts that stand in the order of the problems."""
    if len(texts) != len(problems):
        raise PredictionError(f"there are {len(texts)} texts for {len(problems)} problems; expected one for each")
    pairs = zip(problems, texts, strict=True)
    return [{"id": problem.id, "prediction": text} for problem, text in pairs if text is not None]


def score(
    problems: Iterable[Problem],
    predictions: "Iterable[Prediction | str | None] | Mapping[str, str] | Path",
    *,
    units_first: bool = False,
) -> Scores:
    """Return the counts of one seed's predictions in every cell of the problems.

    A problem without a prediction is wrong and counted as ``absent``; in protocol 2 not behind two lengths in a row
    with nothing right, where a run may stop. Edits are of characters, in sequences of numbers; those of a problem are
    also summed up to at most the size of its answer, as ``edit_capped``. Wrong answers are counted by their kind, as
    `KINDS` names them.

    Args:
        problems: The problems, as `lengen.problems` gives them.
        predictions: Texts in the order of the problems, or by their ids; or rows with ``id`` and ``prediction``, or the
            file that holds these.
        units_first: Digits of numbers stand least significant first in the predictions.

    Raises:
        PredictionError: An id that no problem has, or one that occurs twice.

    Example:
        >>> import lengen
        >>> problems = lengen.problems("copy", size=6)
        >>> grid = lengen.score(problems, [problem.answer for problem in problems])
        >>> grid.accuracy(6), grid.reach, grid.area
        (1.0, 600, 1.0)
    """
    problems = list(problems) if isinstance(problems, Iterable) else problems
    check_problems(problems)
    predicted = by_id(_rows(problems, predictions))
    check_given(list(predicted.values()))
    if unknown := predicted.keys() - {problem.id for problem in problems}:
        raise PredictionError(
            f"{len(unknown)} predictions are of other problems, such as {min(unknown)}; expected ids of the "
            f"{len(problems)} problems scored, such as {problems[0].id}"
        )
    second = any(problem.count > 1 for problem in problems)
    grid = Scores(("length", "count") if second else ("length",), {}, *size_of(problems))
    for problem in problems:
        answer = answer_of(predicted.get(problem.id, {}), problem.task, units_first)
        grid.add(problem.cell if second else problem.cell[:1], MODE, _counts(problem, answer, units_first))
    if grid.version > 1 and grid.size:
        lengths = levels(grid)
        unasked = [*lengths][stopped([int(counts["correct"]) for counts in lengths.values()]) :]
        for cell in (cell for cell in grid.scores if max(cell) in unasked):
            grid.scores[cell][MODE]["absent"] = 0
    return grid


def _rows(problems: Sequence[Problem], predictions: object) -> Iterable[Prediction]:
    """Return predictions as rows, in whichever form they are given."""
    if isinstance(predictions, Path) or (isinstance(predictions, str) and predictions.endswith((".jsonl", ".gz"))):
        return read_predictions(Path(predictions))
    if isinstance(predictions, Mapping):
        return [{"id": id, "prediction": text} for id, text in predictions.items()]
    if isinstance(predictions, str) or not isinstance(predictions, Iterable):
        raise PredictionError(
            f"{predictions!r:.40} are no predictions; expected texts in the order of the problems, a dictionary of "
            "texts by id, rows with id and prediction, or the path of a file of such rows"
        )
    items = list(predictions)
    if any(isinstance(text, str) and text.startswith("{") and '"id"' in text for text in items):
        raise PredictionError("these are lines of JSON, not texts; expected the path of their file, or its rows")
    return in_order(problems, items) if items and all(isinstance(text, str | None) for text in items) else items


def stopped(right: Sequence[int]) -> int:
    """Return the number of lengths of which a run stops: two in a row have nothing right.

    >>> stopped([9, 8, 0, 1, 0, 0, 0]), stopped([9, 8])
    (6, 2)
    """
    pairs = (place + 2 for place, pair in enumerate(pairwise(right)) if not any(pair))
    return next(pairs, len(right))


KINDS = ("no_end", "wrong_length", "wrong_carry", "wrong_place")
"""Kinds of wrong answers: the true one goes on, or there are more than twice its symbols; another number of symbols; a
number of which each wrong digit is one too high or too low, as 0 is above 9; any other."""


def kind_of(answer: str | Sequence[str], true: str | Sequence[str], number: bool, units_first: bool = False) -> str:
    """Return the kind of a wrong answer.

    >>> [kind_of(text, "105", number=True) for text in ("1050", "95", "095", "501")]
    ['no_end', 'wrong_length', 'wrong_carry', 'wrong_place']
    """
    longer, start = len(answer) - len(true), answer[-len(true) :] if units_first else answer[: len(true)]
    if longer > len(true) or (longer > 0 and start == true):
        return KINDS[0]
    if longer:
        return KINDS[1]
    if number and str(answer).isdecimal():
        off = {(int(written) - int(right)) % 10 for written, right in zip(answer, true, strict=True)}
        return KINDS[2] if off <= {0, 1, 9} else KINDS[3]
    return KINDS[3]


def _counts(problem: Problem, answer: str | None, units_first: bool) -> Counts:
    from rapidfuzz.distance import Levenshtein

    task = TASKS.get(problem.task)
    apart = task is not None and task.apart
    true: Sequence[str] = problem.answer.split() if apart else problem.answer
    written: Sequence[str] = (answer or "").split() if apart else answer or ""
    edits = 0 if written == true else Levenshtein.distance(written, true)
    right = int(answer == problem.answer)
    number = task is not None and task.numbers
    kind = "" if right or answer is None else kind_of(written, true, number, units_first and number)
    counts = {"n": 1, "correct": right, "answer_correct": right, "absent": int(answer is None), "edit_sum": edits}
    counts |= {"edit_capped": min(edits, len(true)), "reference_tokens": len(true)}
    return Counts(counts | {name: int(name == kind) for name in KINDS})


LONGEST = 5
"""The area of protocol 1 ends at so many trained lengths."""
SHOWN = (1.5, 2, 3)
"""Multiples of the trained length that tables show."""


class Measures(NamedTuple):
    """Numbers of one seed; nan if nothing of it was tested."""

    in_range: float
    """Exact match over all problems with both axes in the trained range."""
    reach: float
    """Longest tested length up to which exact match is at least 0.9; in protocol 1 the trained range counts as one."""
    area: float
    """Mean exact match over the logarithm of length, from the trained to the last tested one, of protocol 1 to 5 times
    the trained one: between 0 and 1."""
    at: tuple[float, ...]
    """Exact match at `SHOWN`."""
    edits: float
    """Edits per token beyond the trained range, those of a problem capped at the size of its answer."""
    absent: int
    """Problems without a prediction."""


def levels(grid: Grid) -> dict[int, Counts]:
    """Return counts by length: that of a cell is the larger of its axes, because a model has to take both."""
    lengths = sorted({max(cell) for cell in grid.scores})
    return {n: grid.total([cell for cell in grid.scores if max(cell) == n], grid.mode) for n in lengths}


def measures(grid: Grid, size: int) -> Measures:
    """Return the numbers of a grid whose model was trained up to ``size``; a plain `Grid` is one of protocol 1."""
    by_length = levels(grid)
    rates = {level: counts.rate("correct") for level, counts in by_length.items()}
    in_range = grid.total([cell for cell in grid.scores if max(cell) <= size], MODE).rate("correct")
    beyond = grid.total([cell for cell in grid.scores if max(cell) > size], MODE)
    last, passed = max(rates, default=0), rates
    if getattr(grid, "version", 1) == 1:
        last = LONGEST * size
        passed = {level: rate for level, rate in rates.items() if size <= level <= last} | {size: in_range}
    share = area({level: rate for level, rate in rates.items() if level <= last}, size)
    whole = not isinstance(grid, Scores) or grid.size or grid.version == 1
    at = tuple(rates.get(ceil(size * multiple), math.nan) for multiple in SHOWN)
    edits, absent = beyond.rate("edit_capped", "reference_tokens"), int(grid.total(grid.scores, MODE).get("absent", 0))
    return Measures(in_range, reach(passed), share if last in rates and whole else math.nan, at, edits, absent)


class Range(NamedTuple):
    """A number over seeds."""

    median: float
    least: float
    most: float

    def text(self, digits: int = 2) -> str:
        """Return ``0.97 (0.95 to 0.99)``; the median alone if all seeds agree."""
        if math.isnan(self.median):
            return "-"
        low, middle, high = (f"{value:.{digits}f}" for value in (self.least, self.median, self.most))
        return middle if low == high else f"{middle} ({low} to {high})"


def over_seeds(values: Sequence[float]) -> Range:
    """Return median, least and most.

    >>> over_seeds([0.5, 1.0, 0.75]).text()
    '0.75 (0.50 to 1.00)'
    """
    return Range(median(values), min(values), max(values))


OF_FROZEN = ("reach", "area")
"""Measures that only frozen problems have: others need not be of every length."""


def rows(grids: Mapping[int, Grid], size: int, frozen: bool = True) -> list[dict[str, Any]]:
    """Return the measures of each seed as data for JSON, which has no nan: None where nothing was measured."""
    rest = {} if frozen else dict.fromkeys(OF_FROZEN)
    seeds = [measures(grid, size)._asdict() | {"seed": seed} | rest for seed, grid in grids.items()]
    without_nan: list[dict[str, Any]] = json.loads(json.dumps(seeds), parse_constant=lambda _: None)
    return without_nan


Beside = tuple[str, Grid] | None
"""Scores by their name that are printed beside others."""


def lines(grids: Mapping[int, Grid], size: int, frozen: bool = True, beside: Beside = None) -> Iterator[str]:
    """Yield the measures over seeds, and exact match at every length beside that of a named grid."""
    of_seeds = [measures(grid, size) for grid in grids.values()]
    for name in ("in_range", "reach", "area", "edits", "absent"):
        if frozen or name not in OF_FROZEN:
            values = [getattr(seed, name) for seed in of_seeds]
            yield f"{name.replace('_', ' '):<10}{over_seeds(values).text(0 if name in ('reach', 'absent') else 3)}"
    by_seed = [levels(grid) for grid in grids.values()]
    name, theirs = (beside[0], levels(beside[1])) if beside else ("", {})
    kinds = "".join(f"{kind.replace('_', ' '):>14}" for kind in KINDS)
    yield f"\n{'length':>6}{'problems':>10}  {'exact match':<25}{'95 % interval':<16}" + (name if beside else kinds)
    for length in sorted({*by_seed[0], *theirs}):
        counts = [levels[length] for levels in by_seed if length in levels]
        rate = over_seeds([part.rate("correct") for part in counts]).text(3) if counts else "-"
        total = sum(counts[1:], counts[0]) if counts else Counts(n=0, correct=0)
        interval = "{:.3f} to {:.3f}".format(*wilson(total["correct"], total["n"]))
        wrong = "".join(f"{int(total.get(kind, 0)) or '-':>14}" for kind in KINDS)
        other = f"{theirs[length].rate('correct'):.3f}" if length in theirs else "-"
        number = int(counts[0]["n"]) if counts else 0
        yield f"{length:>6}{number:>10}  {rate:<25}{interval:<16}{other if beside else wrong}".rstrip()


def absent(grids: Mapping[int, Grid], size: int) -> str:
    """Return a sentence on problems without a prediction; empty if there are none."""
    most = max(measures(grid, size).absent for grid in grids.values())
    where = " of a seed" if len(grids) > 1 else ""
    return f"{most} problems{where} have no prediction and count as wrong" if most else ""


def draw(path: Path, grids: Mapping[str, Grid]) -> None:
    """Draw named grids side by side; the ending of the file says as what."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.5 * len(grids), 3.5), layout="constrained")
    axes = figure.subplots(1, len(grids), squeeze=False)
    for ax, (name, grid) in zip(axes[0], grids.items(), strict=True):
        grid.plot(ax)
        ax.set_title(name, fontsize="small")
    figure.savefig(path)
