"""The names of the package, what they give to a script, and weights as people have them."""

import ast
import hashlib
import inspect
import itertools
import json
import os
import subprocess
import sys
import textwrap
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import msgspec
import numpy as np
import pytest
import torch
from lightning import Trainer
from safetensors.torch import save_file, save_model

import lengen
from lengen import Addition, Coupled, DataSpec, Linear, ModelSpec, Spec, TaskData, TestSpec, TrainSpec, replace, verify
from lengen import trained_model as library
from lengen.digits import OperandError, operand_texts
from lengen.part import Axis, Part, kinds
from tests.fixtures.refusals import refused

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
PUBLIC = [
    name
    for name in lengen.__all__
    if inspect.isroutine(getattr(lengen, name)) or inspect.isclass(getattr(lengen, name))
]
SPEC = Spec(
    data=DataSpec(
        task=Addition(digits=2, operands=2),
        format=Linear(scratchpad=True, pad_query=True, pad_response=True, reverse_response=True),
        position_ids=Coupled((9, 9)),
    ),
    model=ModelSpec(layers=2, heads=2, width=16, head_dim=8, ff_width=16),
    train=TrainSpec(steps=4, batch=4, lr=1e-3, bucket=2, evaluations=2),
    test=TestSpec(lengths=(2, 3), counts=(2,), examples=5),
)


def test_every_name_loads_and_every_part_has_one_and_there_is_no_other():
    loaded = {name: getattr(lengen, name) for name in dir(lengen)}
    assert sorted(loaded) == sorted(lengen.__all__)
    renamed = {name for name, value in loaded.items() if getattr(value, "__name__", name).split(".")[-1] != name}
    assert not renamed
    parts = [part for axis in Axis.__subclasses__() for part in kinds(axis).values()]
    missing = {part.__name__ for part in parts if part.__module__.startswith("lengen.")} - loaded.keys()
    assert not missing
    with pytest.raises(AttributeError, match="No lengen attribute knitting"):
        _ = lengen.knitting


@pytest.mark.slow
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
        "assert not {'torch', 'lightning', 'numpy', 'msgspec'} & sys.modules.keys(); "
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


def example(text: str) -> list[str]:
    """The lines of code from ``import lengen`` and ``Trainer`` on, up to the next text."""
    lines = text.partition("    import lengen\n    from lightning")[1:]
    block = "".join(lines).splitlines()
    length = next(i for i, line in enumerate(block) if line and not line.startswith("    "))
    return [line[4:] for line in block[:length] if line]


@pytest.mark.slow
def test_the_script_of_a_dozen_lines_trains_and_measures(tmp_path):
    """That of the docstring, which is that of the documentation."""
    script = example(lengen.__doc__ or "")
    assert script == example((ROOT / "docs" / "library.md").read_text(encoding="utf-8")) and len(script) == 12
    shown = "print(trainer.global_step, sorted(grid.grid.scores))"
    done = subprocess.run(
        [sys.executable, "-c", "\n".join([*script, shown])],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},  # threads spin where cores are busy
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == f"50 {[(length, count) for length in (1, 2, 3) for count in (2, 3)]}"


def stored(folder: Path) -> Path:
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps({"spec": SPEC.to_dict()}))
    save_model(lengen.build_model(SPEC, 3), str(folder / "model.safetensors"))
    return folder


def test_a_model_of_a_folder_solves_shows_its_attention_and_is_scored(tmp_path):
    model = lengen.load(stored(tmp_path / "v1"))
    solved = model.solve([57, "48"])
    assert solved["prompt"] == "$057+048=" and solved["answer"] == "105"
    assert model.solve([57, 48]) == solved, "asking changes nothing"
    shown = model.attention([5, 7])
    length = len(shown["target"])
    assert shown["self"].shape == (2, 2, length, length)
    np.testing.assert_allclose(shown["self"].sum(axis=-1), 1, rtol=1e-5)
    data = TaskData(SPEC, 0)
    expected = verify(lengen.build_model(SPEC, 3).eval(), data.writer.write(data.test(2, 2, 50))).correct
    assert model.accuracy(length=2, examples=50) == model.accuracy(2, 2, 50) == expected.double().mean().item()
    assert lengen.load(SPEC, tmp_path / "v1" / "model.safetensors").solve([57, 48]) == solved


def test_what_cannot_be_loaded_and_a_checkpoint_of_another_module_are_one_sentence(tmp_path, monkeypatch):
    folder = stored(tmp_path / "v1")
    (folder / "model.safetensors").unlink()
    refused(library.LoadError, "has no model", lengen.load, folder)
    refused(library.LoadError, "expected the folder of a finished run", lengen.load, tmp_path)
    with pytest.raises(library.LoadError, match="weights go with a Spec; leave them out"):
        lengen.load("coupling/fig1/coupling-scratchpad", "x.safetensors")
    refused(library.LoadError, "needs its weights", lengen.load, SPEC)
    torch.save({"state_dict": {"a": torch.zeros(1)}, "hyper_parameters": {"width": 3}}, tmp_path / "x.ckpt")
    with pytest.raises(library.LoadError, match=r"is a checkpoint of another module than lengen\.SequenceModule"):
        lengen.load(tmp_path / "x.ckpt")


def nobody(name: str) -> library.Found:
    raise ValueError(f"'{name}' is none of ours")


def somebody(name: str) -> library.Found:
    if name != "theirs/run":
        raise library.LoadError(f"'{name}' is none of theirs")
    return library.Found(replace(SPEC, test={"lengths": (1,)}), None, name)


def test_every_package_that_finds_runs_is_asked(monkeypatch):
    points = [EntryPoint(name, f"{__name__}:{name}", library.GROUP) for name in ("nobody", "somebody")]
    monkeypatch.setattr(library, "entry_points", lambda group: EntryPoints(points).select(group=group))
    assert repr(lengen.load("theirs/run")) == "<theirs/run>"
    refused(ValueError, "'none' is no folder of a run, and names none: ", lengen.load, "none")
    refused(ValueError, "names none: nearest: sums-coupled", lengen.load, "sums-copled")


@pytest.mark.slow
@pytest.mark.parametrize(("page", "title"), [("README.md", "In Python"), ("docs/library.md", "# As a library")])
def test_lines_give_what_stands_beside_them(monkeypatch, page, title):
    monkeypatch.delenv("LENGEN_RESULTS", raising=False)
    block = (ROOT / page).read_text(encoding="utf-8").partition(title)[2].partition("\n## ")[0]
    lines = [line[4:] for line in block.splitlines() if line.startswith("    ")]
    known: dict[str, object] = {}
    exec("\n".join(lines[:2]), known)
    assert "lengen.load(" in lines[1]
    solved, shape, accuracy = lines[2:]
    assert repr(eval(solved, known)) == solved.partition("#")[2].strip()
    assert repr(eval(shape, known)) == shape.partition("#")[2].partition(":")[0].strip()
    assert repr(eval(accuracy, known)) == accuracy.partition("#")[2].partition(",")[0].strip()


@pytest.mark.parametrize("arguments", [
    {"length": 0}, {"length": -1}, {"length": 3.0}, {"length": "3"}, {"length": 10**9}, {"length": 2, "examples": 0},
    {"length": 2, "examples": -1}, {"length": 2, "examples": 2.0}, {"length": 2, "count": 0},
])  # fmt: skip
def test_senseless_numbers_are_refused_wherever_they_are_given(arguments):
    data = TaskData(SPEC, 0)
    given = {"length": 2, "count": 2, "examples": 5} | arguments
    refused(OperandError, "expected", data.test, **given)
    refused(OperandError, "expected", lengen.AccuracyGrid, (given["length"],), (given["count"],), given["examples"])
    refused(OperandError, "expected", lengen.AttentionMaps, [(given["length"], given["count"])], given["examples"])
    with pytest.raises(OperandError, match="expected"):
        lengen.EditDistanceCurve((given["length"],), (given["count"],), given["examples"])


@pytest.mark.parametrize("given", [3, None, torch.tensor(3)])
def test_cells_that_are_no_lists_are_refused(given):
    for make in (lengen.AccuracyGrid, lengen.LearningCurves, lambda lengths: lengen.AccuracyGrid([1], lengths)):
        refused(OperandError, r"expected a list of whole numbers", make, given)
    for pairs in (given, [given]):
        refused(OperandError, r"expected pairs", lengen.AttentionMaps, pairs)


@pytest.mark.parametrize("number", ["a", 1.5, -1, None])
def test_data_has_whole_seeds_and_steps(number):
    refused(OperandError, r"seed=.*: expected", TaskData, SPEC, number)
    refused(OperandError, r"step=.*: expected", TaskData(SPEC.to_dict(), 0).batch, number)


@pytest.mark.parametrize("given", ["57", b"57", [5.0, 4], [None], 57, [[5]], [10**5000]])
def test_operands_that_are_no_list_of_numbers(tmp_path, given):
    model = lengen.load(stored(tmp_path / "run"))
    uses = (model.solve, model.attention, model.true, lambda operands: model.answers([operands]))
    for use in (*uses, lambda operands: model.data.task.parse(operand_texts(operands))):
        refused(OperandError, "expected", use, given)
    for use in (lengen.Probes, lengen.ArithmeticData(SPEC).prompts, model.answers):
        for problems in ([given], ["12+34="], "12+34=", 57, [57, 48]):
            refused(OperandError, "expected", use, problems)


def test_whatever_stands_for_a_whole_number_is_an_operand(tmp_path):
    model = lengen.load(stored(tmp_path / "run"))
    same = [model.solve([57, 48]), model.solve(["57", np.int64(48)]), model.solve([torch.tensor(57), np.uint8(48)])]
    assert same[0] == same[1] == same[2] == model.solve(torch.tensor([57, 48]))
    rows = [[57, "48"], torch.tensor([57, 48])]
    assert model.answers(rows) == model.answers(torch.tensor([[57, 48]] * 2)) == [same[0]["read"]] * 2
    assert model.true(torch.tensor([57, 48])) == "105"


@pytest.mark.parametrize("source", ["/tmp", "x.ckpt", "gpt2", "", "no/such/run", "..", 7, None, Path("x.ckpt")])
def test_nothing_to_load_is_a_load_error(source):
    with pytest.raises(library.LoadError):
        lengen.load(source)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", '{"spec": 1}', '{"spec": {}}', json.dumps({"spec": SPEC.to_dict(), "files": []})]
)
def test_damaged_folders_and_weights_are_load_errors(tmp_path, content):
    folder = stored(tmp_path / "run")
    (folder / "run.json").write_text(content)
    refused(library.LoadError, r"expected the record of a run", lengen.load, folder)
    other = stored(tmp_path / "other")
    (other / "model.safetensors").write_bytes(b"none")
    refused(library.LoadError, "is damaged, or holds no weights", lengen.load, other)


def test_weights_other_than_those_that_the_run_recorded_are_a_load_error(tmp_path):
    folder = stored(tmp_path / "run")
    content = (folder / "model.safetensors").read_bytes()
    info = {"spec": SPEC.to_dict(), "files": {"model.safetensors": hashlib.sha256(content).hexdigest()}}
    (folder / "run.json").write_text(json.dumps(info))
    assert lengen.load(folder).true([57, 48]) == "105"
    (folder / "model.safetensors").write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    refused(library.LoadError, "is not the file its run wrote", lengen.load, folder)


@pytest.fixture
def trained(tmp_path):
    """A module, its weights, and a checkpoint that Lightning wrote unasked."""
    module = lengen.SequenceModule(SPEC, seed=3)
    trainer = Trainer(
        max_steps=1, default_root_dir=tmp_path, logger=False, enable_progress_bar=False, accelerator="cpu"
    )
    trainer.fit(module, lengen.ArithmeticData(SPEC))
    (checkpoint,) = tmp_path.rglob("*.ckpt")
    return module, checkpoint


def same(model, module) -> bool:
    return all(torch.equal(model.module.state_dict()[name], value) for name, value in module.model.state_dict().items())


def test_a_checkpoint_of_lightning_is_a_model_with_and_without_its_setting(trained):
    module, checkpoint = trained
    for model in (lengen.load(checkpoint), lengen.load(str(checkpoint)), lengen.load(SPEC, checkpoint)):
        assert same(model, module) and model.spec == SPEC
    assert lengen.load(checkpoint).solve([57, 48])["prompt"] == "$057+048="


@pytest.mark.parametrize("prefix", ["", "model.", "_orig_mod.", "model._orig_mod.", "module."])
@pytest.mark.parametrize("save", [save_file, torch.save], ids=["safetensors", "torch"])
def test_names_of_weights_may_share_a_prefix(trained, prefix, save, tmp_path):
    module, _ = trained
    weights = {prefix + name: value.clone() for name, value in module.model.state_dict().items()}
    save(weights, tmp_path / "weights")
    assert same(lengen.load(SPEC, tmp_path / "weights"), module)
    save(weights | {f"{prefix}other.weight": torch.zeros(1)}, tmp_path / "more")
    refused(library.LoadError, r"not of this model: other\.weight", lengen.load, SPEC, tmp_path / "more")
    with pytest.raises(library.LoadError, match=r"holds weights without their setting: give it, too, load\(spec,"):
        lengen.load(tmp_path / "weights")


@pytest.mark.parametrize("key", ["model", "model_state_dict"])
def test_weights_stand_beside_a_step(trained, key, tmp_path):
    module, _ = trained
    torch.save({"step": 3, key: module.model.state_dict()}, tmp_path / "weights.pt")
    assert same(lengen.load(SPEC, tmp_path / "weights.pt"), module)


class Payload:
    def __reduce__(self):
        return (print, ("executed",))


def other_formats(folder):
    """Files of other formats, each with what it is told to be."""
    weights = lengen.build_model(SPEC, 3).state_dict()
    name = next(iter(weights))
    few = {key: value for key, value in weights.items() if key != name}
    files = {
        "objects of Python beside weights": lambda path: torch.save({"a": Payload()}, path),
        "no weights by their names": lambda path: torch.save([1, 2], path),
        f"missing: {name}": lambda path: torch.save(few, path),
        f"of another shape: {name}": lambda path: torch.save(weights | {name: torch.zeros(1, 1)}, path),
        "GGUF": lambda path: path.write_bytes(b"GGUF" + bytes(40)),
        "HDF5": lambda path: path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(40)),
        "an array of NumPy": lambda path: np.save(path.open("wb"), np.zeros(3)),
        "a zip archive that torch.save did not write": lambda path: np.savez(path.open("wb"), a=np.zeros(3)),
        "a pointer of Git LFS": lambda path: path.write_text("version https://git-lfs.github.com/spec/v1\noid"),
        "JSON": lambda path: path.write_text("{}"),
        "empty": lambda path: path.write_bytes(b""),
    }
    for number, (words, write) in enumerate(files.items()):
        write(folder / f"w{number}")
        yield words, folder / f"w{number}"


def test_another_format_is_told_as_what_it_is_and_never_as_damage(tmp_path, capsys):
    for words, path in other_formats(tmp_path):
        with pytest.raises(library.LoadError) as error:
            lengen.load(SPEC, path)
        assert words in str(error.value) and "restore" not in str(error.value) and "\n" not in str(error.value), words
    assert "executed" not in capsys.readouterr().out


def test_damage_is_told_as_damage(trained, tmp_path):
    _, checkpoint = trained
    content = checkpoint.read_bytes()
    half, flipped = tmp_path / "half.ckpt", tmp_path / "flipped.ckpt"
    half.write_bytes(content[: len(content) // 2])
    place = len(content) // 2
    flipped.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
    for path in (half, flipped):
        refused(library.LoadError, r"cannot be read by torch|restore it, or run it again", lengen.load, path)


def test_a_model_is_asked_nothing_beyond_what_it_was_constructed_for():
    model = lengen.load("coupling/thm4.1/construction")
    assert model.accuracy(100, 2, examples=1) == 1.0
    for ask in (
        lambda: model.accuracy(101, 2),
        lambda: model.accuracy(3, 101, examples=1),
        lambda: model.solve(["1" * 101, "2"]),
        lambda: model.attention(["1" * 101, "2"]),
    ):
        refused(lengen.SettingError, "constructed for at most 100 operands of 100 digits", ask)


def test_a_run_that_never_left_chance_says_so_when_it_is_loaded(tmp_path):
    folder = stored(tmp_path / "v1")
    info = {"spec": SPEC.to_dict(), "notes": ["it never left chance: its loss"], "never_left_chance": {"loss": 2.0}}
    (folder / "run.json").write_text(json.dumps(info))
    with pytest.warns(UserWarning, match="v1: it never left chance") as seen:
        assert lengen.load(folder).note.startswith("it never left chance")
    assert seen[0].filename == __file__
