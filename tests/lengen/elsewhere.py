"""A second device, pretended on the CPU: what lies there cannot be combined with what lies here.

On a GPU, one tensor that was left on the CPU ends a run after hours of training. `Elsewhere` finds it without a GPU:
tensors that are moved to the device ``meta`` keep their values, and an operation on tensors of both devices raises.
"""

from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from lengen import TaskData
from lengen.callbacks.training_loss import silent
from lengen.training.build import model_for
from lengen.training.run import Measured

NAME = "meta"
MOVES = {"_to_copy", "copy_"}
"""Operations from one device to another."""
INDEXES = {"index", "index_put", "index_put_", "_unsafe_index", "_index_put_impl_"}
"""Operations that take indices from the CPU, as CUDA does."""


class There(torch.Tensor):
    """A tensor on the pretended device."""

    held: torch.Tensor

    @staticmethod
    def __new__(cls, held: torch.Tensor) -> "There":
        made: There = torch.Tensor._make_wrapper_subclass(  # type: ignore[attr-defined]
            cls, held.shape, strides=held.stride(), storage_offset=held.storage_offset(), dtype=held.dtype, device=NAME
        )
        made.held = held
        return made

    @classmethod
    def __torch_dispatch__(cls, function: Any, types: Any, arguments: Any = (), options: Any = None) -> Any:
        return _run(function, arguments, options or {})

    __torch_function__ = torch._C._disabled_torch_function_impl


class Elsewhere(TorchDispatchMode):
    """Lets tensors be moved to and made on the pretended device."""

    def __torch_dispatch__(self, function: Any, types: Any, arguments: Any = (), options: Any = None) -> Any:
        return _run(function, arguments, options or {})


def _run(function: Any, arguments: Any, options: dict[str, Any]) -> Any:
    name = function.overloadpacket.__name__
    given = [one for one in tree_leaves((arguments, options)) if isinstance(one, torch.Tensor)]
    there = [one for one in given if isinstance(one, There)]
    left = [one for one in given if one.dim() and not isinstance(one, There)]
    wanted = options.get("device")
    if there and left and name not in MOVES and not (name in INDEXES and isinstance(arguments[0], There)):
        raise RuntimeError(f"{function}: expected all tensors on one device, shapes here: {[*map(_shape, left)]}")
    if wanted is not None:
        options = {**options, "device": "cpu"}
    there_now = bool(there) if wanted is None else torch.device(wanted).type == NAME
    arguments, options = tree_map(lambda one: one.held if isinstance(one, There) else one, (arguments, options))
    made = function(*arguments, **options)
    if name.endswith("_") and not name.startswith("_"):  # in place: what was given is the result
        return given[0]
    return tree_map(lambda one: There(one) if there_now and isinstance(one, torch.Tensor) else one, made)


def _shape(tensor: torch.Tensor) -> tuple[int, ...]:
    return tuple(tensor.shape)


def measured(spec, device):
    """Records of the untrained model of a specification, measured on a device."""
    data = TaskData(spec, 0)
    model, measured = model_for(data, 0).to(device).eval(), Measured(spec, None)
    with torch.no_grad():
        for callback in measured.callbacks:
            callback.measure(model, data, silent)
    return measured.outcome({"scalars": measured.scalars})


def check_there(spec):
    """What is measured on the pretended device is what is measured on the CPU."""
    here = measured(spec, "cpu")
    with Elsewhere():
        there = measured(spec, NAME)
    assert there.grid == here.grid and there.key_counts == here.key_counts
    found, expected = numbers(there), numbers(here)
    assert found.keys() == expected.keys()
    for name, value in expected.items():  # a batch on a GPU is larger, which sums in another order
        if np.asarray(value).dtype.kind == "U":
            np.testing.assert_array_equal(found[name], value, err_msg=name)
        else:
            np.testing.assert_allclose(found[name], value, atol=1e-5, err_msg=name)


def numbers(outcome):
    """Arrays of the records, those that are no counts."""
    maps = {} if outcome.attention is None else {"attention": outcome.attention.weights}
    chance = outcome.info.get("never_left_chance", {})
    return {**outcome.arrays, **outcome.info["scalars"], **chance, **maps}
