"""Description of all results as an RO-Crate 1.1, in the profile Process Run Crate 0.5.

One action stands for the runs that one commit made of one figure at
one profile; runs.jsonl in the folder that is its result has the rest, with a sha256 of the rows of every run.
"""

import datetime
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from lengen.results.records import Run
from reproduce.catalogue import CATALOGUE
from reproduce.pages.overview_picture import Facts
from reproduce.pages.sentences import grouped
from reproduce.runs import costs
from reproduce.store.files import StoreError, readable

FIXED = json.loads(Path(__file__).with_name("crate.json").read_text(encoding="utf-8"))
"""Entities that are the same in every crate, and the root, whose empty fields are filled in."""
CONTEXT = f"{FIXED['about']['conformsTo']['@id']}/context"
Entity = Mapping[str, object]
Group = tuple[str, str, str]
"""Figure with its paper, profile, commit."""


def crate(facts: Facts) -> str:
    """Return the metadata of the checkout as a crate, a line for each entity; raises `StoreError` without runs."""
    runs = [run for some in facts.runs.values() for run in some]
    if not runs:
        raise StoreError(
            f"{readable(facts.reference.path)} holds no finished run of a paper, and a crate has the date of the last: "
            "promote one"
        )
    unsorted = grouped(runs, lambda run: (run.experiment.rpartition("/")[0], run.profile, str(run.info["commit"])))
    groups = dict(sorted(unsorted.items()))
    actions = [_action(group, some) for group, some in groups.items()]
    known = {name: CATALOGUE.paper(name) for name in facts.compared}
    reports: list[Entity] = [
        {"@id": path, "@type": "File", "name": f"Report on {paper.title}", "encodingFormat": "text/markdown"}
        for name, paper in known.items()
        if (facts.repository / (path := f"papers/{name}/REPORT.md")).is_file()
    ]
    folders = {str(folder["@id"]): folder for folder in map(_folder, runs)}
    parts = [*FIXED["tables"], *reports, *folders.values()]
    links = {name: paper.arxiv and f"https://arxiv.org/abs/{paper.arxiv}" for name, paper in known.items()}
    papers: list[Entity] = [
        {"@id": links[name] or f"#{name}", "@type": "ScholarlyArticle", "name": paper.title}
        for name, paper in known.items()
    ]
    dated = max(str(run.info["finished"])[:10] for run in runs)
    root = FIXED["root"] | {"version": facts.version, "datePublished": dated}
    root |= {"citation": _ids(papers), "hasPart": _ids(parts), "mentions": _ids(actions)}
    programs = [_program(commit) for commit in dict.fromkeys(commit for _, _, commit in groups)]
    entities = [FIXED["about"], root, *FIXED["named"], *papers, *programs, *actions, *parts]
    return with_lines({"@context": CONTEXT}, "@graph", entities)


def _action(group: Group, runs: Sequence[Run]) -> Entity:
    figure, profile, commit = group
    commands = dict.fromkeys(str(run.info["command"]) for run in runs)
    return {
        "@id": f"#{figure}/{profile}/{commit[:7]}",
        "@type": "CreateAction",
        "name": f"{len(runs)} run{'s' * (len(runs) != 1)} of {figure} at profile {profile}",
        "description": "; ".join(commands),
        "startTime": min(_started(run) for run in runs),
        "endTime": max(str(run.info["finished"]) for run in runs),
        "instrument": {"@id": _program(commit)["@id"]},
        "agent": FIXED["root"]["author"],
        "result": _ids({str(folder["@id"]): folder for folder in map(_folder, runs)}.values()),
    }


def _started(run: Run) -> str:
    """Return the time at which the first process began; of runs that did not note it, the latest possible."""
    if "started" in run.info:
        return str(run.info["started"])
    finished = datetime.datetime.fromisoformat(str(run.info["finished"]))
    seconds = datetime.timedelta(seconds=costs.whole(run))
    return (finished - seconds).isoformat(timespec="milliseconds")


def _program(commit: str) -> Entity:
    where = f"swh:1:rev:{commit}"  # what names a commit wherever it is kept
    return {"@id": where, "@type": "SoftwareApplication", "name": "lengen", "version": commit}


def _folder(run: Run) -> Entity:
    figure = run.experiment.rpartition("/")[0]
    return {"@id": f"results/reference/{figure}/", "@type": "Dataset", "name": f"Runs of {figure}"}


def _ids(entities: Iterable[Entity]) -> list[Entity] | Entity:
    """Return references to entities; a single one stands without a list."""
    references: list[Entity] = [{"@id": entity["@id"]} for entity in entities]
    return references[0] if len(references) == 1 else references


def with_lines(head: Mapping[str, object], name: str, items: Iterable[Mapping[str, object]]) -> str:
    """Return JSON of an object whose last value is a list of objects, each in a line: it reads and differs well.

    >>> print(with_lines({"a": 1}, "b", [{"c": 2}, {"c": 3}]))
    {
     "a": 1,
     "b": [
      {"c": 2},
      {"c": 3}
     ]
    }
    <BLANKLINE>
    """
    first = json.dumps(head, indent=1, ensure_ascii=False).removesuffix("\n}")
    lines = ",\n  ".join(json.dumps(item, ensure_ascii=False) for item in items)
    return f'{first},\n "{name}": [\n  {lines}\n ]\n}}\n'
