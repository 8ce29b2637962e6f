"""Published against measured: every number and claim of a paper with its verdict, from the results stores alone.

``papers/<paper>/published.toml`` and finished runs enter, `Row` objects leave, and comparison.csv and comparison.md.
No torch, no training: what is not there is "not run". How a verdict is given stands in `comparison.evidence` (what the
runs say) and `comparison.verdicts` (whether it may count). Besides:

- A number is compared only with runs of exactly the declared paper-profile specification; a smaller one stands beside
  it at the same multiples of its trained range, as "not comparable". A setting is compared with that specification
  itself.
- A claim is checked at the cpu, the night and the paper profile, wherever all its runs exist; smoke never counts.
- Teacher-forced is compared with teacher-forced, free-running with free-running: the mode belongs to the entry.
"""

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from lengen.config.experiment import Experiment
from lengen.measures import Missing, OfRun, Scored
from lengen.records import Run
from reproduce.comparison.checks import Claim, EntryError, Level, Varied, judge
from reproduce.comparison.evidence import ACROSS, Evidence, Finding, Side, Sources, Tested
from reproduce.comparison.measures import Vocabulary
from reproduce.comparison.numbers import Measured, Number, Remark, Setting
from reproduce.comparison.published import Published, PublishedError, load
from reproduce.comparison.rows import (
    CHECKED,
    COLUMNS,
    DIFFERENCE,
    EQUAL,
    NOT_COMPARABLE,
    NOT_RUN,
    REPRODUCED,
    SETTING,
    SHARE,
    UNEQUAL,
    Row,
)
from reproduce.comparison.score_card import LARGEST
from reproduce.comparison.tables import of_papers, to_csv, to_markdown
from reproduce.comparison.verdicts import of_enough_seeds, runs_lacking, verdict
from reproduce.runs.catalogue import CATALOGUE
from reproduce.store.store import Store, write_text

__all__ = ["COLUMNS", "Row", "compare", "of_papers", "rows", "save", "to_csv", "to_markdown"]


def compare(paper: str, stores: Sequence[Store]) -> list[Row]:
    """One row per number and per claim and profile, in the order of published.toml.

    Of several stores the first one that holds runs of an experiment speaks for it.
    """
    published = _published(paper)
    _only_the_papers(published, {item.name: item for item in CATALOGUE.experiments(paper)}, paper)
    entries: list[Number | Claim] = [*published.numbers, *published.claims]
    used = {name for entry in entries for name in entry.deviations}
    used |= {name for names in published.deviations.values() for name in names}
    unknown = used - set(CATALOGUE.deviations(paper))
    if unknown:
        raise PublishedError(f"papers/{paper}/published.toml: there is no deviation {sorted(unknown)[0]}")
    return rows(published, evidence(paper, stores))


def claims(paper: str) -> Sequence[Claim]:
    """The claims of a paper, in the order of published.toml."""
    return _published(paper).claims


def evidence(paper: str, stores: Sequence[Store]) -> dict[str, Evidence]:
    """Profile -> the runs that claims and numbers are checked on; of several stores the first with runs speaks."""
    published = _published(paper)
    experiments = {item.name: item for item in CATALOGUE.experiments(paper)}

    @cache
    def declared(name: str, profile: str) -> Sequence[Run]:
        experiment = experiments[name]
        found = (CATALOGUE.declared_runs(store, experiment, profile) for store in stores)
        return next((runs for runs in found if runs), [])

    compared = tuple(dict.fromkeys(name for claim in published.claims for name in claim.names if name in experiments))
    return {
        profile: Evidence(profile, experiments, lambda e, p: declared(e.name, p), published.vocabulary, compared)
        for profile in CHECKED
    }


def _only_the_papers(published: Published, experiments: Mapping[str, Experiment], paper: str) -> None:
    """Refuse a published claim on an experiment that the paper does not have."""
    for claim in published.claims:
        for name in claim.names:
            if name in experiments and experiments[name].ours:
                raise PublishedError(
                    f"papers/{paper}/published.toml: claim '{claim.id}' names {name}, which is of ours "
                    f"({experiments[name].ours}); a published claim may rest on experiments of the paper alone"
                )


def save(paper: str, stores: Sequence[Store]) -> tuple[list[list[Row]], list[Path]]:
    """Write comparison.csv and comparison.md below each store; the rows of each and the files, equal ones left alone.

    The first store is the reference: the others' comparison.md shows published | reference | yours. A store without a
    run of the paper gets no files.
    """
    paths = []
    found = [compare(paper, [store]) for store in stores]
    for store, mine in zip(stores, found, strict=True):
        if not store.headers(paper) and not any(row.seeds for row in mine):
            continue
        others = mine if store is not stores[0] else []
        text = to_markdown(paper, found[0], others, CATALOGUE.deviations(paper))
        for name, content in (("comparison.csv", to_csv(mine)), ("comparison.md", text)):
            path = store.path / paper / name
            if not path.is_file() or path.read_text(encoding="utf-8") != content:
                write_text(path, content)
            paths.append(path)
    return found, paths


def rows(published: Published, evidence: Mapping[str, Evidence]) -> list[Row]:
    """Rows from the entries and the runs at each profile."""
    found = [_number(number, evidence, published) for number in published.numbers]
    judges = [_Judge(at, {claim.id: claim for claim in published.claims}) for at in evidence.values()]
    for claim in published.claims:
        found += _claim(claim, judges, published)
    return found


class _Judge:
    """Verdicts at one profile; a claim that is asked after another one needs the verdict on that."""

    def __init__(self, at: Evidence, claims: Mapping[str, Claim]) -> None:
        self.at = at
        self._claims = claims
        self._found: dict[str, tuple[list[Tested], Finding | Missing]] = {}

    def __call__(self, claim: Claim) -> tuple[list[Tested], Finding | Missing]:
        """Its experiments as far as they are known, and what is found, or what is missing."""
        if claim.id not in self._found:
            tested: list[Tested] = []
            try:
                sides = claim.sides(self.at)
                tested = sides.all()
                found: Finding | Missing = verdict(claim, sides, judge(claim, sides), self._given(claim))
            except Missing as missing:
                found = missing
            self._found[claim.id] = tested, found
        return self._found[claim.id]

    def _given(self, claim: Claim) -> str:
        if not claim.given:
            return REPRODUCED
        _, found = self(self._claims[claim.given])
        return NOT_RUN if isinstance(found, Missing) else found.verdict


@cache
def _published(paper: str) -> Published:
    path = CATALOGUE.paper(paper).published
    return load(path) if path.exists() else Published((), ())  # a paper may publish nothing that can be compared


def _number(number: Number, evidence: Mapping[str, Evidence], published: Published) -> Row:
    paper = evidence["paper"]
    match number:
        case Remark():
            return _row(number, published, "paper", NOT_COMPARABLE, notes=[number.remark])
        case Setting():
            return _setting(number, paper, published)
    reasons: list[str] = []
    without: Row | None = None
    for profile in [name for name in LARGEST if name in evidence]:
        at = evidence[profile]
        try:
            tested = at.tested(_expand(number, at))
            runs = [run for each in tested for run in each.runs]
        except Missing as missing:
            reasons.append(str(missing))
            continue
        published_setting = profile == "paper" and all(each.as_declared for each in tested)
        try:
            finding = number.find(tested)
        except Missing as missing:
            word = NOT_RUN if published_setting else NOT_COMPARABLE
            row = _row(number, published, profile, word, notes=[str(missing)], tested=tested)
            if profile == "paper":
                return row
            without = without or row  # a smaller profile may have been tested at the same multiple
            continue
        if published_setting:
            finding = of_enough_seeds(finding, finding.n if number.across else finding.seeds, tested)
            return _row(number, published, profile, finding.verdict, finding, tested=tested)
        remark = f"not the published setting: {profile} size, {len(runs)} run{'s' if len(runs) > 1 else ''}"
        finding = finding._replace(notes=(remark, *finding.notes))
        return _row(number, published, profile, NOT_COMPARABLE, finding, tested=tested)
    if without is not None:
        return without
    try:
        tested = paper.tested(_expand(number, paper))
    except Missing:
        tested = []
    return _row(number, published, "paper", NOT_RUN, notes=reasons[:1], tested=tested)


def _setting(number: Setting, paper: Evidence, published: Published) -> Row:
    try:
        tested = paper.tested(_expand(number, paper))
    except Missing as missing:
        return _row(number, published, "paper", NOT_RUN, notes=[str(missing)])
    try:
        found, ours, notes = number.find([paper.experiments[each.name] for each in tested])
    except EntryError as error:
        raise PublishedError(f"published.toml: number '{number.id}': {error}") from None
    word = EQUAL if found == REPRODUCED else UNEQUAL
    return _row(number, published, "paper", word, ours=ours, notes=notes, tested=tested)


def _expand(number: Measured | Setting, at: Evidence) -> list[str]:
    """Names of the experiments that the wildcards of a number stand for."""
    found: list[str] = []
    for pattern in number.experiments:
        if not (matches := fnmatch.filter(at.experiments, pattern)):
            raise Missing(f"there is no experiment {pattern}", absent=True)
        found += matches
    return found


def _claim(claim: Claim, judges: Sequence[_Judge], published: Published) -> list[Row]:
    """A row for every profile at which there is a verdict; without one, a row that says what is missing."""
    found: list[Row] = []
    missed: list[tuple[Missing, Evidence, list[Tested]]] = []
    for at in judges:
        tested, finding = at(claim)
        profile = at.at.profile
        if isinstance(finding, Missing):
            missed.append((finding, at.at, tested))
            continue
        if not all(each.as_declared for each in tested):
            finding = finding._replace(notes=(*finding.notes, "measured with an earlier specification"))
        notes = _beside(claim, at.at)
        found.append(_row(claim, published, profile, finding.verdict, finding, notes=notes, tested=tested))
    if found:
        return found
    # the smallest profile that it can be run at; where it can be at none, the published one says so
    possible = [item for item in missed if not item[0].absent]
    lack, evidence, tested = possible[0] if possible else missed[-1]
    row = _row(claim, published, evidence.profile, NOT_RUN, tested=tested)
    return [replace(row, why=str(lack), decide=runs_lacking(claim, evidence))]


def _beside(claim: Claim, at: Evidence) -> list[str]:
    """The remark of a claim, then what was measured of the experiments that it names beside its own."""
    told = [claim.remark] if claim.remark else []
    for name in claim.beside:
        try:
            told += [f"beside it {tested.sample(claim.one).words()}" for tested in at.tested([name])]
        except Missing as missing:
            told.append(f"beside it nothing: {missing}")
    return told


def _row(
    entry: Number | Claim,
    published: Published,
    profile: str,
    verdict: str,
    finding: Finding | None = None,
    *,
    ours: object = None,
    notes: Sequence[str] = (),
    tested: Sequence[Tested] = (),
) -> Row:
    # deviations of training concern what was measured on a model that was trained
    trained = not tested or any(not each.spec.constructed for each in tested)
    shared = published.deviations.get(profile, ()) if trained and not isinstance(entry, Setting | Remark) else ()
    numbered = dict.fromkeys((*shared, *entry.deviations))
    remarks = [*(finding.notes if finding else ()), *notes]
    interval = finding.interval if finding else None
    examples, seeds = finding.sources if finding else Sources()
    compared = (finding.compared if finding else None) or (None, None)
    told = _whose(entry) if isinstance(entry, Number) else _standing(entry)
    verb, options = ("show", "") if isinstance(entry, Setting) else ("run", f" --profile {profile}")
    return Row(
        kind="number" if isinstance(entry, Number) else "claim",
        id=entry.id,
        place=entry.place,
        statement=entry.statement,
        relation=entry.relation,
        published=_target(entry),
        aggregation=_aggregation(entry, published.vocabulary),
        ours=finding.ours if finding else ours,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        n=finding.n if finding else None,
        seeds=finding.seeds if finding else None,
        profile=profile,
        verdict=verdict,
        deviations="; ".join(filter(None, [" ".join(numbered), *remarks])),
        command=_command(verb, [each.name for each in tested], options),
        why=finding.why if finding else "",
        decide=finding.decide if finding else "",
        frozen=finding.frozen if finding else "",
        scale=_scale(entry, published.vocabulary),
        examples_low=examples.low if examples else None,
        examples_high=examples.high if examples else None,
        seeds_low=seeds.low if seeds else None,
        seeds_high=seeds.high if seeds else None,
        left=compared[0],
        right=compared[1],
        left_at=finding.at[0] if finding else "",
        right_at=finding.at[1] if finding else "",
        **told,
    )


def _whose(number: Number) -> dict[str, Any]:
    """A number that the paper gives in words alone is ours."""
    return {"by": "required"} if number.how_read.startswith("in words") else {}


def _standing(claim: Claim) -> dict[str, Any]:
    """How a claim counts, and whose its threshold is."""
    by = "published" if claim.how_read == "printed" else "required"
    return {"by": by, "headline": claim.headline, "counts_as": claim.part_of or claim.id}


def _scale(entry: Number | Claim, vocabulary: Vocabulary) -> str:
    """Whether the value of an entry is a share, a difference of shares, or another number."""
    if isinstance(entry, Setting | Remark):
        return ""
    names = {entry.measure} if isinstance(entry, Measured) else {entry.one.measure, entry.other.measure}
    if not all(vocabulary.measure(name).proportion for name in names):
        return ""
    return SHARE if isinstance(entry, Level | Measured) else DIFFERENCE


def _target(entry: Number | Claim) -> object:
    low, high = getattr(entry, "low", None), getattr(entry, "high", None)
    if low is not None and high is not None:
        return f"{low:g} to {high:g}"
    if (limit := getattr(entry, "limit", None)) is not None:
        return f"{entry.threshold:g}, no further than {limit:g}"  # type: ignore[union-attr]
    return entry.value if isinstance(entry, Number) else entry.threshold


def _aggregation(entry: Number | Claim, vocabulary: Vocabulary) -> str:
    match entry:
        case Setting():
            return SETTING
        case Remark():
            return entry.aggregation
        case Measured():
            words = f"{entry.statistic} over cells of the median over {entry.seeds} seeds"
            if entry.across:
                words = f"{ACROSS[entry.across].words} over runs of all experiments"
            return f"{entry.aggregation or words} ({entry.how_read})"
    words = _side(entry.one, vocabulary)
    if entry.other != entry.one:
        words += f" against {_side(entry.other, vocabulary)}"
    over = "over runs" if isinstance(entry, Varied) else "pooled over examples and seeds"
    return f"{entry.kind}: {words}, {over}"


def _side(side: Side, vocabulary: Vocabulary) -> str:
    measure = vocabulary.measure(side.measure)
    if isinstance(measure, OfRun):
        return measure.words
    mode = f", {side.mode.replace('_', '-')}" if isinstance(measure, Scored) else ""
    return f"{measure.words}{mode}, {vocabulary.regions[side.region].words}"


def _command(verb: str, names: Sequence[str], options: str) -> str:
    """The commands that make the runs: whole figures where several variants of one are needed."""
    figures: dict[str, list[str]] = {}
    for name in names:
        figures.setdefault(name.rsplit("/", 1)[0], []).append(name)
    selectors = [some[0] if len(some) == 1 else figure for figure, some in figures.items()]
    return " && ".join(f"python -m reproduce {verb} {selector}{options}" for selector in selectors)
