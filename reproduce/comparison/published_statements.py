"""Statements of publications, and what is known of their earlier readings.

The list ``statement`` of ``papers/<paper>/published.toml`` enters, `Statement` objects leave. Every mistake in the file
is one sentence that names the file, the entry and the field.
"""

import hashlib
import json
import re
import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec

from lengen.experiment import Experiment
from lengen.part import nearest
from lengen.results.records import Run
from reproduce.catalogue import CATALOGUE, PublishedError
from reproduce.comparison.region_measures import REGIONS, measure_of, vocabulary
from reproduce.store.files import StoreError

Check = Literal["level", "above", "trend", "equal", "number"]


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One comparison of trainings.

    ``level``: every seed of each left experiment is at least ``least`` and at most ``most``. ``above``: each left
    experiment exceeds each right one. ``trend``: values rise from left experiment to left experiment. ``equal``: left
    and right lie within the band of practical equality. ``number``: a detail that is measured and has no answer.
    """

    words: str
    left: tuple[str, ...]
    right: tuple[str, ...] = ()
    check: Check = "level"
    least: float | None = None
    """In percent for a share."""
    most: float | None = None
    measure: str = "exact"
    mode: Literal["teacher_forced", "free_running", "sampled"] = "teacher_forced"
    region: str = "outside"
    lengths: tuple[int, int] | None = None
    counts: tuple[int, int] | None = None
    any_size: bool = False
    """True whatever the size of the model, so that a small one can refute it."""
    learned: bool = True
    """Only seeds that have learned their trained range count."""
    next: str = ""
    """The run that would settle a part that is not seen here or open, and its cost."""
    refuted: str = ""
    """Data of the authors that contradict an effect that is not seen here either, and where they are published."""

    @property
    def names(self) -> tuple[str, ...]:
        """All experiments, each once."""
        return tuple(dict.fromkeys((*self.left, *self.right)))

    def __post_init__(self) -> None:
        if self.check == "level" and (self.right or (self.least is None and self.most is None)):
            raise ValueError("a level needs 'least' or 'most', and no 'right'")
        if self.check == "number" and self.right:
            raise ValueError("a number has no 'right'")
        if self.check in ("above", "equal") and not self.right:
            raise ValueError(f"'right' is missing; '{self.check}' compares two sides")
        if self.check == "trend" and (self.right or len(self.left) < 3):
            raise ValueError("a trend needs three or more experiments in 'left', and no 'right'")
        if self.check != "level" and (self.least is not None or self.most is not None):
            raise ValueError(f"'least' and 'most' belong to a level, not to '{self.check}'")


class Statement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Statement of a paper, in words that a reader of its abstract recognises."""

    id: str
    words: str
    short: str = ""
    """At most four words, for a picture; empty: the words of ``id``."""
    place: str
    quote: str
    """The source's own sentence; empty if it is not at hand and ``words`` are a paraphrase."""
    parts: tuple[Part, ...]
    """All of them have to hold."""
    details: tuple[Part, ...] = ()
    """Shown below the statement; they count for nothing."""
    repaired: str = ""
    """Of a proof that does not hold as printed: what was mended, and where that is written."""
    remark: str = ""
    baseline: bool = False
    """True if what it says is that baselines fail."""

    @property
    def counted(self) -> tuple[str, ...]:
        """All experiments of its parts, each once."""
        return _names(self.parts)

    @property
    def names(self) -> tuple[str, ...]:
        """All experiments of its parts and details, each once."""
        return _names((*self.parts, *self.details))


def _names(parts: Iterable[Part]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for part in parts for name in part.names))


def statements(paper: str) -> tuple[Statement, ...]:
    """Return the statements of a paper in the order of the file; none if there is no file."""
    known = {item.name: item for item in CATALOGUE.experiments(paper)}
    return parse(CATALOGUE.published(paper), str(CATALOGUE.paper(paper).published), known, paper)


def parse(table: Mapping[str, Any], where: str, known: Mapping[str, Experiment], paper: str) -> tuple[Statement, ...]:
    """Check the list ``statement`` of a table; ``where`` names the file in messages."""
    read: list[Statement] = []
    for index, row in enumerate(table.get("statement", []), 1):
        place = f"{where}: statement {row.get('id', index) if isinstance(row, dict) else index!r}"
        try:
            statement = msgspec.convert(row, Statement)
        except msgspec.ValidationError as error:
            raise PublishedError(f"{place}: {_sentence(str(error))}") from None
        for mistake in _mistakes(statement, known, paper):
            raise PublishedError(f"{place}: {mistake}")
        if statement.id in {other.id for other in read}:
            raise PublishedError(f"{place}: the id stands twice; every statement needs its own")
        read.append(statement)
    return tuple(read)


def _sentence(message: str) -> str:
    """Return the message of msgspec on a value, the field first."""
    what, _, path = message.partition(" - at `$")
    what = what.replace("`", "'")
    name = re.sub(r"^\.|`$", "", path)
    return f"'{name}': {what[0].lower()}{what[1:]}" if name else f"{what[0].lower()}{what[1:]}"


def _mistakes(statement: Statement, known: Mapping[str, Experiment], paper: str) -> Iterator[str]:
    measures = vocabulary(paper)
    if not statement.parts:
        yield "'parts' is empty; a statement rests on one comparison or more"
    for name in statement.names:
        if name not in known:
            yield f"there is no experiment '{name}'{nearest(name, list(known))}"
        elif known[name].ours:
            yield f"{name} is an experiment of this suite ({known[name].ours}); name experiments of the paper"
    if any(part.check == "number" for part in statement.parts):
        yield "a number has no answer; it belongs into 'details', not into 'parts'"
    for part in (*statement.parts, *statement.details):
        if part.region not in REGIONS:
            yield f"region '{part.region}' is unknown{nearest(part.region, list(REGIONS))}"
        try:
            share = measure_of(measures, part.measure).proportion
        except KeyError:
            yield f"measure '{part.measure}' is unknown{nearest(part.measure, list(measures))}"
            continue
        low, high = part.least or 0, 100 if part.most is None else part.most
        if share and part.check == "level" and low <= 0 and high >= 100:
            yield f"'{part.words}' cannot fail: a share lies between 0 and 100 %"


def naming(some: Iterable[Statement], experiments: Iterable[Experiment]) -> list[Statement]:
    """Return those of the statements that rest on one of these experiments, not in their details alone."""
    names = {item.name for item in experiments}
    return [statement for statement in some if names & set(statement.counted)]


# Statements enter; digests, and whether a run was started with them, leave. Runs of earlier versions recorded the
# digests of ``claim`` entries; they are read as well.


AS_NOW, OTHERWISE, UNKNOWN = "as recorded", "otherwise", "could not be looked up"
CODES = {AS_NOW: 0, OTHERWISE: 1, UNKNOWN: 3}
"""Exit codes of ``compare --check-history``; 2 is a mistake of the user."""
ASIDE = {"id", "place", "words", "short", "quote", "remark", "baseline", "details", "repaired", "next", "refuted"}
"""Fields of a statement and of its parts that decide no answer."""
EARLIER = {"threshold": 0.0, "measure": "exact", "mode": "teacher_forced", "region": "outside"}
"""Fields that a ``claim`` of earlier versions had without writing them."""
EARLIER_ASIDE = {"id", "place", "deviations", "how_read", "headline", "part_of", "remark", "beside", "check"}


def digest(statement: Statement) -> str:
    """Return what a statement asks, in 16 hexadecimal digits."""
    row = msgspec.to_builtins(statement)
    parts = [{k: v for k, v in part.items() if k not in ASIDE and v not in (None, [], "")} for part in row["parts"]]
    return _sum({name: value for name, value in row.items() if name not in ASIDE} | {"parts": parts})


def digest_of_claim(row: Mapping[str, Any]) -> str:
    """Return the digest of a ``claim`` entry of earlier versions, from its table."""
    fields = {"check": row["check"]} | {
        name: value
        for name, value in (EARLIER | dict(row)).items()
        if name not in EARLIER_ASIDE and value is not None and value != "" and value != []
    }
    for name in ("threshold", "limit", "low", "high"):
        if isinstance(fields.get(name), int) and not isinstance(fields.get(name), bool):
            fields[name] = float(fields[name])
    if "learned" in fields:
        fields["learned"] = {name: value for name, value in fields["learned"].items() if name != "why" and value != ""}
    return _sum(fields)


def _sum(fields: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(fields, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:16]


def knew(info: Mapping[str, object], statement: Statement) -> bool:
    """Return True if a run was started when the statement stood as it does now."""
    recorded = info.get("claims")
    return isinstance(recorded, dict) and digest(statement) in recorded.values()


def standing(paper: str, profile: str) -> Mapping[str, Mapping[str, str]]:
    """Return for every home of a run at a profile the statements that rest on it, each with its digest."""
    experiments = {item.name: item for item in CATALOGUE.experiments(paper)}
    digests: dict[str, dict[str, str]] = {}
    for statement in statements(paper):
        for name in statement.names:
            digests.setdefault(CATALOGUE.home(experiments[name], profile).name, {})[statement.id] = digest(statement)
    return digests


def history(runs: Iterable[Run], repository: Path | None) -> tuple[Counter[str], list[str]]:
    """Hold what runs recorded against published.toml at the commit that each names.

    Returns how many runs stand as recorded, otherwise, or could not be looked up, and a sentence for each that stands
    otherwise. ``repository`` is None outside a checkout.
    """
    counts: Counter[str] = Counter()
    sentences: list[str] = []
    for run in runs:
        recorded = run.info.get("claims")
        if not isinstance(recorded, dict):
            continue
        paper, commit = run.experiment.split("/")[0], str(run.info.get("commit"))
        known = None if repository is None else _at(repository, commit, f"papers/{paper}/published.toml")
        if known is None:
            counts[UNKNOWN] += 1
            continue
        wrong = [name for name, value in recorded.items() if known.get(name) != value]
        counts[OTHERWISE if wrong else AS_NOW] += 1
        sentences += [
            f"{run.experiment} {run.profile} seed {run.seed}: {name} was another one at {commit}" for name in wrong
        ]
    return counts, sentences


@cache
def _at(repository: Path, commit: str, path: str) -> Mapping[str, str] | None:
    """Return the digests of a published.toml at a commit; None if git does not have it."""
    command = ["git", "-C", str(repository), "show", "--end-of-options", f"{commit}:{path}"]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        raise StoreError("--check-history asks git, which is not installed here: install it") from None
    if done.returncode:
        return None
    table = tomllib.loads(done.stdout.decode("utf-8"))
    digests = {row["id"]: digest_of_claim(row) for row in table.get("claim", []) if "check" in row}
    for row in table.get("statement", []):
        for part in (*row["parts"], *row.get("details", ())):
            part.pop("unseen", None)  # earlier versions had it, and it decided no answer
        digests[row["id"]] = digest(msgspec.convert(row, Statement))
    return digests
