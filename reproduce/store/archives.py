"""The NumPy archives of a run: attention maps and arrays enter, bytes leave, equal ones for equal arrays; and back.

Reading one runs none of the code that it may hold.
"""

import io
import zipfile
from collections.abc import Mapping

import numpy as np

from lengen.results.records import AttentionMap, ExampleMap, RecordError

LARGEST_ARRAYS = 2**30
"""Bytes that an archive may hold, packed or unpacked: bigger ones are no records of a run."""


def attention_to_bytes(attention: AttentionMap) -> bytes:
    """Return attention.npz: float16 ``weights`` (layers, heads, queries, keys), ``tokens``, ``n``.

    Equal maps, equal bytes.

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
    """Return the inverse of `attention_to_bytes`; nothing in the file can run code (no pickles)."""
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
    """Return a NumPy archive of named arrays in the dtype given; equal arrays give equal bytes, in whatever order.

    Raises `RecordError` for arrays of Python objects: they would be stored as pickles, which run code when read.
    """
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise RecordError(f"array '{name}': expected numbers or text, not Python objects")
    return _archive(dict(sorted(arrays.items())))


def arrays_from_bytes(content: bytes) -> dict[str, np.ndarray]:
    """Return the inverse of `arrays_to_bytes`; nothing in the file can run code (no pickles)."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as inside:
            if sum(entry.file_size for entry in inside.infolist()) > LARGEST_ARRAYS:
                raise ValueError
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except Exception:
        raise RecordError("expected a NumPy archive of arrays of numbers or text") from None


def _archive(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return the archive of `numpy.savez_compressed`, which takes no array of the name "file"."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            # opened by its name an entry has a constant date
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asarray(array, order="C"), allow_pickle=False)
    return out.getvalue()
