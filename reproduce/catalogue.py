"""Experiments of all papers by their names, what each paper publishes, and the newest run of each.

What enters are papers (`lengen.paper.Paper`), found in the folder ``papers``; what leaves are `Experiment` and
`Figure` objects. Two experiments of a paper whose specifications are equal at a profile are one run, stored under the
first of them. This is the only module of `reproduce` that knows where papers come from.
"""

import fnmatch
import itertools
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from lengen.clone import MODELS, SHIPPED
from lengen.experiment import PROFILES, Experiment, Figure
from lengen.paper import Paper
from lengen.part import nearest
from lengen.results.records import Run
from lengen.settings.spec import Spec
from reproduce.store.files import StoreError
from reproduce.store.run_folder import WEIGHTS
from reproduce.store.store import Store

WILDCARDS = frozenset("*?[")
USUAL = "cpu"
"""Profile of a command that names none, where its experiments have that size or a choice of others."""
LISTS = ("statement", "table", "settings", "headline", "exception", "ladder", "front")
"""Lists of a published.toml."""


class SelectorError(ValueError):
    """A selector that names nothing; the message gives the nearest names."""


class PublishedError(ValueError):
    """A published.toml that cannot be used; the message is one sentence for the user."""


@cache
def load(path: Path) -> Mapping[str, Any]:
    """Return a published.toml as a table; an empty one if a paper publishes nothing."""
    if not path.exists():
        return {}
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PublishedError(f"{path}: cannot be read ({error.strerror}); expected the published numbers") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise PublishedError(f"{path}: expected TOML; {error}") from None
    for name, rows in table.items():
        if name not in LISTS:
            raise PublishedError(f"{path}: there is no list '{name}'; one of: {', '.join(LISTS)}")
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise PublishedError(f"{path}: '{name}' is not a list of tables; write [[{name}]] above each entry")
    return table


@cache
def hash_of(spec: Spec) -> str:
    """Return `Spec.hash`, which walks over the whole specification: a comparison asks for it thousands of times."""
    return spec.hash()


def usual_profile(chosen: Sequence[Experiment]) -> str:
    """Return the profile of a command that names none.

    It is `USUAL`, or the only size for a core that the experiments have beside smoke. Published sizes, which take days
    of a GPU, are asked for by name.
    """
    sizes = {profile for experiment in chosen for profile in experiment.specs} - {"smoke"}
    return sizes.pop() if len(sizes) == 1 and sizes != {"paper"} else USUAL


class Catalogue:
    """The papers and what they declare; without ``papers`` those of the folder, found when first asked for."""

    def __init__(self, papers: Sequence[Paper] | None = None) -> None:
        self._given = papers
        self._home: dict[tuple[str, str], dict[str, Experiment]] = {}

    def fill(self, *papers: Paper) -> None:
        """Hold these papers instead; none: those of the folder again."""
        self._given = papers or None
        self._home.clear()
        self.__dict__.pop("_papers", None)

    @cached_property
    def _papers(self) -> dict[str, Paper]:
        if self._given is None:
            try:
                from papers import found
            except ImportError as error:
                raise SelectorError(
                    f"the folder papers of this suite cannot be loaded ({error}): git sparse-checkout add papers "
                    "brings it, if it is not there; another package of this name hides it, if it is"
                ) from None
            return {paper.name: paper for paper in found()}
        return {paper.name: paper for paper in self._given}

    def papers(self) -> tuple[str, ...]:
        """Return the names of the papers, in their order."""
        return tuple(self._papers)

    def paper(self, name: str) -> Paper:
        """Return the paper of this name; raises `SelectorError` with the nearest names."""
        if name not in self._papers:
            raise SelectorError(f"there is no paper '{name}'{nearest(name, self.papers())}")
        return self._papers[name]

    def aliases(self) -> Mapping[str, str]:
        """Return the names of papers by ``paper1``, ``paper2``, ..., unless a paper is called so itself."""
        numbered = {paper.alias: name for name, paper in self._papers.items() if paper.alias}
        return {alias: name for alias, name in numbered.items() if alias not in self._papers}

    def experiments(self, paper: str | None = None) -> tuple[Experiment, ...]:
        """Return the experiments of one paper, or of all, in the order of declaration."""
        names = self.papers() if paper is None else (paper,)
        return tuple(item for name in names for item in self.paper(name).experiments())

    def figures(self, paper: str) -> tuple[Figure, ...]:
        """Return the figures of one paper in the order of declaration."""
        return tuple(self.paper(paper).figures())

    def published(self, paper: str) -> Mapping[str, Any]:
        """Return the published.toml of one paper as a table; raises `PublishedError`."""
        return load(self.paper(paper).published)

    def deviations(self, paper: str) -> Mapping[str, str]:
        """Return the deviations of one paper by their number: sentences with their reasons."""
        return dict(self.paper(paper).deviations())

    def select(self, selector: str) -> tuple[Experiment, ...]:
        """Return the experiments that a selector names: ``paper/figure/variant`` or its beginning, with wildcards.

        A paper goes by its name or by its number (`aliases`): ``paper1/fig1``. Several stand between spaces. Raises
        `SelectorError` with the nearest names where one names none.
        """
        if selector.startswith(("/", ".")) and Path(selector).is_dir() and self.canonical(selector) == selector:
            raise SelectorError(
                f"'{selector}' is a folder; expected paper/figure/variant or, for rerun, evaluate --run and "
                "lengen.load, the folder of a finished run, which holds run.json"
            )
        if len(several := selector.split()) > 1:
            named = {item.name for word in several for item in self.select(word)}
            return tuple(item for item in self.experiments() if item.name in named)
        parts = self.canonical(selector).strip("/").split("/")
        if len(parts) == 2 and parts[0] in self.papers() and not fnmatch.filter(self._folders(parts[0]), parts[1]):
            figures = [figure for figure in self.figures(parts[0]) if fnmatch.fnmatchcase(figure.name, parts[1])]
            drawn = {name for figure in figures for name in figure.reads}
            if drawn:  # a figure of experiments whose home is elsewhere
                return tuple(item for item in self.experiments(parts[0]) if item.name in drawn)
            if figures:
                fault = f"selector '{selector}': {figures[0].name} rests on no experiment"
                raise SelectorError(f"{fault}; python -m reproduce figures {parts[0]}/{figures[0].name} draws it")
        if len(parts) > 3:
            raise SelectorError(f"selector '{selector}': expected paper, paper/figure or paper/figure/variant")
        chosen: list[Experiment] = []
        for level, part in enumerate(parts):
            names = list(dict.fromkeys(item.name.split("/")[level] for item in chosen)) if level else self.papers()
            same = fnmatch.filter(names, part) or [name for name in names if name.casefold() == part.casefold()]
            if not same:
                kind = ("paper", "figure or table", "variant")[level]
                where = f" in {'/'.join(parts[:level])}" if level else ""
                known = [*names, *([] if level else self.aliases())]
                hint = "; one of: " + ", ".join(known) if WILDCARDS & set(part) else nearest(part, known)
                hint = self._instead(selector) or hint
                raise SelectorError(f"selector '{selector}': there is no {kind} '{part}'{where}{hint}")
            some = chosen if level else [item for name in same for item in self.experiments(name)]
            chosen = [item for item in some if item.name.split("/")[level] in same]
        return tuple(chosen)

    def canonical(self, selector: str) -> str:
        """Return a selector that begins with the name of a paper, if it can be read so, else as it is.

        A paper may go by its folders (``papers/coupling``, ``results/local/coupling``), its number, its arXiv
        identifier, and with other capitals; a figure that one paper alone has needs no paper: ``fig9``. A model that
        comes with the package is that of an experiment. Raises `SelectorError` if several papers have a figure.
        """
        if selector in SHIPPED:
            return str(json.loads((MODELS / f"{selector}.json").read_text(encoding="utf-8"))["experiment"])
        first, *rest = re.sub(r"^(\./)?(papers|results/(reference|local))/", "", selector).strip("/").split("/")
        if WILDCARDS & set(first) or first in self.papers():
            return "/".join([first, *rest])
        same = {first.casefold()}
        for name, paper in self._papers.items():
            number = paper.alias.removeprefix("paper")
            if same & {name, paper.alias, number, paper.arxiv, f"arxiv:{paper.arxiv}"} - {""}:
                return "/".join([name, *rest])
        have = [name for name in self.papers() if same & {figure.casefold() for figure in self._folders(name)}]
        if len(have) > 1:
            several = " or ".join("/".join([name, first, *rest]) for name in have)
            raise SelectorError(f"selector '{selector}': several papers have {first}: write {several}")
        return "/".join([*have, first, *rest]) if have else selector

    def side_by_side(self, words: Sequence[str]) -> list[str]:
        """Return selectors that stand side by side in their canonical form.

        Raises `SelectorError` for one that lies inside another, or that names nothing by itself and something inside
        the one before it: a space was typed for a slash.
        """
        chosen: list[str] = []
        for word in words:
            try:
                selector = self.canonical(word)
                self.select(selector)
            except SelectorError:
                if chosen and self._names(f"{chosen[-1]}/{word}"):
                    raise SelectorError(f"there is no paper '{word}': write {chosen[-1]}/{word}") from None
                raise
            chosen.append(selector)
        for outer, inner in itertools.permutations(dict.fromkeys(chosen), 2):
            if _lies_in(inner, outer):
                raise SelectorError(f"{inner} lies in {outer}: write {inner} for it alone, or {outer} for all of it")
        return list(dict.fromkeys(chosen))

    def _names(self, selector: str) -> bool:
        """Return True if a selector names something."""
        try:
            return bool(self.select(selector))
        except SelectorError:
            return False

    def _instead(self, selector: str) -> str:
        """Return advice for a selector that is a profile, a statement, or has other signs between its parts."""
        if selector in PROFILES:
            return f"; a profile is chosen by --profile {selector}"
        last = selector.strip("/").rpartition("/")[2]
        for name in self.papers():
            if last in {row.get("id") for row in self.published(name).get("statement", [])}:
                return f"; it is a statement: compare {name}/{last} shows it"
        other = re.sub(r"[.:]", "/", selector, count=1).replace(":", "/")
        return f"; write {other}" if other != selector and self._names(other) else ""

    def behind(self, selector: str) -> tuple[Experiment, ...]:
        """Return the experiments of `select` and, of a figure, those it draws beside its own variants."""
        named = {item.name for item in self.select(selector)}
        parts = selector.strip("/").split("/")
        papers = list(dict.fromkeys(name.split("/")[0] for name in named))
        if len(parts) == 2:
            figures = [item for paper in papers for item in self.figures(paper)]
            named |= {name for item in figures if fnmatch.fnmatchcase(item.name, parts[1]) for name in item.reads}
        return tuple(item for paper in papers for item in self.experiments(paper) if item.name in named)

    def select_one(self, selector: str) -> Experiment:
        """Return the single experiment that a selector names; `SelectorError` where it names several."""
        experiments = self.select(selector)
        if len(experiments) > 1:
            examples = ", ".join(item.name for item in experiments[:3])
            names = f"{len(experiments)} experiments: name one, such as {examples}"
            raise SelectorError(f"selector '{selector}' names {names}")
        return experiments[0]

    def home(self, experiment: Experiment, profile: str) -> Experiment:
        """Return the paper's first experiment with the same specification at this profile; itself where it has none."""
        key = (experiment.paper, profile)
        if key not in self._home:
            first: dict[Spec, Experiment] = {}
            sized = [item for item in self.experiments(experiment.paper) if profile in item.specs]
            self._home[key] = {item.name: first.setdefault(item.specs[profile], item) for item in sized}
        return self._home[key].get(experiment.name, experiment)

    def homes(self, paper: str, profile: str) -> dict[str, str]:
        """Return the name of the `home` at this profile of every experiment of a paper."""
        return {item.name: self.home(item, profile).name for item in self.experiments(paper)}

    def declared_runs(self, store: Store, experiment: Experiment, profile: str) -> list[Run]:
        """Return the runs that count for a figure or a comparison: at most one per seed, sorted by seed.

        Per seed the newest version made from the declared specification; in the reference store, where there is none,
        the newest version made without overrides; in a store of what is `mine` the newest of all.
        """
        if profile not in experiment.specs:
            return []
        declared = hash_of(experiment.specs[profile])
        chosen: dict[int, Run] = {}
        experiment_runs = store.of(self.home(experiment, profile).name, profile)
        runs = [run for run in experiment_runs if store.mine or self.counts(run, experiment)]
        for run in sorted(runs, key=lambda run: (not store.mine and run.info["spec_hash"] == declared, run.version)):
            chosen[run.seed] = run
        return [chosen[seed] for seed in sorted(chosen)]

    def counts(self, run: Run, experiment: Experiment) -> bool:
        """Return True if a run may represent an experiment at its profile.

        Its specification is the declared one, or it lies in the reference store and was made without overrides.
        """
        if not self._of(run, experiment):
            return False
        if run.store == "reference" and run.info["overrides"] == []:
            return True
        return hash_of(experiment.specs[run.profile]) == str(run.info["spec_hash"])

    def overridden(self, run: Run, experiment: Experiment) -> bool:
        """Return True if a run was made for an experiment with ``--set``, and so does not represent it."""
        return run.info["overrides"] != [] and self._of(run, experiment) and not self.counts(run, experiment)

    def _of(self, run: Run, experiment: Experiment) -> bool:
        """Return True if a run lies in the folder of an experiment at its profile."""
        return run.profile in experiment.specs and run.experiment == self.home(experiment, run.profile).name

    def _folders(self, paper: str) -> list[str]:
        """Return the second parts of the names of a paper's experiments."""
        return list(dict.fromkeys(item.figure for item in self.experiments(paper)))


def _lies_in(inner: str, outer: str) -> bool:
    """Return True if all that a selector names lies in another one, by their words."""
    parts, around = inner.strip("/").split("/"), outer.strip("/").split("/")
    return len(parts) >= len(around) and all(map(fnmatch.fnmatchcase, parts, around))


CATALOGUE = Catalogue()
"""The catalogue that every command asks."""


# An experiment and stores enter; a run and the store that holds it leave, or one sentence that says which run to make.


def check_profile(experiment: Experiment, profile: str | None) -> None:
    """Raise `SelectorError` for a profile that the experiment does not have, or if it has none; None stands for any."""
    if not experiment.specs:
        why = "; ".join(dict.fromkeys(experiment.absent.values()))
        raise SelectorError(f"{experiment.name} cannot be run ({why}); choose another variant")
    if profile is not None and profile not in experiment.specs:
        reason = experiment.absent.get(profile, "not declared")
        fault = f"--profile {profile}: {experiment.name} has no such size ({reason})"
        raise SelectorError(f"{fault}; it has {', '.join(experiment.specs)}")


def newest(
    experiment: Experiment, stores: Sequence[Store], profile: str | None = None, seed: int | None = None, *,
    weights: bool = False, with_overrides: bool = False, otherwise: str,
) -> tuple[Run, Store]:  # fmt: skip
    """Return the newest finished run without its records, and its store; a smoke run only for want of others.

    Args:
        experiment: whose run it is.
        stores: where to look.
        profile: of the run; None: any.
        seed: of the run; None: any.
        weights: only a run that kept its weights, and a smoke run only if that profile is named.
        with_overrides: take the newest even if it was made with ``--set``.
        otherwise: what the user may do with ``{}`` runs made with ``--set``, where there is no other.

    Raises:
        SelectorError: for a profile that the experiment does not have.
        StoreError: with the command that makes the run where there is none.
    """
    check_profile(experiment, profile)
    holding = WEIGHTS if weights else None
    sizes = [at for at in experiment.specs if at == profile or (profile is None and (at != "smoke" or not weights))]
    headers = [(run, store) for store in stores for run in store.headers(experiment.paper, holding=holding)]
    held = [(run, store) for run, store in headers if run.profile in sizes and seed in (None, run.seed)]
    runs = [(run, store) for run, store in held if CATALOGUE.counts(run, experiment)]
    changed = [(run, store) for run, store in held if CATALOGUE.overridden(run, experiment)]
    if with_overrides:
        runs += changed
    if not runs:
        what = "finished run with weights" if weights else "finished run"
        hint = f", or {otherwise.format(len(changed))}" if changed else ""
        smoke = any((run.experiment, run.profile) == (experiment.name, "smoke") for run, _ in headers)
        if weights and profile is None and smoke:
            hint += f", or name its smoke run: {experiment.name} --profile smoke"
        raise StoreError(f"{experiment.name} has no {what} here: {_advice(experiment, profile, seed)}{hint}")
    return max(runs, key=lambda it: (it[0].profile != "smoke", str(it[0].info.get("finished")), it[0].version))


def _advice(experiment: Experiment, profile: str | None, seed: int | None) -> str:
    """Return the command for the missing run, at a size that exists: cpu, which is the default, or else the largest."""
    chosen = profile or ("cpu" if "cpu" in experiment.specs else next(reversed(list(experiment.specs))))
    wanted = f" --profile {chosen}" * (chosen != "cpu" or profile is not None)
    wanted += f" --seeds {seed}" * (seed is not None)
    advice = f"make one with python -m reproduce run {experiment.name}{wanted}"
    if profile is None and chosen != "cpu":
        advice += f" (it has no cpu size: {experiment.absent.get('cpu', 'not declared')})"
    return advice
