"""Files of strangers: bytes that somebody else made enter every reader there is, and one sentence or a record leaves.

A `Reader` holds what its files look like and what reading one means; `attack` gives it so many of them, chosen by
hypothesis: whole ones with a byte changed, cut short, or swapped, and made-up ones that look like the right kind. No
error may leave but the reader's own, no file may be written outside of its folder, nothing may be started or executed,
and memory stays within `MEMORY`.
"""

import functools
import io
import json
import math
import resource
import struct
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from safetensors.torch import save

from lengen.callbacks.accuracy_grid import sealed, unsealed
from lengen.callbacks.loggers import read_metrics
from lengen.callbacks.resuming import CheckpointError, checked
from lengen.models.weight_files import WeightsError
from lengen.part import SettingError
from lengen.results.records import AttentionMap, Grid, RecordError, Run, key_counts_from_csv, metrics_from_csv
from lengen.settings.spec import from_dict, validate
from lengen.training.compilation import ChosenKernels
from lengen.training.model_building import build_model, load
from reproduce import catalogue
from reproduce.comparison import published_statements
from reproduce.figures import Drawn
from reproduce.pages import site
from reproduce.store.files import StoreError
from reproduce.store.lease import silent
from reproduce.store.run_folder import SUM, arrays_from_bytes, arrays_to_bytes, attention_from_bytes, attention_to_bytes
from reproduce.store.store import LocalStore
from stress.watched import watched
from tests.fixtures.toy_paper import SPEC, outcome
from tests.lengen.test_execute import SPEC as TRAINED

MEMORY = 2**30
"""Bytes that reading foreign files may add to this process, all of them together: what one archive may unpack to."""
LONGEST = 2000
"""Characters of the longest sentence."""
RUN = "toy/fig1/alpha/cpu/seed-0/v1"
MARK = "zzinjected"
"""Name of an element and of an attribute that no page of ours has."""

text = st.text(max_size=12) | st.sampled_from(
    [
        f"<{MARK}>", f"</script><{MARK}>", f'" on{MARK}="1', f"' on{MARK}='1", f"]]><{MARK}>", f"--><{MARK}>",
        f"{{{{ {MARK} }}}}", "javascript:alert(1)", f"&lt;{MARK}&gt;", "\x1b[2J", "\u202e", "../../x", "\0", "a|b\nc",
    ]
)  # fmt: skip
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)
json_text = plain.map(lambda value: json.dumps(value).encode())


def damaged(content: bytes) -> st.SearchStrategy[bytes]:
    """The content cut short, with bytes changed, swapped, or more than there were; or other bytes altogether."""
    at = st.integers(0, len(content) - 1)
    byte = st.integers(0, 255).map(lambda value: bytes([value]))
    cut = at.map(lambda index: content[:index])
    changed = st.builds(lambda i, new: content[:i] + new + content[i + 1 :], at, byte)
    flipped = st.builds(
        lambda i, bit: content[:i] + bytes([content[i] ^ 1 << bit]) + content[i + 1 :], at, st.integers(0, 7)
    )
    longer = st.builds(lambda i, more: content[:i] + more + content[i:], at, st.binary(max_size=20))
    twice = st.builds(lambda i, j: content[: max(i, j)] + content[min(i, j) :], at, at)
    return cut | changed | flipped | longer | twice | st.binary(max_size=200)


class Reader(NamedTuple):
    """One kind of file."""

    name: str
    files: st.SearchStrategy[bytes]
    read: Callable[[Path, bytes], object]
    """Given a folder of its own and the content."""
    errors: tuple[type[Exception], ...]
    """Its own errors, each of one sentence."""
    share: float = 1.0
    """Of the inputs, as its reading takes more or less time."""


class Attacked(NamedTuple):
    """What became of the inputs of one reader."""

    inputs: int
    refused: int
    """Those that ended in a sentence; the others are records of their kind."""
    seconds: float


@functools.cache
def finished(place: Path) -> tuple[Path, dict[str, Any]]:
    """A store with one finished run, and the content of its run.json, without the sum that no stranger would match."""
    store = LocalStore(place)
    with store.workspace("toy/fig1/alpha", "cpu", 0, SPEC.hash()) as space:
        space.publish({"spec": SPEC.to_dict(), "overrides": []}, outcome())
    info = json.loads((place / "local" / RUN / "run.json").read_text())
    return place, {name: value for name, value in info.items() if name != SUM}


def _with_run_json(folder: Path, content: bytes) -> None:
    place, _ = finished(folder / "store")
    (place / "local" / RUN / "run.json").write_bytes(content)
    store = LocalStore(place)
    for run in store.headers():
        loaded = store.load(run)
        if outcome().grid == loaded.grid:
            Page(_rendered(loaded))


def _run_json() -> st.SearchStrategy[bytes]:
    with tempfile.TemporaryDirectory() as place:
        _, info = finished(Path(place))
    whole = json.dumps(info).encode()
    one = st.tuples(st.sampled_from(sorted(info)), plain).map(lambda pair: json.dumps({**info, pair[0]: pair[1]}))
    return damaged(whole) | one.map(str.encode) | json_text | st.just(b"[" * 100_000) | st.just(b"9" * 5000)


def _with_record(name: str) -> Callable[[Path, bytes], None]:
    """A record in its place, as if its sum had been changed with it."""

    def read(folder: Path, content: bytes) -> None:
        import hashlib

        place, info = finished(folder / "store")
        home = place / "local" / RUN
        (home / name).write_bytes(content)
        files = {**info["files"], name: hashlib.sha256(content).hexdigest()}
        (home / "run.json").write_text(json.dumps({**info, "files": files}))
        for run in LocalStore(place).runs():
            assert run.grid is not None
        (home / name).write_bytes(outcome().grid.to_csv().encode() if name == "scores.csv" else b"step,name,value\n")

    return read


def _settings(folder: Path, content: bytes) -> None:
    found = from_dict(json.loads(content))
    validate(found)
    assert found.hash()


def _setting(values: Mapping[str, Any], path: list[str], value: Any) -> bytes:
    """Settings with one thing in them replaced, however deep."""
    whole = json.loads(json.dumps(values))
    holder = whole
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    return json.dumps(whole).encode()


def _paths(values: Mapping[str, Any], above: tuple[str, ...] = ()) -> list[list[str]]:
    found = [[*above, name] for name in values]
    return found + [
        path for name, value in values.items() if isinstance(value, dict) for path in _paths(value, (*above, name))
    ]


def _text_of(read: Callable[[str], object]) -> Callable[[Path, bytes], object]:
    return lambda folder, content: read(content.decode(errors="replace"))


def _file(name: str, read: Callable[[Path], object]) -> Callable[[Path, bytes], object]:
    def from_file(folder: Path, content: bytes) -> object:
        (folder / name).write_bytes(content)
        return read(folder / name)

    return from_file


def _header_of_an_array(shape: object, kind: object, order: object) -> bytes:
    """An archive whose array says that it is of this shape and kind, and holds nothing."""
    header = repr({"descr": kind, "fortran_order": order, "shape": shape}).encode() + b"\n"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header) % 65536) + header)
    return out.getvalue()


ARRAYS = arrays_to_bytes({"weights": np.zeros((1, 1, 2, 2), np.float16), "tokens": np.array(["a", "b"])})
MAP = attention_to_bytes(AttentionMap(("1", "+"), np.full((1, 1, 2, 2), 0.5, np.float32), 3))
kinds_of_arrays = st.sampled_from(["<f4", "<f8", "|O", "<U9", "|S999999999", "<U99999999999", [("a", "|O")], "nosuch"])
shapes = st.sampled_from([(2,), (10**12,), (-1,), (2**62, 2**62), (10**6,) * 3, "x", (), (0,) * 70])
made_up_arrays = st.builds(_header_of_an_array, shapes, kinds_of_arrays, st.booleans() | st.none())
TOML = b'[[statement]]\nid = "adds"\nplace = "Figure 1"\nwords = "s"\nquote = ""\nparts = []\n'
TOML += b'[[table]]\nprefix = "n"\nplace = "p"\nlengths = [1]\nrows = [["a", "b", "c", [1.0]]]\n'


def _bomb() -> bytes:
    """A small checkpoint that says it unpacks to 64 GiB."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(f"archive/data/{number}", bytes(2**20))
    content = bytearray(out.getvalue())
    for place in range(len(content) - 4):  # the sizes in the central directory
        if content[place : place + 4] == b"PK\x01\x02":
            content[place + 24 : place + 28] = struct.pack("<I", 2**32 - 2)
    return bytes(content)


@functools.cache
def _checkpoint() -> bytes:
    out = io.BytesIO()
    torch.save({"state_dict": {"a": torch.arange(3.0)}, "global_step": 1, "loops": {}}, out)
    return out.getvalue()


@functools.cache
def _weights() -> bytes:
    return save({name: tensor.contiguous() for name, tensor in build_model(TRAINED, 0).state_dict().items()})


def _header_of_weights(header: object, size: int) -> bytes:
    body = json.dumps(header).encode()
    return struct.pack("<Q", size if size >= 0 else len(body)) + body + bytes(64)


tensors = st.fixed_dictionaries(
    {
        "dtype": st.sampled_from(["F32", "F64", "BF16", "I64", "X", 3]),
        "shape": st.lists(st.integers(-2, 2**62), max_size=3),
        "data_offsets": st.lists(st.integers(-2, 2**62), max_size=3),
    }
)
made_up_weights = st.builds(
    _header_of_weights, st.dictionaries(text, tensors | plain, max_size=3), st.sampled_from([-1, 0, 2**40, 2**63])
)


class Page(HTMLParser):
    """Raises for an element, an attribute or a link that no page of ours has."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert MARK not in tag, f"element {tag}"
        for name, value in attrs:
            assert not name.startswith("on") and MARK not in name, f"attribute {name}"
            assert name not in ("href", "src") or not (value or "").strip().lower().startswith("javascript"), value


def _page(folder: Path, content: bytes) -> None:
    """The page of a run in which a stranger wrote every text that run.json and the tables hold."""
    given = json.loads(content)
    words = [str(word) for word in given["words"]] or [""]
    said = functools.partial(lambda at: words[at % len(words)])
    info = {
        "spec": SPEC.to_dict() | {"train": {**SPEC.to_dict()["train"], said(0): given["value"]}},
        "spec_hash": said(1), "overrides": [said(2)], "command": said(3), "finished": said(4), "commit": said(5),
        "device": said(6), "platform": said(7), "dtype": said(8), "parameters": given["value"], "notes": [said(9)],
        "versions": {said(10): said(11)}, "scalars": {said(12): given["value"]}, "seconds_training": said(13),
    }  # fmt: skip
    tokens = (said(14), said(15))
    looked = AttentionMap(tokens, np.zeros((1, 1, 2, 2), np.float32), 1)
    grid = outcome().grid
    run = Run(f"toy/fig1/{said(16)}", "cpu", 0, 1, "local", info, grid, (), looked, ((1, said(17), 0.5),))
    Page(_rendered(run))


def _rendered(run: Run) -> str:
    """The page of a figure with one run."""
    runs = {run.experiment: [run]}
    return site.rendered("\n\n".join(["# toys", *site.exact_counts(None, (), runs), *site.sections(runs)]))


page_inputs = st.fixed_dictionaries({"words": st.lists(text, min_size=1, max_size=21), "value": plain}).map(
    lambda given: json.dumps(given).encode()
)


def readers() -> list[Reader]:
    """Every reader of a file that somebody else may have made."""
    grid, rows = outcome().grid.to_csv().encode(), b"step,name,value\n1,loss,0.5\n2,loss,nan\n"
    long_number = b"step,name,value\n" + b"9" * 5000 + b",loss,1\n"
    values = SPEC.to_dict()
    one_setting = st.builds(_setting, st.just(values), st.sampled_from(_paths(values)), plain)
    lease = b"pid=1234\nhost=host=h?1\ntoken=token=0123456789abcdef0123456789abcdef\n"
    return [
        Reader("run.json", _run_json(), _with_run_json, (StoreError,), 0.3),
        Reader("settings", one_setting | json_text, _settings, (SettingError,)),
        Reader("scores.csv", damaged(grid), _with_record("scores.csv"), (StoreError,), 0.5),
        Reader("metrics.csv", damaged(rows) | st.just(long_number), _with_record("metrics.csv"), (StoreError,), 0.5),
        Reader("tables", damaged(grid), _text_of(Grid.from_csv), (RecordError,)),
        Reader("metrics", damaged(rows), _text_of(metrics_from_csv), (RecordError,)),
        Reader("key counts", damaged(b"length,count,layer,head,steps,keys_sum\n1,2,3,4,5,6\n"),
               _text_of(key_counts_from_csv), (RecordError,)),
        Reader("metrics of a killed run", damaged(rows), _file("metrics.csv", read_metrics), ()),
        Reader("partial scores", damaged(sealed(grid.decode(), "").encode()),
               _text_of(functools.partial(unsealed, of="")), (RecordError,)),
        Reader("kernels.json", damaged(b'{"products":"none","compiled":false,"why":"x"}') | json_text,
               _file("kernels.json", lambda path: ChosenKernels(path.parent)._kept()), ()),
        Reader("drawn.json", damaged(b'{"a": ["b", "c"]}') | json_text,
               _file("local/drawn.json", lambda path: Drawn(path.parent.parent).is_current(path, "x")), ()),
        Reader("lease", damaged(lease), _file(".lease", lambda path: silent(path, 10**12)), (), 0.3),
        Reader("published.toml", damaged(TOML) | st.just(b"a = " + b"[" * 50_000),
               _file("published.toml", catalogue.load), (catalogue.PublishedError,)),
        Reader("published entries", plain.map(lambda value: json.dumps({"statement": [value]}).encode()),
               lambda folder, content: published_statements.parse(json.loads(content), "made", {}, "toy"),
               (catalogue.PublishedError,)),
        Reader("arrays.npz", damaged(ARRAYS) | made_up_arrays, lambda _, content: arrays_from_bytes(content),
               (RecordError,)),
        Reader("attention.npz", damaged(MAP) | made_up_arrays, lambda _, content: attention_from_bytes(content),
               (RecordError,)),
        Reader("checkpoint", damaged(_checkpoint()) | st.just(_bomb()), _file("last.ckpt", checked),
               (CheckpointError,), 0.5),
        Reader("weights", damaged(_weights()) | made_up_weights,
               _file("model.safetensors", lambda path: load(TRAINED, path)), (WeightsError,), 0.1),
        Reader("report", page_inputs, _page, (), 0.3),
    ]  # fmt: skip


def attack(reader: Reader, number: int, folder: Path, start: int = 0) -> Attacked:
    """Give a reader so many files; raises at the first one that it does not answer as it should.

    ``start`` chooses which: equal numbers give equal files.
    """
    began, counted = time.monotonic(), {"inputs": 0, "refused": 0}
    (folder / "local").mkdir(parents=True, exist_ok=True)

    @seed(start)
    @settings(
        max_examples=number, deadline=None, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(content=reader.files)
    def tried(content: bytes) -> None:
        counted["inputs"] += 1
        with watched(folder) as seen:
            try:
                reader.read(folder, content)
            except reader.errors as error:
                counted["refused"] += 1
                said = str(error)
                assert said and len(said) < LONGEST, said
        assert not seen, seen

    tried()
    return Attacked(counted["inputs"], counted["refused"], round(time.monotonic() - began, 1))


def shared(everyone: list[Reader], number: int) -> dict[str, int]:
    """How many of so many files each reader gets."""
    shares = sum(reader.share for reader in everyone)
    return {reader.name: math.ceil(number * reader.share / shares) for reader in everyone}


def attack_all(number: int, folder: Path, start: int = 0) -> tuple[dict[str, Attacked], int]:
    """So many files in all, or some more, shared among the readers; by reader, and the bytes that the process grew
    by."""
    everyone = readers()
    numbers = shared(everyone, number)
    for reader in everyone:  # what is loaded by the first of them is no memory that files take
        attack(reader, 2, folder / "first", start)
    before = peak()
    found = {}
    for reader in everyone:
        home = folder / reader.name.replace(" ", "-")
        found[reader.name] = attack(reader, numbers[reader.name], home, start)
    return found, peak() - before


def peak() -> int:
    """The most memory that this process has held so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
