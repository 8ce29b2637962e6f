"""Weights as people have them, what is no weights of a setting, and what a loaded model refuses."""

import json

import numpy as np
import pytest
import torch
from lightning import Trainer
from safetensors.torch import save_file

import lengen
from lengen import loading as library
from tests.fixtures.refusals import refused
from tests.lengen.test_face import SPEC, stored


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


def test_a_checkpoint_of_another_module_says_so(tmp_path):
    torch.save({"state_dict": {"a": torch.zeros(1)}, "hyper_parameters": {"width": 3}}, tmp_path / "x.ckpt")
    with pytest.raises(library.LoadError, match=r"is a checkpoint of another module than lengen\.SequenceModule"):
        lengen.load(tmp_path / "x.ckpt")


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
