"""Parity without a scratchpad by the number of ones in the string.

python -m papers.coupling.parity_by_ones             # measure the stored model, write the table and draw it
python -m papers.coupling.parity_by_ones FOLDER ...  # measure the models of these run folders, write their table
"""

import json
import random
import sys
from collections.abc import Sequence
from math import comb
from pathlib import Path
from typing import Any, NamedTuple

from lengen.plotting.findings import Finding, each, rate_map

FINDING, MODELS = Finding(__file__, "parity-by-ones"), Finding(__file__, "parity-by-ones-models")
MODEL = "coupling/fig3/nope-plain"
LENGTHS = (10, 20, 25, 30, 40, 60, 80, 100)
TRAINED = 20
"""Bits of the longest trained string."""
EXAMPLES = 100
"""Strings of each number of ones at most; there are no more than ``comb(length, ones)``."""
FEWER = 25
"""The same in the table of all models."""


def strings(length: int, ones: int, examples: int = EXAMPLES) -> list[str]:
    """Return distinct bit strings of a length with so many ones, the same at every call."""
    source = random.Random(f"{length}:{ones}")
    drawn: set[str] = set()
    while len(drawn) < min(examples, comb(length, ones)):
        places = source.sample(range(length), ones)
        drawn.add("".join("1" if place in places else "0" for place in range(length)))
    return sorted(drawn)


def measure(source: str | Path = MODEL, examples: int = EXAMPLES) -> list[dict[str, int]]:
    """Count the right answers of a model by length and number of ones; ``source`` as `lengen.load` takes it."""
    import lengen

    model = lengen.load(source)
    rows = []
    for length in each(LENGTHS, "bits:"):
        for ones in range(length + 1):
            problems = strings(length, ones, examples)
            answers = model.answers([[problem] for problem in problems])
            correct = sum(answer == str(ones % 2) for answer in answers)
            rows.append({"length": length, "ones": ones, "n": len(problems), "correct": correct})
    return rows


class Shares(NamedTuple):
    """Shares of the random strings of one length."""

    right: float
    """Those that the model answers right."""
    decided: float
    """Those in which length and number of ones alone tell whether it does: the larger part of each cell."""


def shares_of(rows: list[dict[str, int]], length: int) -> Shares:
    """Weigh the cells of a length as random strings do, ``comb(length, ones)`` of ``2 ** length``."""
    cells_of = [row for row in rows if row["length"] == length]
    cells = [(comb(length, row["ones"]) / 2**length, row["correct"] / row["n"]) for row in cells_of]
    return Shares(sum(part * rate for part, rate in cells), sum(part * max(rate, 1 - rate) for part, rate in cells))


def of_models(folders: Sequence[Path]) -> list[dict[str, Any]]:
    """Return the shares in percent of every length, for the model of each run folder."""
    table = []
    for folder in folders:
        run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        rows = measure(folder, FEWER)
        for length in LENGTHS:
            shares = {name: f"{100 * share:.1f}" for name, share in shares_of(rows, length)._asdict().items()}
            table.append({"experiment": run["experiment"], "seed": run["seed"], "length": length, **shares})
    return table


def draw(rows: list[dict[str, int]]) -> Any:
    """Draw right answers in percent as a heat map of length by number of ones, the trained lengths in red."""
    trained = sum(length <= TRAINED for length in LENGTHS)
    bar = {"label": "Right answers (%)"}
    labels = {"length": "Bits", "ones": "Ones in the string"}
    return rate_map(rows, labels, (6.75, 2.2), trained, xticklabels=5, cbar_kws=bar)


def main(folders: Sequence[str]) -> None:
    """Measure, write the table, draw the picture; or the table of all models, if folders are given."""
    if folders:
        if missing := [folder for folder in folders if not (Path(folder) / "run.json").is_file()]:
            raise SystemExit(f"{missing[0]}: expected the folder of a finished run, which holds run.json")
        MODELS.write(of_models([Path(folder) for folder in folders]))
        return
    FINDING.write(measure())
    says = "Parity without a scratchpad by length and number of ones: right answers"
    FINDING.picture(lambda: draw(FINDING.counts()), says)


if __name__ == "__main__":
    main(sys.argv[1:])
