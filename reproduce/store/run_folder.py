"""The files of one run folder as bytes and text: run.json, metrics.csv, the NumPy archives, and their checks.

What enters is a finished version folder; what leaves is its run.json and its records, each compared with the
sha256 that run.json holds, or a `StoreError` that names the file and what was expected of it.
"""

import csv
import hashlib
import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lengen.records import AttentionMap, Grid, KeyCount, RecordError, key_counts_from_csv
from reproduce.store.atomic_files import StoreError, readable

SCHEMA = 1
"""Version of the layout of run.json and of the files beside it."""
RECORDS = ("metrics.csv", "grid.csv", "curve.csv", "keys.csv", "attention.npz", "arrays.npz")
"""What a run measured; each is checked against its sha256 when read."""


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
        info = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise StoreError(f"{readable(path)}: expected JSON ({reason}){repair}") from None
    if not isinstance(info, dict) or info.get("schema_version") != SCHEMA or info.get("status") != "finished":
        raise StoreError(f"{readable(path)}: expected schema_version {SCHEMA} and status finished{repair}")
    for name, kind in (("spec", dict), ("spec_hash", str), ("files", dict), ("overrides", list)):
        if not isinstance(info.get(name), kind):
            raise StoreError(f"{readable(path)}: expected '{name}' to be a JSON {kind.__name__}{repair}")
    return info


def load_records(folder: Path, info: Mapping[str, Any]) -> dict[str, Any]:
    """Records of a version folder, as keyword arguments of `Run`; each file is checked against its sha256."""
    texts = {}
    for name in RECORDS:
        if name not in info["files"]:
            continue
        path = folder / name
        try:
            texts[name] = path.read_bytes()
        except OSError as error:
            raise StoreError(
                f"{readable(path)} cannot be read ({error.strerror}): restore it, or delete its folder"
            ) from None
        if hashlib.sha256(texts[name]).hexdigest() != info["files"][name]:
            raise StoreError(damaged(path))
    name = "grid.csv" if "grid.csv" in texts else "curve.csv"
    if name not in texts:
        raise StoreError(f"{readable(folder)}: expected grid.csv or curve.csv; restore it, or delete this folder")
    try:
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
    """attention.npz: float16 ``weights`` (layers, heads, queries, keys), ``tokens``, ``n``; equal maps, equal bytes."""
    weights = attention.weights.astype(np.float16)
    tokens = np.array(attention.tokens, dtype=np.str_)
    return _archive({"weights": weights, "tokens": tokens, "n": np.array(attention.n)})


def attention_from_bytes(content: bytes) -> AttentionMap:
    """The inverse of `attention_to_bytes`; nothing in the file can run code (no pickles)."""
    try:
        arrays = arrays_from_bytes(content)
        tokens = tuple(str(token) for token in arrays["tokens"])
        return AttentionMap(tokens, arrays["weights"].astype(np.float32), int(arrays["n"]))
    except Exception:
        raise RecordError("expected a NumPy archive with the arrays weights, tokens and n") from None


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


def metrics_to_csv(rows: Iterable[tuple[int, str, float]]) -> str:
    """``step,name,value``, one row per logged number, in the order given."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("step", "name", "value"))
    writer.writerows((step, name, repr(float(value))) for step, name, value in rows)
    return out.getvalue()


def metrics_from_csv(text: str) -> tuple[tuple[int, str, float], ...]:
    """The inverse of `metrics_to_csv`; raises `RecordError` with the line of the first bad row."""
    rows = list(csv.reader(io.StringIO(text)))
    if not rows or rows[0] != ["step", "name", "value"]:
        raise RecordError("line 1: expected columns step,name,value")
    parsed = []
    for number, row in enumerate(rows[1:], start=2):
        try:
            step, name, value = row
            parsed.append((int(step), name, float(value)))
        except ValueError:
            raise RecordError(f"line {number}: expected a step, a name and a number") from None
    return tuple(parsed)
