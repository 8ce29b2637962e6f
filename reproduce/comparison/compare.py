"""Published against measured: every number and claim of a paper with its verdict, from the results stores alone.

``papers/<paper>/published.toml`` and finished runs enter, `Row` objects leave, and comparison.csv and comparison.md.
No torch, no training: what is not there is "not run". The rules:

- reproduced: the inequality holds with the 95 % Wilson intervals over pooled examples apart *and* every seed on its
  side; differs: the opposite holds in the same sense; undecided: neither.
- A number is compared only with runs of exactly the declared paper-profile specification; runs of another profile or
  specification show as "not comparable". A setting is compared with that specification itself.
- A claim is checked at the cpu profile, and at the paper profile where all its runs exist; smoke never counts.
- A comparison outside the trained range says which experiments did not learn within it (deviations column).
- Teacher-forced is compared with teacher-forced, free-running with free-running: the mode belongs to the entry.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from lengen.records import Run
from reproduce.comparison import checks as claims
from reproduce.comparison import numbers
from reproduce.comparison.across import ACROSS
from reproduce.comparison.entries import Claim, Number, Published
from reproduce.comparison.evidence import Evidence, Finding
from reproduce.comparison.families import measure_of
from reproduce.comparison.measures import Missing
from reproduce.comparison.published import PublishedError, load
from reproduce.comparison.regions import REGION_WORDS
from reproduce.comparison.samples import same_spec
from reproduce.comparison.tables import COLUMNS, Row, to_csv, to_json, to_markdown, to_rich_table
from reproduce.runs.catalogue import CATALOGUE
from reproduce.store.store import Store, write_text

__all__ = ["COLUMNS", "Row", "compare", "rows", "save", "to_csv", "to_json", "to_markdown", "to_rich_table"]

NOT_RUN, NOT_COMPARABLE = "not run", "not comparable"


def compare(paper: str, stores: Sequence[Store]) -> list[Row]:
    """One row per number and per claim and profile, in the order of published.toml.

    Of several stores the first one that holds runs of an experiment speaks for it.
    """
    published = _published(paper)
    entries: list[Number | Claim] = [*published.numbers, *published.claims]
    used = {name for entry in entries for name in entry.deviations}
    used |= {name for names in published.deviations.values() for name in names}
    unknown = used - set(CATALOGUE.deviations(paper))
    if unknown:
        raise PublishedError(f"papers/{paper}/published.toml: there is no deviation {sorted(unknown)[0]}")

    @cache
    def declared(name: str, profile: str) -> Sequence[Run]:
        experiment = experiments[name]
        found = (CATALOGUE.declared_runs(store, experiment, profile) for store in stores)
        return next((runs for runs in found if runs), [])

    experiments = {item.name: item for item in CATALOGUE.experiments(paper)}
    return rows(
        published,
        {profile: Evidence(profile, experiments, lambda e, p: declared(e.name, p)) for profile in ("cpu", "paper")},
    )


def save(paper: str, stores: Sequence[Store]) -> list[Path]:
    """Write comparison.csv and comparison.md below each store; the files written, unchanged ones left alone.

    The first store is the reference: the others' comparison.md shows published | reference | yours.
    """
    paths = []
    found = [compare(paper, [store]) for store in stores]
    for store, mine in zip(stores, found, strict=True):
        others = mine if store is not stores[0] else []
        text = to_markdown(paper, found[0], others, CATALOGUE.deviations(paper))
        for name, content in (("comparison.csv", to_csv(mine)), ("comparison.md", text)):
            path = store.path / paper / name
            if not path.is_file() or path.read_text(encoding="utf-8") != content:
                write_text(path, content)
            paths.append(path)
    return paths


def rows(published: Published, evidence: Mapping[str, Evidence]) -> list[Row]:
    """Rows from the entries and the runs at the cpu and the paper profile."""
    found = [_number(number, evidence, published) for number in published.numbers]
    for claim in published.claims:
        found += _claim(claim, evidence, published)
    return found


@cache
def _published(paper: str) -> Published:
    return load(CATALOGUE.paper(paper).published)


def _number(number: Number, evidence: Mapping[str, Evidence], published: Published) -> Row:
    if number.kind == "remark":
        return _row(number, published, "paper", NOT_COMPARABLE, notes=[number.remark])
    paper = evidence["paper"]
    if number.kind == "setting":
        try:
            names = paper.names(number.experiments)
        except Missing as missing:
            return _row(number, published, "paper", NOT_RUN, notes=[str(missing)])
        verdict, ours, notes = numbers.setting(number, paper.experiments, names)
        return _row(number, published, "paper", verdict, ours=ours, notes=notes, names=names)
    reasons = []
    for profile, at in (("paper", paper), ("cpu", evidence["cpu"])):
        try:
            names = at.names(number.experiments)
            runs = [run for name in names for run in at.runs(name)]
        except Missing as missing:
            reasons.append(str(missing))
            continue
        published_setting = profile == "paper" and _as_declared(at, names)
        try:
            finding = numbers.measure(number, at)
        except Missing as missing:
            verdict = NOT_RUN if published_setting else NOT_COMPARABLE
            return _row(number, published, profile, verdict, notes=[str(missing)], names=names)
        if published_setting:
            return _row(number, published, profile, finding.verdict, finding, names=names)
        remark = f"not the published setting: {profile} size, {len(runs)} run{'s' if len(runs) > 1 else ''}"
        finding = finding._replace(notes=(remark, *finding.notes))
        return _row(number, published, profile, NOT_COMPARABLE, finding, names=names)
    return _row(number, published, "paper", NOT_RUN, notes=reasons[:1], names=_declared_names(number, paper))


def _as_declared(at: Evidence, names: Sequence[str]) -> bool:
    """Whether every run was made with exactly the declared specification of this profile."""
    return all(same_spec(run, at.experiments[name].specs[at.profile]) for name in names for run in at.runs(name))


def _declared_names(entry: Number, at: Evidence) -> list[str]:
    try:
        return at.names(entry.experiments)
    except Missing:
        return []


def _claim(claim: Claim, evidence: Mapping[str, Evidence], published: Published) -> list[Row]:
    found, lacking = [], []
    for profile, at in evidence.items():
        try:
            finding, names = claims.judge(claim, at), claims.involved(claim, at)
        except Missing as missing:
            lacking.append((missing.absent, profile, str(missing)))
            continue
        if not _as_declared(at, names):
            finding = finding._replace(notes=(*finding.notes, "measured with an earlier specification"))
        trained = _trained(at, names)
        found.append(_row(claim, published, profile, finding.verdict, finding, names=names, trained=trained))
    # A claim that can be run at cpu size but was not says so; one that cannot is asked of the paper profile.
    possible = [(profile, reason) for absent, profile, reason in lacking if not absent]
    wanted = [item for item in possible if item[0] == "cpu"] or ([] if found else possible)
    if not found and not wanted:
        wanted = [(lacking[-1][1], lacking[-1][2])]
    for profile, reason in wanted[:1]:
        at = evidence[profile]
        names = _existing(claim, at)
        trained = _trained(at, names)
        found.insert(0, _row(claim, published, profile, NOT_RUN, notes=[reason], names=names, trained=trained))
    return found


def _trained(at: Evidence, names: Sequence[str]) -> bool:
    """Whether any of these was trained, so that deviations of training concern it."""
    return not names or any(not at.experiments[name].specs[at.profile].constructed for name in names)


def _existing(claim: Claim, at: Evidence) -> list[str]:
    try:
        return claims.involved(claim, at)
    except Missing:
        return []


def _row(
    entry: Number | Claim,
    published: Published,
    profile: str,
    verdict: str,
    finding: Finding | None = None,
    *,
    ours: object = None,
    notes: Sequence[str] = (),
    names: Sequence[str] = (),
    trained: bool = True,
) -> Row:
    measured = not isinstance(entry, Number) or entry.kind == "measured"
    shared = published.deviations.get(profile, ()) if measured and trained else ()
    numbered = dict.fromkeys((*shared, *entry.deviations))
    remarks = [*(finding.notes if finding else ()), *notes]
    setting = isinstance(entry, Number) and entry.kind == "setting"
    verb = "show" if setting else "run"
    return Row(
        kind="number" if isinstance(entry, Number) else "claim",
        id=entry.id,
        place=entry.place,
        statement=entry.statement,
        relation=entry.relation,
        published=_target(entry),
        aggregation=_aggregation(entry),
        ours=finding.ours if finding else ours,
        ci_low=finding.interval.low if finding else None,
        ci_high=finding.interval.high if finding else None,
        n=finding.n if finding else None,
        seeds=finding.seeds if finding else None,
        profile=profile,
        verdict=verdict,
        deviations="; ".join(filter(None, [" ".join(numbered), *remarks])),
        command=_command(verb, names, "" if setting else f" --profile {profile}"),
    )


def _target(entry: Number | Claim) -> object:
    if entry.low is not None and entry.high is not None:
        return f"{entry.low:g} to {entry.high:g}"
    return entry.value if isinstance(entry, Number) else entry.threshold


def _aggregation(entry: Number | Claim) -> str:
    if isinstance(entry, Number):
        if entry.kind == "measured":
            words = f"{entry.statistic} over cells of the median over {entry.seeds} seeds"
            if entry.across:
                words = f"{ACROSS[entry.across].words} over runs of all experiments"
            return f"{entry.aggregation or words} ({entry.how_read})"
        return "hyper-parameter" if entry.kind == "setting" else entry.aggregation
    one, other = claims.sides(entry)
    words = _side(one) + (f" against {_side(other)}" if other != one and entry.right else "")
    return f"{entry.check}: {words}, {'over runs' if entry.check == 'varied' else 'pooled over examples and seeds'}"


def _side(side: claims.Side) -> str:
    measure = measure_of(side.measure)
    if not measure.by_cell:
        return measure.words
    mode = f", {side.mode.replace('_', '-')}" if measure.by_mode else ""
    return f"{measure.words}{mode}, {REGION_WORDS[side.region]}"


def _command(verb: str, names: Sequence[str], options: str) -> str:
    """The commands that make the runs: whole figures where several variants of one are needed."""
    figures: dict[str, list[str]] = {}
    for name in names:
        figures.setdefault(name.rsplit("/", 1)[0], []).append(name)
    selectors = [some[0] if len(some) == 1 else figure for figure, some in figures.items()]
    return " && ".join(f"python -m reproduce {verb} {selector}{options}" for selector in selectors)


def experiment_names(published: Published) -> set[str]:
    """Every name or wildcard that the entries use, for checking them against the CATALOGUE."""
    names = {name for number in published.numbers for name in number.experiments}
    return names | {name for claim in published.claims for name in (*claim.left, *claim.right)}
