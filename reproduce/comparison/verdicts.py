"""Whether what the runs say may count: models have learned, seeds are enough, the claim is older than its runs.

A claim, its sides and what they say enter; the verdict leaves, with why it is not decided and what would decide it.
Nothing here makes a verdict better than what the runs say.
"""

import math
from collections.abc import Sequence

from lengen.measures import short
from lengen.seed_intervals import variance
from reproduce.comparison import effects
from reproduce.comparison.checks import Claim, Compare, Gain, Level, Pooled, Sides, Varied
from reproduce.comparison.evidence import NOTHING, Finding, Side, Tested
from reproduce.comparison.frozen import NO, frozen
from reproduce.comparison.learning import unlearned
from reproduce.comparison.rows import DIFFERS, FLOOR, REPRODUCED, UNDECIDED, UNTESTED
from reproduce.runs.estimate import cost

OPEN = (UNTESTED, FLOOR, UNDECIDED)
FEWEST, MOST = 3, 8
"""Seeds that a verdict needs on every side, and those that are still worth asking for."""
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
        decide = f"{FEWEST} seeds of twice the steps ({hours}); where those do not teach it, a larger model on a GPU"
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
            decide="a model that reaches further: more training, or a larger one on a GPU",
        )
    seeds = min((len(tested.runs) for tested in trained), default=FEWEST)
    more = _more_seeds(claim, finding, trained, max(FEWEST, seeds + (finding.verdict == UNDECIDED)))
    said = effects.seeds(seeds)
    if seeds < FEWEST:
        seen = "" if finding.verdict == UNDECIDED else f" (by what is there: {finding.verdict})"
        return finding._replace(verdict=UNDECIDED, why=f"{said}, {FEWEST} are required{seen}", decide=more)
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


def _partly(claim: Claim, sides: Sides, finding: Finding) -> Finding | None:
    """Undecided, where the claim names more settings than were run and these cannot tell what all would say; or None.

    What every setting has to hold is refuted by one of them, and confirmed by all alone; a pool of them tells nothing
    of a larger pool, nor the largest of those that were run of the largest that is named.
    """
    lacking = len(sides.without) + sides.sizeless[0]
    of_all = isinstance(claim, Pooled | Gain | Varied) or (isinstance(claim, Compare) and claim.pick == "largest")
    tells = (DIFFERS, FLOOR, UNDECIDED) if not of_all else (UNDECIDED,)
    if not lacking or finding.verdict in tells:
        return None
    named = sides.sizeless[1]
    why = f"{named - lacking} of the {named} settings it names were run (they say: {finding.verdict})"
    hours = _hours([(tested, FEWEST) for tested in sides.without])
    decide = [f"the extras, {FEWEST} seeds each ({hours})"] if sides.without else []
    if count := sides.sizeless[0]:
        decide.append(f"{count} setting{'s' * (count > 1)} without a size here: the paper profile")
    return finding._replace(verdict=UNDECIDED, why=why, decide=", and ".join(decide))


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


def _more_seeds(claim: Claim, finding: Finding, trained: Sequence[Tested], least: int) -> str:
    """How many seeds the difference seen would need to be told from the threshold, and what they cost.

    By the normal rule: each side needs (1.96 + 0.84)^2 s^2 / d^2 seeds, twice that for a difference of two sides; s is
    the deviation between seeds, d how far the value lies from what is required. No more than eight are asked for.
    """
    if not trained:
        return "more test examples"
    spread = trained[0].spread(claim.one, None)
    own = [variance(tested.sample(claim.one).seeds) for tested in trained if len(tested.runs) > 1]
    squares = [value for value in (max(own, default=0.0), spread.of**2 if spread else 0.0) if value > 0]
    bounds = [claim.threshold, *(getattr(claim, name, None) for name in ("low", "high", "limit"))]
    distance = min(abs(finding.ours - bound) for bound in bounds if bound is not None)
    if not squares or not distance:
        return f"{least} seeds at least ({_hours([(tested, least - len(tested.runs)) for tested in trained])})"
    needed = (1 if isinstance(claim, Level) else 2) * POWER**2 * max(squares) / distance**2
    seeds = max(least, math.ceil(needed))
    if seeds > MOST and all(len(tested.runs) >= MOST for tested in trained):
        return f"more than the {MOST} seeds that it has, for a distance of {distance:.2g} from what is required"
    if seeds > MOST:
        hours = _hours([(tested, MOST - len(tested.runs)) for tested in trained])
        return f"more than {MOST} seeds, for a distance of {distance:.2g} from what is required ({MOST} take {hours})"
    return f"{seeds} seeds ({_hours([(tested, seeds - len(tested.runs)) for tested in trained])})"


def _hours(runs: Sequence[tuple[Tested, float]]) -> str:
    """What so many more runs of each take, as estimated."""
    seconds = sum(max(0.0, count) * cost(tested.spec, tested.profile).total for tested, count in runs)
    unit = "GPU" if runs and runs[0][0].profile == "paper" else "core"
    return f"{seconds / 3600:.2g} {unit}-hours"
