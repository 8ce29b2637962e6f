"""One run against its repetition: which of their numbers are the same, and how far apart the others lie.

Two finished runs enter, each with the folder of its files; what leaves is one line per kind of number. Times are no
numbers of a run: they are not compared.
"""

import hashlib
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lengen.metrics import EXACT_MATCH
from lengen.metrics.learned import shares
from lengen.results.records import Run
from reproduce.store.atomic_files import StoreError
from reproduce.store.run_folder import damaged
from reproduce.store.store import WEIGHTS, WEIGHTS_SUM

TIME = "seconds"
"""Part of the names of measured times."""
DESCRIBED = ("processor", "instruction_sets", "device", "threads", "platform", "versions", "commit")
"""Entries of run.json on the making of a run that can move its numbers."""


NOTHING = "nothing to compare"
"""Word for records that neither run has."""


class Line(NamedTuple):
    """One kind of number in two runs."""

    what: str
    same: bool | None
    """None where one of the runs has none to compare."""
    said: str


def compared(stored: Run, folder: Path, again: Run, folder_again: Path) -> list[Line]:
    """A line for the weights, for every record and for the accuracies that verdicts rest on.

    Raises `StoreError` where the stored weights are not the file its run wrote.
    """
    accuracies = zip(("in the trained range", "outside of it"), shares(stored), shares(again), strict=True)
    lines = [
        weights(stored, folder, again, folder_again),
        rows("metrics", dict(_by_name(stored.metrics)), dict(_by_name(again.metrics))),
        cells(stored, again),
        rows("key counts", _key_counts(stored), _key_counts(again)),
        arrays("attention", _attention(stored), _attention(again)),
        arrays("arrays", stored.arrays, again.arrays),
        rows("scalars", _scalars(stored), _scalars(again)),
        *(accuracy(f"exact match {where}", one, other) for where, one, other in accuracies),
    ]
    return [line for line in lines if line.said != NOTHING]


def same(lines: Iterable[Line]) -> bool:
    """True if all that could be compared is the same."""
    return all(line.same is not False for line in lines)


def otherwise(stored: Mapping[str, Any], again: Mapping[str, Any]) -> list[str]:
    """Return the differences between the circumstances of two runs, by their run.json: a sentence each, the processor
    first."""
    found = []
    for name in DESCRIBED:
        one, other = stored.get(name), again.get(name)
        if name == "versions" and isinstance(one, Mapping) and isinstance(other, Mapping):
            found += [f"{key} was {one[key]}, here it is {other.get(key)}" for key in one if one[key] != other.get(key)]
        elif name == "instruction_sets" and one is not None and one != other:
            found.append(f"instruction sets were {_listed(one)}, here they are {_listed(other)}")
        elif name == "processor" and one is None:
            found.append(f"the stored run does not name its processor; here it is {other}")
        elif one is not None and one != other:
            found.append(f"{name} was {_short(one)}, here it is {_short(other)}")
    if stored.get("dirty"):
        found.append("the stored run was made with uncommitted changes")
    return found


def weights(stored: Run, folder: Path, again: Run, folder_again: Path) -> Line:
    """The weights by their sha256; where they differ and are kept, by how much."""
    was, now = (
        str(dict(run.info["files"]).get(WEIGHTS) or run.info.get(WEIGHTS_SUM, ""))  # type: ignore[call-overload]
        for run in (stored, again)
    )
    if not was or not now:
        return Line(
            "weights",
            None,
            f"the stored run kept none, nor their sum; here {now[:16] or 'none'}",
        )
    if was == now:
        return Line("weights", True, f"sha256 {was[:16]}")
    path = folder / WEIGHTS
    told = f"sha256 {was[:16]} was stored, here it is {now[:16]}"
    if not path.is_file():
        return Line("weights", False, told)
    if hashlib.sha256(path.read_bytes()).hexdigest() != was:
        raise StoreError(damaged(path))
    one, other = _tensors(path), _tensors(folder_again / WEIGHTS)
    if {name: array.shape for name, array in one.items()} != {name: array.shape for name, array in other.items()}:
        return Line("weights", False, f"{told}; their tensors have other names or shapes")
    return Line("weights", False, f"{told}; {arrays('weights', one, other).said}")


def rows(what: str, stored: Mapping[Any, float], again: Mapping[Any, float]) -> Line:
    """Numbers by their key: those that both have, the largest difference, and how many one of them lacks."""
    shared = [key for key in stored if key in again]
    missing = len(stored) - len(shared)
    lacking = f"; {missing} of the stored are not made any more" if missing else ""
    if not shared:
        return Line(what, False if missing else None, NOTHING + lacking)
    apart = {key: apart_by(stored[key], again[key]) for key in shared}
    differing = [key for key in shared if apart[key]]
    if not differing:
        return Line(what, not missing, f"{len(shared)} number{'s' * (len(shared) != 1)}{lacking}")
    worst = max(differing, key=lambda key: apart[key])
    said = f"{len(differing)} of {len(shared)} numbers differ, most {_named(worst)}: {stored[worst]:.6g} was stored, "
    said += f"here it is {again[worst]:.6g}"
    steps = [key[1] for key in differing if isinstance(key, tuple) and what == "metrics"]
    return Line(what, False, said + (f"; from step {min(steps)} on" if steps else "") + lacking)


def cells(stored: Run, again: Run) -> Line:
    """The counts of every tested cell, and how far exact match lies apart in the worst one."""
    one, other = (
        {
            (*cell, mode): counts
            for cell, modes in run.grid.scores.items()
            for mode, counts in modes.items()
        }
        for run in (stored, again)
    )  # fmt: skip
    if set(one) != set(other):
        return Line("scores", False, f"{len(set(one) ^ set(other))} cells were tested in one of the two only")
    differing = [
        key for key in one if any(one[key][name] != other[key][name] for name in one[key] if name in other[key])
    ]
    if not differing:
        return Line("scores", True, f"{len(one)} cells")
    rates = [abs(one[key].rate(EXACT_MATCH.numerator) - other[key].rate(EXACT_MATCH.numerator)) for key in differing]
    return Line(
        "scores",
        False,
        f"{len(differing)} of {len(one)} cells differ, exact match by {100 * max(rates):.2f} points at most",
    )


def arrays(what: str, stored: Mapping[str, np.ndarray], again: Mapping[str, np.ndarray]) -> Line:
    """Named arrays: how many elements differ, and the largest difference of numbers."""
    if not stored:
        return Line(what, None, NOTHING)
    missing = [name for name, array in stored.items() if name not in again or again[name].shape != array.shape]
    if missing:
        return Line(what, False, f"{', '.join(missing[:3])}: not there, or of another shape")
    differing, most, elements = 0, 0.0, 0
    for name, array in stored.items():
        other = again[name]
        elements += array.size
        numbers = array.dtype.kind in "fiub" and other.dtype.kind in "fiub"
        unlike = ~(np.isclose(array, other, rtol=0, atol=0, equal_nan=True) if numbers else array == other)
        differing += int(unlike.sum())
        if numbers and unlike.any():
            with np.errstate(invalid="ignore"):
                apart = np.abs(array[unlike].astype(np.float64) - other[unlike].astype(np.float64))
            most = max(most, math.inf if np.isnan(apart).any() else float(apart.max()))
    if not differing:
        return Line(what, True, f"{elements} numbers")
    return Line(what, False, f"{differing} of {elements} numbers differ, by {most:.3g} at most")


def accuracy(what: str, stored: float, again: float) -> Line:
    """One accuracy in percent, with the difference in percentage points."""
    if math.isnan(stored):
        return Line(what, None, "not tested")
    said = f"{100 * stored:.2f} %"
    if stored == again:
        return Line(what, True, said)
    return Line(what, False, f"{said} was stored, here it is {100 * again:.2f} % ({100 * (again - stored):+.2f})")


def apart_by(one: float, other: float) -> float:
    """Return the distance of two numbers; 0 between NaN and NaN, infinite between NaN and a number.

    >>> apart_by(1.0, 1.5), apart_by(math.nan, math.nan), apart_by(math.nan, 1.0), apart_by(math.inf, math.inf)
    (0.5, 0.0, inf, 0.0)
    """
    if one == other or (math.isnan(one) and math.isnan(other)):
        return 0.0
    difference = abs(one - other)
    return math.inf if math.isnan(difference) else difference


def _by_name(metrics: Iterable[tuple[int, str, float]]) -> Iterable[tuple[tuple[str, int], float]]:
    return (((name, step), value) for step, name, value in metrics)


def _key_counts(run: Run) -> dict[Any, float]:
    return {row[:4]: row.keys_sum for row in run.key_counts}


def _attention(run: Run) -> dict[str, np.ndarray]:
    return {} if run.attention is None else {"weights": run.attention.weights, "tokens": np.array(run.attention.tokens)}


def _scalars(run: Run) -> dict[Any, float]:
    found = dict(run.info.get("scalars") or {})  # type: ignore[call-overload]
    return {name: float(value) for name, value in found.items() if TIME not in name and isinstance(value, int | float)}


def _tensors(path: Path) -> dict[str, np.ndarray]:
    from safetensors.torch import load_file

    return {name: tensor.double().numpy() for name, tensor in load_file(path).items()}


def _named(key: Any) -> str:
    return " ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def _listed(names: Any) -> str:
    return " ".join(map(str, names or ())) or "unknown"


def _short(value: object) -> str:
    text = str(value)
    return text[:12] if len(text) == 40 else text


__all__ = ["Line", "compared", "otherwise", "same"]
