"""The face: every name loads, types hold, and importing it changes nothing."""

import ast
import inspect
import itertools
import subprocess
import sys
import textwrap
from pathlib import Path

import msgspec
import pytest

import lengen
from lengen.part import Axis, Part, kinds

ROOT = Path(__file__).parents[2]
SLIPS = """\
import lengen
lengen.NoSuchThing
lengen.TrainSpec(stepz=3)
lengen.AccuracyGrid(lenghts=(1,), counts=(2,))
lengen.Addition(digit=2)
lengen.load("coupling/thm4.1/construction").accuracy(length="3")
lengen.problems("addition", "six")
lengen.evaluate("01", "addition")
steps: str = lengen.setting("copy").train.steps
lengen.train("copy", seed="0")
lengen.ExactMatch().update([1], [1])
right: lengen.Spec = lengen.replace(lengen.setting("copy", digits=2), train={"steps": 3})
grid: lengen.AccuracyGrid = lengen.AccuracyGrid(lengths=(1,), counts=(1,))
"""


def test_every_name_loads_and_every_part_has_one():
    loaded = {name: getattr(lengen, name) for name in dir(lengen)}
    assert sorted(loaded) == sorted(lengen.__all__)
    renamed = {name for name, value in loaded.items() if getattr(value, "__name__", name).split(".")[-1] != name}
    assert not renamed
    parts = [part for axis in Axis.__subclasses__() for part in kinds(axis).values()]
    missing = {part.__name__ for part in parts if part.__module__.startswith("lengen.")} - loaded.keys()
    assert not missing


def test_a_type_checker_finds_each_slip_of_a_script_and_nothing_else(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SLIPS)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(script)]  # as make lint: one cache
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    lines = [line.partition("script.py:")[2] for line in done.stdout.splitlines() if ": error:" in line]
    assert {int(line.partition(":")[0]) for line in lines} == set(range(2, 12)), done.stdout + done.stderr


def test_importing_is_light_and_changes_nothing():
    code = (
        "import os, sys; before = dict(os.environ); import lengen; assert dict(os.environ) == before; "
        "lengen.Addition(digits=2), lengen.__version__; assert not {'torch', 'numpy', 'pandas'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def fields_with_a_docstring(part):
    """Names of a record's own fields that a string follows, with those of its bases."""
    named = set()
    for cls in part.__mro__:
        if not cls.__module__.startswith("lengen."):
            continue
        body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0].body
        for field, text in itertools.pairwise(body):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
                named.add(field.target.id)
    return named


PUBLIC = [
    name
    for name in lengen.__all__
    if inspect.isroutine(getattr(lengen, name)) or inspect.isclass(getattr(lengen, name))
]


@pytest.mark.parametrize("name", PUBLIC)
def test_every_function_and_class_has_an_example_and_says_what_it_takes(name):
    value = getattr(lengen, name)
    text = inspect.getdoc(value)
    assert "\nExample:\n    >>> " in text
    if inspect.isclass(value) and (
        inspect.isabstract(value) or (issubclass(value, Axis) and not issubclass(value, Part))
    ):
        return
    if inspect.isclass(value) and issubclass(value, msgspec.Struct | tuple):
        fields = value.__struct_fields__ if issubclass(value, msgspec.Struct) else value._fields
        assert set(fields) <= fields_with_a_docstring(value)
    elif not (inspect.isclass(value) and issubclass(value, Exception)) and inspect.signature(value).parameters:
        assert "\nArgs:\n" in text
