"""The files of one run folder: run.json, tables and archives, and their checks.

What enters is a finished version folder; what leaves is its run.json and its records, each compared with the
sha256 that run.json holds, or a `StoreError` that names the file and what was expected of it.
"""

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from lengen.part import SettingError
from lengen.results.records import AttentionMap, ExampleMap, Grid, RecordError, key_counts_from_csv, metrics_from_csv
from lengen.settings.spec import from_dict
from reproduce.store.files import StoreError, read_bytes, readable

if TYPE_CHECKING:
    import numpy as np  # takes a tenth of a second, and who counts runs reads no arrays

SCHEMA = 2
"""Version of run.json; no other is read."""
SCORES = "scores.csv"
"""The counts of a run, which every run has."""
ATTENTION, ARRAYS = "attention.npz", "arrays.npz"
WEIGHTS, CHECKPOINT = "model.safetensors", "last.ckpt"
LARGEST_TEXT = 2**24
"""Bytes of the longest run.json or table that is read; read, it takes some twenty times as much memory."""
LARGEST_ARRAYS = 2**30
"""Bytes that an archive may hold, packed or unpacked: bigger ones are no records of a run."""
SUM = "sum"
"""Field of run.json with the sha256 of all its others; runs of before there was one lack it."""


def sealed(info: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run.json with its sum, as it reads back.

    >>> whole = sealed({"seed": 3, "scalars": {"steps": 0.5}})
    >>> intact(whole), intact({**whole, "seed": 2}), intact({"seed": 2})
    (True, False, True)
    """
    plain = json.loads(json.dumps({name: value for name, value in info.items() if name != SUM}))
    return {**plain, SUM: _sum(plain)}


def intact(info: Mapping[str, Any]) -> bool:
    """Return True if a run.json is unchanged since it was sealed, or never was sealed."""
    return SUM not in info or info[SUM] == _sum(info)


def _sum(info: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in info.items() if name != SUM}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """Fields of a run, as far as a program reads them; runs of different ages hold more or less."""

    spec_hash: str
    files: dict[str, str]
    scalars: dict[str, float] = {}
    notes: list[str] = []
    claims: dict[str, str] = {}
    command: str = ""
    commit: str = ""
    dirty: bool = False
    versions: dict[str, str] = {}
    platform: str = ""
    processor: str = ""
    instruction_sets: list[str] = []
    device: str = ""
    steps_on: dict[str, int] = {}
    dtype: str = ""
    threads: int = 1
    parameters: int = 0
    started: str = ""
    finished: str = ""
    seconds: float = 0.0
    seconds_training: float = 0.0
    seconds_measuring: float = 0.0
    seconds_per_step: float = 0.0
    tokens_per_second: float = 0.0
    weights_sha256: str = ""
    never_left_chance: dict[str, float] = {}
    operand_lengths: dict[str, Any] = {}
    kernels: dict[str, Any] = {}
    kernels_of: dict[str, dict[str, Any]] = {}


class Form(Known, frozen=True, kw_only=True):
    """Fields of a run.json."""

    spec: dict[str, Any]
    overrides: list[str]
    experiment: str = ""
    profile: str = ""
    seed: int = 0


def damaged(path: Path, content: bytes = b"", wanted: str = "") -> str:
    """Return the sentence for a file without the sha256 ``wanted``, with the remedy if git rewrote its line ends."""
    if b"\r\n" in content and hashlib.sha256(content.replace(b"\r\n", b"\n")).hexdigest() == wanted:
        return (
            f"git changed the line ends of {readable(path)}, so it is not the file its run wrote: type git config "
            "core.autocrlf false, then git read-tree HEAD, then git checkout -- results"
        )
    expected = "expected the sha256 that the run recorded; restore it, or delete its folder"
    return f"{readable(path)} is not the file its run wrote: {expected}"


def load_info(folder: Path) -> dict[str, Any]:
    """Return the run.json of a version folder, checked for form."""
    path = folder / "run.json"
    repair = "; restore it, or delete its folder"
    try:
        content = read_bytes(path, LARGEST_TEXT)
        info = json.loads(content)
    except StoreError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise StoreError(f"{readable(path)}: expected JSON ({reason}){repair}") from None
    if isinstance(info, dict) and isinstance(version := info.get("schema_version"), int) and version != SCHEMA:
        who, remedy = "an older", "delete its folder and run it again"
        if version > SCHEMA:
            who, remedy = "a newer", "update this one, or delete its folder"
        raise StoreError(
            f"{readable(path)}: expected schema_version {SCHEMA}, and {who} program wrote {version}: {remedy}"
        )
    if not isinstance(info, dict) or info.get("schema_version") != SCHEMA or info.get("status") != "finished":
        raise StoreError(f"{readable(path)}: expected schema_version {SCHEMA} and status finished{repair}")
    try:
        if b"\\u" in content:  # halves of a character are written so, and nothing else that is no text
            json.dumps(info, ensure_ascii=False).encode()
        msgspec.convert(info, Form)
        from_dict(info["spec"])
    except UnicodeEncodeError:
        raise StoreError(f"{readable(path)}: expected Unicode text{repair}") from None
    except (msgspec.ValidationError, SettingError, RecursionError) as error:
        raise StoreError(f"{readable(path)}: {str(error).replace('`', '')}{repair}") from None
    if not intact(info):
        raise StoreError(
            f"{readable(path)} has changed since its run wrote it: its contents do not match the sum it holds{repair}"
        )
    return info


def load_records(folder: Path, info: Mapping[str, Any]) -> dict[str, Any]:
    """Return the records of a version folder, as keyword arguments of `Run`; each file is checked by its sha256."""
    records = {}
    for name, (field, read) in RECORDS.items():
        if name not in info["files"]:
            continue
        path = folder / name
        try:
            content = read_bytes(path, LARGEST_ARRAYS if path.suffix == ".npz" else LARGEST_TEXT)
            if hashlib.sha256(content).hexdigest() != info["files"][name]:
                raise StoreError(damaged(path, content, info["files"][name]))
            records[field] = read(content)
        except OSError as error:
            fault = "restore it, or delete its folder"
            raise StoreError(f"{readable(path)} cannot be read ({error.strerror}): {fault}") from None
        except (RecordError, UnicodeDecodeError) as error:
            raise StoreError(f"{readable(path)}, {error}; restore it, or delete its folder") from None
    if "grid" not in records:
        raise StoreError(f"{readable(folder)}: expected {SCORES}; restore it, or delete this folder")
    return records


def attention_to_bytes(attention: AttentionMap) -> bytes:
    """Return attention.npz: float16 ``weights`` (layers, heads, queries, keys), ``tokens``, ``n``.

    Equal maps give equal bytes.

    Where examples were kept, uint8 ``examples`` (examples, layers, heads, queries, keys) and their ``example_tokens``.
    """
    import numpy as np

    texts = np.array(attention.tokens, dtype=np.str_)
    arrays = {"weights": attention.weights.astype(np.float16), "tokens": texts, "n": np.array(attention.n)}
    if attention.examples:
        arrays["examples"] = np.stack([example.weights for example in attention.examples])
        arrays["example_tokens"] = np.array([example.tokens for example in attention.examples], dtype=np.str_)
    return _archive(arrays)


def attention_from_bytes(content: bytes) -> AttentionMap:
    """Return the inverse of `attention_to_bytes`; nothing in the file can run code (no pickles)."""
    import numpy as np

    try:
        arrays = arrays_from_bytes(content)
        examples = tuple(
            ExampleMap(_texts(tokens), weights.astype(np.uint8))
            for tokens, weights in zip(arrays.get("example_tokens", ()), arrays.get("examples", ()), strict=True)
        )
        weights = arrays["weights"].astype(np.float32)
        return AttentionMap(_texts(arrays["tokens"]), weights, int(arrays["n"]), examples)
    except Exception:
        raise RecordError("expected a NumPy archive with the arrays weights, tokens and n") from None


def _texts(tokens: "np.ndarray") -> tuple[str, ...]:
    return tuple(str(token) for token in tokens)


def arrays_to_bytes(arrays: Mapping[str, "np.ndarray"]) -> bytes:
    """Return a NumPy archive of named arrays in the dtype given; equal arrays give equal bytes, in whatever order.

    Raises `RecordError` for arrays of Python objects: they would be stored as pickles, which run code when read.
    """
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise RecordError(f"array '{name}': expected numbers or text, not Python objects")
    return _archive(dict(sorted(arrays.items())))


def arrays_from_bytes(content: bytes) -> dict[str, "np.ndarray"]:
    """Return the inverse of `arrays_to_bytes`; nothing in the file can run code (no pickles)."""
    import numpy as np

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as inside:
            if sum(entry.file_size for entry in inside.infolist()) > LARGEST_ARRAYS:
                raise ValueError
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except Exception:
        raise RecordError("expected a NumPy archive of arrays of numbers or text") from None


def _archive(arrays: Mapping[str, "np.ndarray"]) -> bytes:
    """Return the archive of `numpy.savez_compressed`, which takes no array of the name "file"."""
    import numpy as np

    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            # opened by its name an entry has a constant date
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asarray(array, order="C"), allow_pickle=False)
    return out.getvalue()


RECORDS: Mapping[str, tuple[str, Callable[[bytes], Any]]] = {
    "metrics.csv": ("metrics", lambda content: metrics_from_csv(content.decode())),
    SCORES: ("grid", lambda content: Grid.from_csv(content.decode())),
    "keys.csv": ("key_counts", lambda content: key_counts_from_csv(content.decode())),
    ATTENTION: ("attention", attention_from_bytes),
    ARRAYS: ("arrays", arrays_from_bytes),
}
"""Files with the records of a run -> field of `Run`, and what reads it."""
