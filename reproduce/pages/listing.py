"""Tables of papers with their scores, of the figures of a paper, of the variants of a figure; one experiment in full.

Experiments, the runs that are there and the last committed comparison enter; what rich prints leaves. No torch, no
matplotlib, no records.
"""

import json
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from lengen.experiment import PROFILES, Experiment, Figure
from lengen.paper import Paper
from lengen.results.records import Run
from reproduce.catalogue import CATALOGUE, usual_profile
from reproduce.comparison.last_comparison import WORDS, Recorded
from reproduce.comparison.published_settings import CHECKED
from reproduce.comparison.setting_distance import differences
from reproduce.comparison.setting_distance import in_words as differing_in_words
from reproduce.pages.terminal import LOOKS, breakable, entry, table
from reproduce.runs.costs import cost_on, in_words, makespan
from reproduce.runs.plan import share_made
from reproduce.store.run_folder import WEIGHTS
from reproduce.store.store import Store

AT_MOST = "< "
LEGEND = (
    "time: what run PAPER --profile SIZE takes on all cores here (at paper size on one GPU), at most (<) where it is "
    "not known when trainings stop; has run: of its experiments those with a finished run. "
    "Values and statements: as the committed tables have them. "
    "compare PAPER --all shows all of them, list PAPER its figures, list PAPER/FIGURE their variants."
)


def papers(chosen: Sequence[Paper], stores: Sequence[Store], known: Mapping[str, Recorded], cores: int) -> Table:
    """Return a row per paper: title, values that are met, main statements, and per size its time and what has run.

    Args:
        stores: where runs are looked for.
        known: the last committed comparison of each paper.
        cores: processor cores that runs share; the paper profile has one GPU.
    """
    rows = table("paper", "within\n5 points", "main\nstatements", "size", ("time", "right"), ("has run", "right"))
    for paper in chosen:
        rows.add_row()
        name = entry(f"{paper.alias} {paper.name}".strip(), paper.title)
        sizes = [_size(paper.experiments(), profile, stores, cores) for profile in CHECKED]
        columns = ["\n".join(column) for column in zip(*filter(None, sizes), strict=True)] or ["", "", ""]
        last = known[paper.name]
        met = Text(f"{last.met} of {last.compared}") if last.compared else Text("none", "dim")
        rows.add_row(name, met, answered(last.counts()), *map(Text, columns))
    return rows


def _size(
    experiments: Sequence[Experiment], profile: str, stores: Sequence[Store], cores: int
) -> tuple[str, str, str] | None:
    """Return a profile, the time of the whole paper at it, and how many of its experiments have run."""
    suite = [item for item in experiments if profile in item.specs and profile not in item.extra]
    if not suite:
        return None
    seconds, most = _seconds(suite, profile)
    time = most + in_words(makespan(seconds, 1 if profile == "paper" else cores))
    return profile, time, f"{sum(_has_run(item, (profile,), stores) for item in suite)} of {len(suite)}"


def _seconds(items: Sequence[Experiment], profile: str) -> tuple[list[float], str]:
    """Return the seconds of the runs of these experiments at a profile they have; a shared run counts once.

    And a sign for an upper bound, where it is not known when trainings stop.
    """
    runs: dict[tuple[str, int], float] = {}
    homes = {home.name: home for home in (CATALOGUE.home(item, profile) for item in items)}
    shares = {name: share_made(home, profile, home.specs[profile]) for name, home in homes.items()}
    for item in items:
        home = CATALOGUE.home(item, profile).name
        seconds = cost_on(item.specs[profile], gpu=profile == "paper", made=shares[home] or 1.0).total
        runs |= {(home, seed): seconds for seed in item.default_seeds(profile)}
    return list(runs.values()), AT_MOST * (None in shares.values())


def _has_run(item: Experiment, profiles: Sequence[str], stores: Sequence[Store]) -> bool:
    """Return True if a store has a run that counts; read no further."""
    homes = [(CATALOGUE.home(item, profile).name, profile) for profile in profiles if profile in item.specs]
    return any(CATALOGUE.counts(run, item) for home in homes for store in stores for run in store.made(*home))


def answered(counts: Counter[str]) -> Text:
    """Return the number of statements by answer, a line for each answer."""
    width = max(map(len, map(str, counts.values())), default=0)
    short = {word: word.replace("holds once", "once") for word in WORDS if counts[word]}
    lines = [Text(f"{counts[word]:>{width}} {label}", LOOKS[word].colour) for word, label in short.items()]
    return Text("\n").join(lines) if lines else Text("none", "dim")


def groups(paper: str) -> dict[str, list[Experiment]]:
    """Return the variants of each ``paper/figure``; of a figure without any of its own those that it draws."""
    by_figure: dict[str, list[Experiment]] = {}
    for item in CATALOGUE.experiments(paper):
        by_figure.setdefault(f"{paper}/{item.figure}", []).append(item)
    for figure in CATALOGUE.figures(paper):
        name = f"{paper}/{figure.name}"
        if figure.reads and name not in by_figure:
            by_figure[name] = [item for item in CATALOGUE.experiments(paper) if item.name in figure.reads]
    return by_figure


def figures(
    groups: Mapping[str, Sequence[Experiment]],
    drawn: Sequence[Figure],
    stores: Sequence[Store],
    resting: Mapping[str, Counter[str]],
) -> Table:
    """Return a row per figure: title, answers to its statements, variants, those that have run, time of all.

    Args:
        groups: ``paper/figure`` -> its variants.
        drawn: the figures of the paper, whose titles say what they show.
        resting: ``paper/figure`` -> answers to what rests on it.
    """
    rows = table("figure", "statements", ("variants", "right"), ("has run", "right"), ("time\none by one", "right"))
    titles = {figure.name: figure.title for figure in drawn}
    for name, items in groups.items():
        title = titles.get(name.partition("/")[2], items[0].place)
        claims = answered(resting.get(name, Counter()))
        run = sum(_has_run(item, CHECKED, stores) for item in items)
        rows.add_row(entry(name, title), claims, str(len(items)), str(run), _time(items))
    return rows


def variants(chosen: Sequence[Experiment], stores: Sequence[Store]) -> Table:
    """Return a row per variant: its name, what is claimed of it where, time, the stored seeds at each size, weights.

    Where every variant has a remark, the one that most have is the table's caption instead.
    """
    remarks = [_remark(item) for item in chosen]
    usual, times = Counter(remarks).most_common(1)[0]
    shared = usual if all(remarks) and times > 1 and len(remarks) < 2 * times else ""
    rows = table("variant", ("time", "right"), *(store.name for store in stores))
    papers = dict.fromkeys(item.paper for item in chosen)
    runs = [run for store in stores[:1] for name in papers for run in store.headers(name, holding=WEIGHTS)]
    committed = {(run.store, run.experiment, run.profile) for run in runs}
    if shared:
        rows.caption = shared if times == len(remarks) else f"All without a remark in brackets: {shared}"
        rows.caption_justify = "left"
    for item, remark in zip(chosen, remarks, strict=True):
        note = "" if remark in ("", shared) else f" [{remark}]"
        cell = entry(item.name, f"{item.place}:{note} {item.claim}")
        rows.add_row(cell, _time([item]), *(_seeds(item, store, committed) for store in stores))
    return rows


def _time(items: Sequence[Experiment]) -> str:
    """Return the time of the runs of these experiments one by one, at the default size of `run`."""
    profile = usual_profile(items)
    seconds, most = _seconds([item for item in items if profile in item.specs], profile)
    return f"{most}{in_words(sum(seconds))} {profile}" if seconds else "-"


def _seeds(item: Experiment, store: Store, committed: Container[tuple[str, str, str]]) -> str:
    """Return the seeds by size, runs made with ``--set`` apart: ``cpu 3 +1 with --set``; ``weights`` if some have any.

    Each reader of a shared run counts it. ``committed``: store, experiment and profile of runs with committed weights.
    """
    lines = []
    for profile in item.specs:
        home = CATALOGUE.home(item, profile).name
        runs = list(store.made(home, profile))
        declared = len({run.seed for run in runs if CATALOGUE.counts(run, item)})
        overridden = sum(CATALOGUE.overridden(run, item) for run in runs)
        if declared or overridden:
            weights = ", weights" * ((store.name, home, profile) in committed)
            lines.append(f"{profile} {declared}" + (f" +{overridden} with --set" if overridden else "") + weights)
    return "\n".join(lines) or "-"


def _remark(item: Experiment) -> str:
    """Return the reason why an experiment has no cpu size, whose run it shares, or why the paper leaves it out."""
    if "cpu" not in item.specs:
        return f"not at cpu size: {item.absent.get('cpu', 'not declared')}"
    shared = CATALOGUE.home(item, "cpu")
    if shared.name != item.name:
        return f"at cpu size the run of {shared.name}"
    return item.extra.get("cpu", "")


# ------------------------------------------------------------------ one experiment


class Entry(NamedTuple):
    """A published number or claim that names an experiment."""

    id: str
    answer: str
    """Answer, or value of ours, by the last comparison; empty where there is none."""
    sentence: str


def description(experiment: Experiment, published: Sequence[Entry], full: bool = False) -> list[RenderableType]:
    """Return the lines on an experiment: its claim and place first.

    Then what its settings change of the defaults, or all of them (``full``); published entries and their answers;
    commands.
    """
    profiles = [profile for profile in PROFILES if profile in experiment.specs]
    parts: list[RenderableType] = [Text(experiment.name, "bold"), Text(f"{experiment.place}: {experiment.claim}")]
    if not profiles:
        return [*parts, Text(), *(Text(f"not run: {why}") for why in dict.fromkeys(experiment.absent.values()))]
    rows = fields("", [experiment.specs[profile].to_dict() for profile in profiles])
    if not full:
        changed = {row[0] for profile in profiles for row in fields("", [experiment.specs[profile].changed()])}
        rows = [row for row in rows if row[0] in changed]
    alike = [row for row in rows if len(set(row[1:])) == 1 and len(profiles) > 1]
    parts += [Text(), _setting(alike, ["at every size"])] if alike else []
    apart = [row for row in rows if row not in alike]
    times = (_seconds([experiment], profile) for profile in profiles)
    apart.append(["estimated", *(most + in_words(max(seconds, default=0.0)) for seconds, most in times)])
    if full:
        apart.append(["hash", *(experiment.specs[profile].hash() for profile in profiles)])
    parts += [Text(), _setting(apart, profiles)]
    if not full:
        parts += [Text(), Text("Everything else is at its default: --full shows it.", "dim")]
    if paper := experiment.specs.get("paper"):
        for name in (name for name in profiles if name in ("cpu", "night")):
            differing = differing_in_words([differences(experiment.specs[name], paper)])
            parts += [Text(), Text(f"{name}: as published but for {differing}")] if differing else []
    notes = [f"no {profile} size: {reason}" for profile, reason in experiment.absent.items()]
    notes += [f"extra at the {profile} profile: {reason}" for profile, reason in experiment.extra.items()]
    parts += [part for note in notes for part in (Text(), Text(note))]
    if published:
        parts += [Text(), _entries(published)]
    parts += [Text(), *(Text(f"python -m reproduce run {experiment.name} --profile {name}") for name in profiles)]
    return parts


def _setting(rows: Sequence[Sequence[str]], heads: Sequence[str]) -> Table:
    """Return the fields with their value at each size, or with the one of all sizes; lists break at their commas."""
    made = table("", *heads)
    for column in made.columns:
        column.no_wrap = column is made.columns[0]
    for field, *values in rows:
        made.add_row(field, *(Text(breakable(value, ",")) for value in values[: len(heads)]))
    return made


def _entries(published: Sequence[Entry]) -> Table:
    rows = table("published", "here")
    for item in published:
        sentence = Text(item.id, "bold").append(f": {item.sentence}", "not bold")
        rows.add_row(sentence, Text(item.answer, LOOKS[item.answer].colour if item.answer in LOOKS else "dim"))
    return rows


ABSENT = object()
"""Stands for the field of a part that another profile has and this one has not."""


def fields(path: str, values: Sequence[Any]) -> list[list[str]]:
    """Return a row for each field at a path of several settings; parts by their kind, then their fields.

    >>> fields("data.task", [{"kind": "parity", "bits": 3}, {"kind": "addition", "digits": 5}])
    [['data.task', 'parity', 'addition'], ['data.task.bits', '3', ''], ['data.task.digits', '', '5']]
    """
    nested = [value if isinstance(value, dict) else {} for value in values]
    kinds = [value.get("kind", ABSENT) if isinstance(value, dict) else value for value in values]
    rows = [[path, *map(_value, kinds)]] if any(value is not ABSENT for value in kinds) else []
    for name in dict.fromkeys(name for inner in nested for name in inner if name != "kind"):
        rows += fields(f"{path}.{name}".lstrip("."), [inner.get(name, ABSENT) for inner in nested])
    return rows


def _value(value: object) -> str:
    """Return a field's value; long ranges of whole numbers as first..last."""
    if value is None or value is ABSENT:
        return "" if value is ABSENT else "none"
    if isinstance(value, list):
        if len(value) > 3 and all(isinstance(item, int) for item in value):
            return _ranges(value)
        return json.dumps(value).replace(" ", "")
    return str(value).lower() if isinstance(value, bool) else str(value)


def _ranges(values: Sequence[int]) -> str:
    """Return whole numbers, those that follow one another at equal distances as first..last.

    >>> _ranges([5, 10, 15, 20, 21, 25, 30]), _ranges([1, 2, 3, 4, 6, 9])
    ('5..20 by 5,21,25,30', '1..4,6,9')
    """
    groups: list[list[int]] = []
    for item in values:
        last = groups[-1] if groups else []
        if last and item > last[-1] and (len(last) == 1 or item - last[-1] == last[1] - last[0]):
            last.append(item)
        else:
            groups.append([item])
    return ",".join(map(_range, groups))


def _range(group: Sequence[int]) -> str:
    """Return numbers at equal distances: as first..last if that is shorter."""
    step = group[1] - group[0] if len(group) > 1 else 0
    if len(group) < (3 if step == 1 else 4):
        return ",".join(map(str, group))
    return f"{group[0]}..{group[-1]}" + f" by {step}" * (step > 1)


def _kernels(kernels: object) -> str:
    """Return kernels in words, nothing for those that were not recorded."""
    if not isinstance(kernels, dict) or not {"products", "compiled"} <= kernels.keys():
        return ""
    products = "float32" if kernels["products"] == "none" else f"{kernels['products']} bfloat16"
    return f"{products} products, {'compiled' if kernels['compiled'] else 'not compiled'}"


def different_kernels(runs: Iterable[Run]) -> str:
    """Return a sentence if the runs of one setting were trained with several kernels, by run.json; else nothing."""
    seeds: dict[str, list[int]] = {}
    for run in runs:
        if kernels := _kernels(run.info.get("kernels")):
            seeds.setdefault(kernels, []).append(run.seed)
    if len(seeds) < 2:
        return ""
    named = [f"{words} (seed{'s' * (len(of) > 1)} {', '.join(map(str, sorted(of)))})" for words, of in seeds.items()]
    return f"trained with different kernels, which moves numbers by rounding: {'; '.join(sorted(named))}"
