"""Files of weights as people have them: safetensors, what `torch.save` wrote, checkpoints of Lightning."""

import zipfile
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

FOREIGN = {
    b"GGUF": "a file of GGUF", b"\x89HDF": "a file of HDF5", b"\x93NUMPY": "an array of NumPy", b"{": "JSON",
    b"version https://git-lfs": "a pointer of Git LFS, whose file was not fetched", b"\x1f\x8b": "compressed",
}  # fmt: skip
"""Beginnings of files of other formats."""
EXPECTED = "expected safetensors, a state_dict of torch.save, or a checkpoint of Lightning"


class WeightsError(ValueError):
    """A file of weights that cannot be loaded; one sentence."""


def torch_file(path: Path) -> Any:
    """Return what `torch.save` wrote, if it is weights and plain data: nothing in it is executed.

    It takes no more memory than the file is long. Whatever the reader raises is raised.
    """
    if zipfile.is_zipfile(path):
        # torch compares no checksums when it reads, and would take a flipped bit for a weight.
        with zipfile.ZipFile(path) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > path.stat().st_size:
                raise ValueError("it is compressed")
            if (entry := archive.testzip()) is not None:
                raise ValueError(f"{entry} has changed")
    return torch.load(path, map_location="cpu", weights_only=True)


def content(path: Path) -> Any:
    """Return the tensors of a safetensors file by their names, or what `torch.save` wrote; raises `WeightsError`."""
    try:
        with path.open("rb") as file:
            start = file.read(32)
        if (sort := next((sort for magic, sort in FOREIGN.items() if start.startswith(magic)), "")) or not start:
            raise WeightsError(f"{path} is {sort or 'empty'}: {EXPECTED}")
        if not start.startswith((b"PK", b"\x80")):
            return load_file(path)
        if zipfile.is_zipfile(path) and not any(name.endswith("data.pkl") for name in zipfile.ZipFile(path).namelist()):
            raise WeightsError(f"{path} is a zip archive that torch.save did not write: {EXPECTED}")
        return torch_file(path)
    except WeightsError:
        raise
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise WeightsError(f"{path} cannot be read ({error.strerror}): {EXPECTED}") from None
    except (SafetensorError, ValueError) as error:
        reason = " ".join(str(error).split())[:120] or "no message"
        raise WeightsError(f"{path} is damaged, or holds no weights ({reason}): restore it, or run it again") from None
    except Exception as error:  # whatever bytes make the reader of torch raise
        if "weights_only" in str(error) or "Weights only" in str(error):
            fault = f"{path} holds objects of Python beside weights, which may be a whole model"
            raise WeightsError(f"{fault}, and is not executed: save model.state_dict()") from None
        raise WeightsError(f"{path} cannot be read by torch ({type(error).__name__}): save it again") from None


BESIDE = ("state_dict", "model_state_dict", "model")
"""Keys under which Lightning, tutorials of torch and nanoGPT store weights."""


def fill(model: nn.Module, path: Path) -> None:
    """Set the weights of a model to those of a file; raises `WeightsError`.

    Names may share a prefix, as those of a module that holds the model (``model.``) or of a compiled one
    (``_orig_mod.``); weights may stand beside a step or an optimizer, under one of the keys `BESIDE`.
    """
    held = content(path)
    held = held if not isinstance(held, dict) else next((held[key] for key in BESIDE if key in held), held)
    if not isinstance(held, dict) or not held or not all(isinstance(each, Tensor) for each in held.values()):
        raise WeightsError(f"{path} holds no weights by their names: {EXPECTED}")
    wanted = model.state_dict()
    weights = without_prefix({str(name): each for name, each in held.items()}, wanted)
    present = {wanted[name].data_ptr() for name in wanted if name in weights}
    missing = [name for name in wanted if name not in weights and wanted[name].data_ptr() not in present]
    extra = [name for name in weights if name not in wanted]
    other = [name for name in wanted if name in weights and wanted[name].shape != weights[name].shape]
    lists = (("missing", missing), ("not of this model", extra), ("of another shape", other))
    faults = [f"{what}: {', '.join(names[:3])}{' and more' * (len(names) > 3)}" for what, names in lists if names]
    if faults:
        raise WeightsError(f"{path} does not hold the weights of this setting ({'; '.join(faults)})")
    model.load_state_dict(weights, strict=False)


def without_prefix(weights: dict[str, Tensor], wanted: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return weights without the beginnings that all their names share, if none of them is wanted as it is.

    >>> list(without_prefix({"model._orig_mod.a": torch.zeros(1), "model._orig_mod.b.c": torch.zeros(1)}, {}))
    ['a', 'b.c']
    """
    while not weights.keys() & wanted.keys():
        firsts = {name.partition(".")[0] for name in weights}
        if len(firsts) > 1 or not all("." in name for name in weights):
            break
        weights = {name.partition(".")[2]: each for name, each in weights.items()}
    return weights
