"""Whether what the runs say may count: models have learned, seeds are enough, the claim is older than its runs.

A claim, its sides and what they say enter; the verdict leaves, with why it is not decided and what would decide it.
Nothing here makes a verdict better than what the runs say.
"""

import math
from collections.abc import Sequence

from lengen.config.spec import Spec
from lengen.measures import short
from lengen.seed_intervals import variance
from reproduce.comparison import effects
from reproduce.comparison.checks import Claim, Compare, Gain, Level, Pooled, Sides, Varied
from reproduce.comparison.evidence import NOTHING, Evidence, Finding, Side, Tested
from reproduce.comparison.frozen import NO, frozen
from reproduce.comparison.learning import unlearned
from reproduce.comparison.rows import DIFFERS, FLOOR, NOT_RUN, REPRODUCED, UNDECIDED, UNTESTED
from reproduce.runs.estimate import cost

OPEN = (UNTESTED, FLOOR, UNDECIDED, NOT_RUN)
"""Verdicts that decide nothing."""
FEWEST, MOST, ENDLESS = 3, 8, 1000
"""Seeds that a verdict needs on every side, those that are still worth asking for, and those that nobody trains."""
POWER = 1.96 + 0.84
"""Sum of the normal quantiles of a two-sided test at 5 % and of a power of 80 %."""

BY_HAND = "weights set by hand: every seed has the same"
"""Why one seed decides a claim on constructed transformers."""


def verdict(claim: Claim, sides: Sides, finding: Finding, given: str = REPRODUCED) -> Finding:
    """The verdict on a claim.

    Args:
        finding: what its runs say (`comparison.checks.judge`).
        given: verdict on the claim that has to be reproduced for this one to be asked.
    """
    trained = [tested for tested in sides.all() if not tested.spec.constructed]
    age = frozen(claim, (run for tested in sides.all() for run in tested.runs))
    notes = finding.notes if trained else (BY_HAND, *finding.notes)
    finding = finding._replace(frozen=age, notes=notes)
    if lacking := unlearned(claim, sides):
        names = {entry.split()[0] for entries in lacking.values() for entry in entries}
        hours = _hours([(tested, 2 * FEWEST) for tested in trained if short(tested.name) in names])
        decide = f"{FEWEST} seeds of twice the steps ({hours}); where those do not teach it, {_larger(trained)}"
        return finding._replace(
            verdict=UNTESTED, why="; ".join(f"{what}; {', '.join(who)}" for what, who in lacking.items()), decide=decide
        )
    if given != REPRODUCED:
        why = f"asked only where {claim.given} is reproduced; its verdict is {given}"
        ends = f"nothing at this size: {claim.given} has its verdict"
        decide = ends if given == DIFFERS else f"what decides {claim.given}"
        # They count as one, and a part that is not asked makes the whole no worse than it is by itself.
        of_its_whole = claim.part_of and claim.part_of == claim.given and given in (UNDECIDED, FLOOR)
        return finding._replace(verdict=given if of_its_whole else UNTESTED, why=why, decide=decide)
    if finding.verdict == FLOOR:
        reach = _above_the_floor(claim, sides)
        return finding._replace(
            why=f"every side lies below {NOTHING:g} there" + (f"; above it up to length {reach}" if reach else ""),
            decide=f"a model that reaches further: more training, or {_larger(trained)}",
        )
    seeds = min((len(tested.runs) for tested in trained), default=FEWEST)
    more = _more_seeds(claim, sides, finding, max(FEWEST, seeds + (finding.verdict == UNDECIDED)))
    if rest := _rest(sides):  # a pool of settings says nothing of a larger one, not even that it fails
        more += f", and {rest}" if _of_all(claim) else f"; unless they refute it, {rest} as well"
    said = effects.seeds(seeds)
    if seeds < FEWEST:
        return of_enough_seeds(finding, seeds, trained)._replace(decide=more)
    if age == NO and finding.verdict != UNDECIDED:
        fresh = _hours([(tested, len(tested.runs)) for tested in sides.all()])
        why = f"claim younger than its runs, which say {finding.verdict}"
        return finding._replace(verdict=UNDECIDED, why=why, decide=f"the same runs made anew ({fresh})")
    if partly := _partly(claim, sides, finding):
        return partly
    if finding.verdict == UNDECIDED:
        why = (
            "no interval: one value, without seeds or examples"
            if finding.interval is None
            else "the interval crosses what is required"
        )
        return finding._replace(why=f"{why} ({said})" if trained else why, decide=more)
    return finding


def of_enough_seeds(finding: Finding, seeds: int, some: Sequence[Tested]) -> Finding:
    """Undecided, where models were trained on fewer than three seeds; else what it was."""
    if seeds >= FEWEST or all(tested.spec.constructed for tested in some):
        return finding
    seen = "" if finding.verdict == UNDECIDED else f" (by what is there: {finding.verdict})"
    return finding._replace(verdict=UNDECIDED, why=f"{effects.seeds(seeds)}, {FEWEST} are required{seen}")


def _partly(claim: Claim, sides: Sides, finding: Finding) -> Finding | None:
    """Undecided, where the claim names more settings than were run and these cannot tell what all would say; or None.

    What every setting has to hold is refuted by one of them, and confirmed by all alone; a pool of them tells nothing
    of a larger pool, nor the largest of those that were run of the largest that is named.
    """
    rest = _rest(sides)
    tells = (UNDECIDED,) if _of_all(claim) else (DIFFERS, FLOOR, UNDECIDED)
    if not rest or finding.verdict in tells:
        return None
    there = sides.named - len(sides.without) - len(sides.sizeless)
    why = f"{there} of the {sides.named} settings it names were run (they say: {finding.verdict})"
    return finding._replace(verdict=UNDECIDED, why=why, decide=rest)


def _of_all(claim: Claim) -> bool:
    """Whether a claim is about all of its settings together, or the largest of them, and not about each."""
    return isinstance(claim, Pooled | Gain | Varied) or (isinstance(claim, Compare) and claim.pick == "largest")


def _rest(sides: Sides) -> str:
    """The settings that a claim names and that were not run, with what they cost; empty where there are none."""
    parts = []
    if sides.without:
        parts.append(f"the extras, {FEWEST} seeds each ({_hours([(tested, FEWEST) for tested in sides.without])})")
    if sides.sizeless:
        many = len(sides.sizeless) > 1
        price = _published([item.specs.get("paper") for item in sides.sizeless])
        parts.append(f"{len(sides.sizeless)} setting{'s' * many} without a size here: the paper profile{price}")
    return ", and ".join(parts)


def _larger(trained: Sequence[Tested]) -> str:
    """A larger model, and what the published one costs."""
    return f"a larger model, as the paper profile has{_published([tested.paper for tested in trained])}"


def _published(specs: Sequence[Spec | None]) -> str:
    """What three seeds of published settings cost, in brackets after a space; nothing where no paper has them."""
    known = [(spec, FEWEST) for spec in specs if spec is not None]
    return f" ({_estimated(known, 'paper')} for {FEWEST} seeds each)" if known else ""


def _above_the_floor(claim: Claim, sides: Sides) -> int:
    """The longest tested length at which a side is above the floor, the same counts otherwise; 0: nowhere."""
    lengths = [0]
    for side, some in ((claim.one, sides.left), (claim.other, sides.right)):
        for tested in some:
            counts = {m for _, m in tested.cells(side.region, side.lengths, side.counts)}
            cells = [(n, m) for n, m in tested.cells("all") if m in counts]
            for length in {n for n, _ in cells}:
                there = [cell for cell in cells if cell[0] == length]
                if tested.sample(Side(side.measure, side.mode, "all"), there).value >= NOTHING:
                    lengths.append(length)
    return max(lengths)


def _more_seeds(claim: Claim, sides: Sides, finding: Finding, least: int) -> str:
    """How many seeds the difference seen would need to be told from the threshold, and what they cost.

    By the normal rule: each side needs (1.96 + 0.84)^2 s^2 / d^2 seeds, twice that for a difference of two sides; s is
    the deviation between seeds, d how far the value lies from what is required. Where that is more than eight, it says
    what eight cost as well.
    """
    measured = [(tested, claim.one) for tested in sides.left] + [(tested, claim.other) for tested in sides.right]
    measured = [(tested, side) for tested, side in measured if not tested.spec.constructed]
    trained = list(dict.fromkeys(tested for tested, _ in measured))
    if not trained:
        return "more test examples"
    spread = measured[0][0].spread(measured[0][1], None)
    own = [variance(tested.sample(side).seeds) for tested, side in measured if len(tested.runs) > 1]
    squares = [value for value in (max(own, default=0.0), spread.of**2 if spread else 0.0) if value > 0]
    bounds = [claim.threshold, *(getattr(claim, name, None) for name in ("low", "high", "limit"))]
    distance = min(abs(finding.ours - bound) for bound in bounds if bound is not None)

    def until(seeds: int) -> str:
        return _hours([(tested, seeds - len(tested.runs)) for tested in trained])

    if not squares or not distance:
        return f"{least} seeds at least ({until(least)})"
    needed = (1 if isinstance(claim, Level) else 2) * POWER**2 * max(squares) / distance**2
    seeds = max(least, math.ceil(needed))
    if seeds > ENDLESS:
        found = f"more than {ENDLESS} seeds"
    else:
        found = f"{'about ' * (seeds > MOST)}{seeds} seeds ({until(seeds)})"
    if seeds > MOST:
        found += f", for a distance of {distance:.2g} from what is required"
        if any(len(tested.runs) < MOST for tested in trained):
            found += f"; {MOST} take {until(MOST)}"
    return found


def runs_lacking(claim: Claim, at: Evidence) -> str:
    """What the runs take that a claim has none of at a profile, three seeds of each; empty where nothing lacks."""
    named = [at.experiments[name] for name in dict.fromkeys(claim.names) if name in at.experiments]
    sized = [item for item in named if at.profile in item.specs]
    missing = [(item.specs[at.profile], FEWEST - len(at.declared(item, at.profile))) for item in sized]
    if all(count <= 0 for _, count in missing):
        return ""
    return f"{FEWEST} seeds each, at the {at.profile} profile ({_estimated(missing, at.profile)})"


def _hours(runs: Sequence[tuple[Tested, float]]) -> str:
    """What so many more runs of each take, all at one profile."""
    return _estimated([(tested.spec, count) for tested, count in runs], runs[0][0].profile if runs else "")


def _estimated(runs: Sequence[tuple[Spec, float]], profile: str) -> str:
    """Hours that so many runs of each take, as estimated, and of what; fewer than none take nothing."""
    hours = sum(max(0.0, count) * cost(spec, profile).total for spec, count in runs) / 3600
    unit = "GPU" if profile == "paper" else "core"
    return f"{hours:.0f} {unit}-hours" if hours >= 10 else f"{hours:.2g} {unit}-hours"
