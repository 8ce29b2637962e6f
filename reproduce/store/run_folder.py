"""The files of one run folder as bytes and text: run.json, metrics.csv, the NumPy archives, and their checks.

What enters is a finished version folder; what leaves is its run.json and its records, each compared with the
sha256 that run.json holds, or a `StoreError` that names the file and what was expected of it.
"""

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from lengen.config.spec import SpecError, from_dict
from lengen.records import AttentionMap, ExampleMap, Grid, KeyCount, RecordError, key_counts_from_csv, metrics_from_csv
from reproduce.store.atomic_files import StoreError, read_bytes, readable

SCHEMA = 2
"""Version of run.json; no other is read."""
SCORES = "scores.csv"
"""The counts of a run, which every run has."""
RECORDS = ("metrics.csv", SCORES, "keys.csv", "attention.npz", "arrays.npz")
"""What a run measured; each is checked against its sha256 when read."""


LARGEST_ARRAYS = 2**30
"""Bytes that an archive may hold, packed or unpacked: bigger ones are no records of a run."""
LARGEST_TEXT = 2**24
"""Bytes of the longest run.json or table that is read; read, it takes some twenty times as much memory."""


SUM = "sum"
"""Field of run.json with the sha256 of all its others; runs of before there was one lack it."""


def sealed(info: Mapping[str, Any]) -> dict[str, Any]:
    """A run.json with its sum, as it reads back.

    >>> whole = sealed({"seed": 3, "scalars": {"steps": 0.5}})
    >>> intact(whole), intact({**whole, "seed": 2}), intact({"seed": 2})
    (True, False, True)
    """
    plain = json.loads(json.dumps({name: value for name, value in info.items() if name != SUM}))
    return {**plain, SUM: _sum(plain)}


def intact(info: Mapping[str, Any]) -> bool:
    """Whether a run.json is what was sealed, or never was."""
    return SUM not in info or info[SUM] == _sum(info)


def _sum(info: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in info.items() if name != SUM}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


class Form(msgspec.Struct, frozen=True, kw_only=True):
    """What a run.json holds, as far as it is read; runs of different ages hold more or less."""

    spec: dict[str, Any]
    spec_hash: str
    files: dict[str, str]
    overrides: list[str]
    experiment: str = ""
    profile: str = ""
    seed: int = 0
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
    kernels: dict[str, Any] = {}


def damaged(path: Path) -> str:
    return (
        f"{readable(path)} is not the file its run wrote: expected the sha256 that stands in run.json; "
        "restore it, or delete its version folder"
    )


def load_info(folder: Path) -> dict[str, Any]:
    """run.json of a version folder, checked for form."""
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
    for name, kind in (("spec", dict), ("spec_hash", str), ("files", dict), ("overrides", list)):
        if not isinstance(info.get(name), kind):
            raise StoreError(f"{readable(path)}: expected '{name}' to be a JSON {kind.__name__}{repair}")
    try:
        if b"\\u" in content:  # halves of a character are written so, and nothing else that is no text
            json.dumps(info, ensure_ascii=False).encode()
        msgspec.convert(info, Form)
        from_dict(info["spec"])
    except UnicodeEncodeError:
        raise StoreError(f"{readable(path)}: expected Unicode text{repair}") from None
    except (msgspec.ValidationError, SpecError, RecursionError) as error:
        raise StoreError(f"{readable(path)}: {str(error).replace('`', '')}{repair}") from None
    if not intact(info):
        raise StoreError(f"{readable(path)} has changed since its run wrote it: expected the sum it holds{repair}")
    return info


def load_records(folder: Path, info: Mapping[str, Any]) -> dict[str, Any]:
    """Records of a version folder, as keyword arguments of `Run`; each file is checked against its sha256."""
    texts = {}
    for name in RECORDS:
        if name not in info["files"]:
            continue
        path = folder / name
        try:
            texts[name] = read_bytes(path, LARGEST_ARRAYS if path.suffix == ".npz" else LARGEST_TEXT)
        except OSError as error:
            raise StoreError(
                f"{readable(path)} cannot be read ({error.strerror}): restore it, or delete its folder"
            ) from None
        if hashlib.sha256(texts[name]).hexdigest() != info["files"][name]:
            raise StoreError(damaged(path))
    if SCORES not in texts:
        raise StoreError(f"{readable(folder)}: expected {SCORES}; restore it, or delete this folder")
    try:
        name = SCORES
        grid = Grid.from_csv(texts[name].decode())
        name = "metrics.csv"
        metrics = metrics_from_csv(texts[name].decode()) if name in texts else ()
        name = "keys.csv"
        keys: list[KeyCount] = key_counts_from_csv(texts[name].decode()) if name in texts else []
        name = "attention.npz"
        attention = attention_from_bytes(texts[name]) if name in texts else None
        name = "arrays.npz"
        arrays = arrays_from_bytes(texts[name]) if name in texts else {}
    except (RecordError, UnicodeDecodeError) as error:
        raise StoreError(f"{readable(folder / name)}, {error}; restore it, or delete its folder") from None
    return {"grid": grid, "metrics": metrics, "key_counts": keys, "attention": attention, "arrays": arrays}


def attention_to_bytes(attention: AttentionMap) -> bytes:
    """attention.npz: float16 ``weights`` (layers, heads, queries, keys), ``tokens``, ``n``; equal maps, equal bytes.

    Where examples were kept, uint8 ``examples`` (examples, layers, heads, queries, keys) and their ``example_tokens``.
    """
    arrays = {
        "weights": attention.weights.astype(np.float16),
        "tokens": np.array(attention.tokens, dtype=np.str_),
        "n": np.array(attention.n),
    }
    if attention.examples:
        arrays["examples"] = np.stack([example.weights for example in attention.examples])
        arrays["example_tokens"] = np.array([example.tokens for example in attention.examples], dtype=np.str_)
    return _archive(arrays)


def attention_from_bytes(content: bytes) -> AttentionMap:
    """The inverse of `attention_to_bytes`; nothing in the file can run code (no pickles)."""
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


def _texts(tokens: np.ndarray) -> tuple[str, ...]:
    return tuple(str(token) for token in tokens)


def arrays_to_bytes(arrays: Mapping[str, np.ndarray]) -> bytes:
    """A NumPy archive of named arrays in the dtype given; equal arrays give equal bytes, in whatever order.

    Raises `RecordError` for arrays of Python objects: they would be stored as pickles, which run code when read.
    """
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise RecordError(f"array '{name}': expected numbers or text, not Python objects")
    return _archive(dict(sorted(arrays.items())))


def arrays_from_bytes(content: bytes) -> dict[str, np.ndarray]:
    """The inverse of `arrays_to_bytes`; nothing in the file can run code (no pickles)."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as inside:
            if sum(entry.file_size for entry in inside.infolist()) > LARGEST_ARRAYS:
                raise ValueError
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except Exception:
        raise RecordError("expected a NumPy archive of arrays of numbers or text") from None


def _archive(arrays: Mapping[str, np.ndarray]) -> bytes:
    """The archive of `numpy.savez_compressed`, which takes no array of the name "file"."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            # opened by its name an entry has a constant date
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asarray(array, order="C"), allow_pickle=False)
    return out.getvalue()
