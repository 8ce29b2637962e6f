"""A task, format, scheme of position ids, encoding or callback that returns what it must not is refused at once."""

import re

import numpy as np
import pytest
import torch

import lengen
from lengen import SettingError
from lengen.encodings.relative import ALiBi
from lengen.formats.base import Layout
from lengen.formats.linear import LinearFormat
from lengen.position_ids.places import Consecutive
from lengen.tasks.arithmetic import PairAddition
from lengen.tasks.strings import Copy

COPY = lengen.setting("copy", digits=3)
PAIRS = lengen.setting("pair_addition", digits=3)


def after(change):
    """A method that changes what the right one returns."""
    return lambda method: lambda *given, **named: change(method(*given, **named))


def shortened(layout):
    """The layout without its last digit."""
    for column in (layout.symbols, layout.digits, layout.coordinates, layout.hints):
        del column[-2]
    return layout


def without(name):
    """A layout that lacks the last entry of a column."""
    return after(lambda layout: (getattr(layout, name).pop() and layout) or layout)


def unanswered(layout):
    """The layout with a response that never begins."""
    layout.response = 0
    return layout


TASKS = {
    # an answer with one digit in place of all: it trained, and true answers read 000
    "short": (COPY, Copy, "answer", after(lambda rows: rows[:, :1]), "Copy.answer: found shape (8, 1); expected (8, "),
    # digits that are no symbols ended in an IndexError of torch
    "large": (PAIRS, PairAddition, "answer", after(lambda rows: rows + 20), "PairAddition.answer: found values from"),
    # |a - b| by columns = a - b leaves negative digits, which read as the last symbols
    "negative": (
        PAIRS,
        PairAddition,
        "columns",
        lambda _: lambda self, operands: operands[:, 0] - operands[:, 1],
        "PairAddition.answer: found values from -",
    ),
    "floats": (COPY, Copy, "answer", after(torch.Tensor.float), "Copy.answer: found torch.float32; expected integers"),
    "bools": (COPY, Copy, "answer", after(torch.Tensor.bool), "Copy.answer: found torch.bool; expected integers"),
    "list": (COPY, Copy, "answer", after(torch.Tensor.tolist), "Copy.answer: found list; expected a tensor"),
    "fewer": (COPY, Copy, "answer", after(lambda rows: rows[:3]), "Copy.answer: found shape (3, "),
    "axes": (COPY, Copy, "answer", after(lambda rows: rows[:, None]), "Copy.answer: found shape (8, 1, "),
    "drawn": (COPY, Copy, "train", after(list), "Copy.train: found list; expected lengen.digits.Problems"),
    "operands": (
        COPY,
        Copy,
        "train",
        after(lambda p: p._replace(operands=p.operands - 1)),
        "Copy.train, operands: found",
    ),
    "lengths": (COPY, Copy, "train", after(lambda p: p._replace(lengths=p.lengths[:2])), "Copy.train, lengths: "),
    "read": (
        COPY,
        Copy,
        "parse",
        after(lambda p: p._replace(operands=(p.operands + 1) % 10)),
        "Copy.parse(['",
    ),
    "no layout": (COPY, LinearFormat, "layout", after(vars), ": found dict; expected lengen.formats.base.Layout"),
    "narrow": (COPY, LinearFormat, "layout", after(shortened), "found no slot for place"),
    "unhinted": (COPY, LinearFormat, "layout", without("hints"), "hints of "),
    "unanswered": (COPY, LinearFormat, "layout", after(unanswered), "found a response that begins at slot 0 of"),
    "levels": (
        COPY,
        LinearFormat,
        "layout",
        after(lambda layout: layout.coordinates.__setitem__(0, (0,)) or layout),
        "found other numbers of coordinates; expected 2 a slot",
    ),
    "rows": (
        COPY,
        LinearFormat,
        "layout",
        after(lambda layout: Layout.number(layout, "carries", 0, [0]) or layout),
        "found digits of rows ['carries']",
    ),
    "float ids": (COPY, Consecutive, "ids", after(torch.Tensor.float), "Consecutive.ids: found torch.float32"),
    "negative ids": (COPY, Consecutive, "ids", after(lambda ids: ids - 5), "Consecutive.ids: found values from -5 to"),
    "fewer ids": (COPY, Consecutive, "ids", after(lambda ids: ids[:, :, 1:]), "Consecutive.ids: found shape (1, 1, "),
    "ids of other examples": (COPY, Consecutive, "ids", after(lambda ids: ids.expand(1, 3, -1)), "(levels, 8 or 1, "),
}


@pytest.mark.parametrize("name", TASKS)
def test_what_a_task_a_format_and_position_ids_return_is_checked(name, monkeypatch):
    spec, cls, method, wrong, message = TASKS[name]
    lengen.TaskData(spec, 0)
    monkeypatch.setattr(cls, method, wrong(getattr(cls, method)))
    with pytest.raises(SettingError, match=re.escape(message)) as caught:
        lengen.TaskData(spec, 0)
    assert "\n" not in str(caught.value) and "; expected " in str(caught.value)


def test_stages_are_checked(monkeypatch):
    spec = lengen.setting("addition", digits=2, scratchpad=True)
    monkeypatch.setattr(lengen.Addition, "stages", after(lambda rows: rows[:, 0])(lengen.Addition.stages))
    with pytest.raises(SettingError, match=r"Addition\.stages\('running sums'\): found shape \(8, \d\)"):
        lengen.TaskData(spec, 0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda bias: bias[0], r"ALiBi\.bias: found torch\.float32 \(4, 3, 3\) for 3 ids; expected floats of"),
        (lambda bias: bias[..., :2], r"expected floats of shape \(1, 4, 3, 3\)"),
        (lambda bias: bias.long(), r"found torch\.int64"),
        (lambda bias: 1.0, r"ALiBi\.bias: found float"),
    ],
)
def test_what_an_encoding_returns_is_checked_when_it_is_built(monkeypatch, wrong, message):
    spec = lengen.setting("copy", digits=3, encoding="alibi")
    monkeypatch.setattr(ALiBi, "bias", after(wrong)(ALiBi.bias))
    with pytest.raises(SettingError, match=message):
        lengen.build_model(spec, 0)


@pytest.mark.parametrize(
    ("arrays", "scalars", "logged", "message"),
    [
        ({"a": [1]}, {}, {}, r"Measures\.arrays\['a'\]: found list; expected an array of numbers"),
        ({"a": np.array([None])}, {}, {}, r"Measures\.arrays\['a'\]: found ndarray; expected an array of numbers"),
        ({}, {"b": "1"}, {}, r"Measures\.scalars\['b'\]: found str; expected a number"),
        ({}, {}, {"c": None}, r"Measures\.logged\(\)\['c'\]: found NoneType; expected a number"),
    ],
)
def test_what_a_callback_leaves_is_checked(arrays, scalars, logged, message):
    class Measures(lengen.Measurement):
        def measure(self, model, data, report):
            self.arrays, self.scalars = arrays, scalars

        def logged(self):
            return logged

    with pytest.raises(TypeError, match=message):
        lengen.train(COPY, steps=1, batch=2, callbacks=Measures())


def test_the_check_draws_nothing_from_the_streams_of_others():
    torch.manual_seed(3)
    before = torch.random.get_rng_state()
    lengen.TaskData(COPY, 0)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_a_task_whose_problems_nobody_types_is_not_refused():
    assert lengen.TaskData(lengen.setting("fill"), 0).task.kind == "fill"
