"""Whether the models that a claim rests on have learned what they were trained on; only then it is tested at all.

A claim and its sides enter, the experiments leave that did not learn. What lies outside the trained
range is asked of models that are right inside it: at the longest trained length where the claim reads longer operands,
at the most trained operands where it reads more of them, each by itself and never pooled with easier cells.
"""

from collections.abc import Iterator
from statistics import median

from lengen.measures import LEARNED, Missing, OfRun, Scored, short
from reproduce.comparison.checks import Claim, Sides
from reproduce.comparison.effects import effect, scale_of
from reproduce.comparison.evidence import Side, Tested
from reproduce.comparison.regions import Cells


def unlearned(claim: Claim, sides: Sides) -> dict[str, list[str]]:
    """What was not reached -> the experiments that did not reach it, each with what it did; empty where all have
    learned.

    It is empty, too, where the claim asks for nothing. A claim may name another condition than `LEARNED`. Weights set
    by hand have nothing to learn.
    """
    if claim.learned is not None and not claim.learned.asks:
        return {}
    least = LEARNED if claim.learned is None or claim.learned.least is None else claim.learned.least
    found: dict[str, list[str]] = {}
    told: set[str] = set()
    for side, some in ((claim.one, sides.left), (claim.other, sides.right)):
        for tested in some:
            if tested.spec.constructed or tested.name in told:
                continue
            try:
                for condition, cells, where in _conditions(claim, side, tested):
                    value = median(tested.sample(condition, cells).seeds)
                    if not value >= least and tested.name not in told:
                        told.add(tested.name)
                        measure = tested.vocabulary.measure(condition.measure)
                        scale = scale_of(measure.proportion)
                        asked = f"{measure.words} {where}: {effect(least, scale)} is required"
                        found.setdefault(asked, []).append(f"{short(tested.name)} {effect(value, scale)}")
            except Missing as missing:
                told.add(tested.name)
                found.setdefault("nothing shows that it has learned", []).append(f"{short(tested.name)} ({missing})")
    return found


def _conditions(claim: Claim, side: Side, tested: Tested) -> Iterator[tuple[Side, Cells | None, str]]:
    """What is measured to see whether a model has learned, over which cells, and those in words."""
    measure = tested.vocabulary.measure(side.measure)
    scored = isinstance(measure, Scored) and measure.proportion
    condition = Side(side.measure if scored else "exact", side.mode, "in_range")
    if (learned := claim.learned) is not None:
        condition = Side(learned.measure or condition.measure, learned.mode or condition.mode, learned.region)
    if learned is not None and learned.region:
        yield condition, None, tested.vocabulary.regions[learned.region].words
        return
    for cells, where in edges(tested, side, everywhere=isinstance(measure, OfRun)):
        yield Side(condition.measure, condition.mode, "in_range"), cells, where


def edges(tested: Tested, side: Side, everywhere: bool = False) -> list[tuple[Cells, str]]:
    """The hardest trained cells on the axes that a side leaves the trained range on, with words for each axis.

    None where it stays inside. ``everywhere``: both axes, as for a measure of the whole run. Where a training has no
    second axis, counts are kinds of problems, and the longest trained length is asked for the kinds that the side
    reads.

    Raises:
        Missing: where the trained range was not tested.
    """
    span = tested.trained
    asked = [] if everywhere else tested.cells(side.region, side.lengths, side.counts)
    trained = tested.cells("in_range")
    if not everywhere and set(asked) <= set(trained):
        return []
    if not trained:
        raise Missing("its trained range was not tested")
    if span.second == 1:
        kinds = {m for _, m in asked} or {m for _, m in trained}
        trained = [(n, m) for n, m in tested.cells("all") if m in kinds and (n, 1) in {(n, 1) for n, _ in trained}]
        if not trained:
            raise Missing("its trained lengths were not tested on such problems")
    longest, most = max(n for n, _ in trained), max(m for _, m in trained)
    lengths = [n for n, _ in asked]
    found: list[tuple[Cells, str]] = []
    if everywhere or any(not tested.trained.has((n,)) for n in lengths) or span.second == 1:
        found.append(([cell for cell in trained if cell[0] == longest], f"at its longest trained length {longest}"))
    if span.second > 1 and not tested.curve and (everywhere or any(m > span.second for _, m in asked)):
        found.append(([cell for cell in trained if cell[1] == most], f"at its most trained operands {most}"))
    return found
