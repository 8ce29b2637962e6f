"""Kernels of a training: chosen by a rule, left if they fail, kept with the run; compiled, the training is the same."""

import contextlib
import inspect
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch.utils import cpp_extension

from lengen import SequenceModule, TaskData, execute, replace
from lengen.callbacks.loggers import METRICS
from lengen.this_machine import Machine
from lengen.training import compilation as kernels
from lengen.training.compilation import FILE, WORTH_COMPILING, Kernels, choose, missing_compiler, use
from lengen.training.operation_counts import training_seconds
from lengen.training.run import WEIGHTS
from tests.fixtures.settings import TEST, TRAIN, data_spec, kill_at, spec

pytestmark = pytest.mark.slow

SHORT = spec(
    data_spec("addition", 1, 2, room=8),
    replace(TRAIN, steps=6, evaluations=3, bucket=3, lr=1e-2, precision="bf16-products"),
    replace(TEST, lengths=(1,), counts=(2,), examples=4),
    layers=1,
)
COMPILED = replace(SHORT, train={"compile": True, "precision": "32-true"}, model={"dropout": 0.1})
needs_compiler = pytest.mark.skipif(missing_compiler() is not None, reason="nothing can be compiled here: no compiler")
LONG = replace(SHORT, train=replace(SHORT.train, steps=1_000_000, precision="32-true"))
"""Days of training: compiling pays."""
PROGRAM = """
from tests.lengen.training.test_kernels import COMPILED
from lengen.data.task_data import TaskData
from lengen.training.compilation import Kernels, use
from lengen.training.module import SequenceModule
module, data = SequenceModule(COMPILED), TaskData(COMPILED, 0)
print(use(Kernels(products="none", compiled=True, why=""), module, data))
module.training_step(data.batch(0), 0).backward()
"""


def trained(folder, setting=SHORT, report=lambda progress: None):
    folder.mkdir(exist_ok=True)
    return execute(setting, 0, folder, report)


def test_the_choice_is_recorded_with_its_reason_and_float32_rounds_nothing(tmp_path):
    found = trained(tmp_path).info["kernels"]
    assert found["products"] in ("native", "emulated") and not found["compiled"] and found["why"]
    assert json.loads((tmp_path / FILE).read_text()) == found
    setting = replace(SHORT, train=replace(SHORT.train, precision="32-true"))
    assert trained(tmp_path / "single", setting).info["kernels"]["products"] == "none"


@pytest.mark.parametrize("kept", ["native", "emulated"])
def test_a_run_that_goes_on_takes_the_choice_in_its_folder(tmp_path, kept):
    choice = Kernels(products=kept, compiled=False, why="as before")
    (tmp_path / FILE).write_text(json.dumps({"products": kept, "compiled": False, "why": "as before"}))
    assert trained(tmp_path).info["kernels"] == {"products": kept, "compiled": False, "why": choice.why}


@pytest.mark.parametrize("damaged", [b"", b"{", b'{"products": "fast", "compiled": 1}', b"\xff"])
def test_a_damaged_choice_is_made_again(tmp_path, damaged):
    (tmp_path / FILE).write_bytes(damaged)
    assert "why" in trained(tmp_path).info["kernels"]


def test_no_clock_is_read_and_every_seed_trains_alike(monkeypatch):
    """A choice is a function of specification, device and processor: no seed, no time, no file enters."""
    assert list(inspect.signature(choose).parameters) == ["spec", "device"]
    for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time", "perf_counter_ns"):
        monkeypatch.setattr(time, name, lambda: pytest.fail("a clock was read"))
    assert choose(SHORT, "cpu") == choose(SHORT, "cpu")
    source = Path(kernels.__file__).read_text()
    assert not re.search(r"\btime\b|\bclock\b\(", re.sub(r'"""(.|\n)*?"""', "", source))


@pytest.mark.parametrize(("sets", "products"), [
    ((), "emulated"), (("avx2", "avx512f"), "emulated"), (("avx512_bf16",), "native"), (("amx_bf16",), "native"),
])  # fmt: skip
def test_products_are_rounded_by_processors_that_can(monkeypatch, sets, products):
    monkeypatch.setattr(kernels, "machine", lambda: Machine("any", sets, 2))
    assert choose(SHORT, "cpu").products == products
    assert choose(SHORT, "cuda").products == "native"


def test_compiling_has_to_be_paid_back_within_the_run(monkeypatch):
    monkeypatch.setattr(kernels, "missing_compiler", lambda: None)
    assert training_seconds(SHORT) < WORTH_COMPILING < training_seconds(LONG)
    assert not choose(SHORT, "cpu").compiled and choose(LONG, "cpu").compiled
    for steps, compiled in ((kernels.UPDATES_WORTH_COMPILING - 1, False), (kernels.UPDATES_WORTH_COMPILING, True)):
        assert choose(replace(SHORT, train=replace(SHORT.train, steps=steps)), "cuda").compiled is compiled
    with torch._inductor.config.patch("triton.cudagraphs", True):
        graphs = choose(replace(SHORT, train=replace(SHORT.train, steps=kernels.UPDATES_WORTH_GRAPHS)), "cuda")
    assert graphs.compiled and "with CUDA graphs" in graphs.why
    monkeypatch.setattr(kernels, "missing_compiler", lambda: "there is no C++ compiler")
    assert choose(LONG, "cpu") == Kernels(products="none", compiled=False, why="there is no C++ compiler")


def falls_back(tmp_path, capfd, setting=COMPILED):
    """Train; return the choice of the run, which went on without and is the plain training."""
    info = trained(tmp_path / "run", setting).info
    (line,) = [line for line in capfd.readouterr().err.splitlines() if "training goes on without" in line]
    assert json.loads((tmp_path / "run" / FILE).read_text()) == info["kernels"], "written after it was tried"
    trained(tmp_path / "plain", replace(setting, train=replace(setting.train, compile=False)))
    one, two = (load_file(tmp_path / folder / WEIGHTS) for folder in ("run", "plain"))
    assert all(torch.equal(one[name], two[name]) for name in two)
    return info["kernels"], line


@pytest.mark.parametrize("error",
    [OSError("failed to map segment"), RuntimeError("/usr/bin/ld: cannot find -ltorch"), AssertionError()])  # fmt: skip
def test_whatever_a_compiler_raises_training_goes_on(tmp_path, capfd, monkeypatch, error):
    def broken(*arguments, **options):
        raise error

    monkeypatch.setattr(kernels, "missing_compiler", lambda: None)
    monkeypatch.setattr(kernels, "compile_line", broken)
    found, line = falls_back(tmp_path, capfd)
    assert not found["compiled"] and type(error).__name__ in found["why"] and str(error) in line


def test_a_choice_that_was_kept_and_fails_now_is_left(tmp_path, capfd, monkeypatch):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / FILE).write_text('{"products": "none", "compiled": true, "why": "before"}')
    monkeypatch.setattr(kernels, "compile_line", lambda device: 1 / 0)
    found, _ = falls_back(tmp_path, capfd)
    assert not found["compiled"] and found["why"].startswith("before; torch.compile failed: ZeroDivisionError")


class Eager:
    """A model's call as one that a compiler made, which fails at the update that it is given."""

    def __init__(self, module, fails_at):
        self.module, self.fails_at = module, fails_at

    def __call__(self, *given, **named):
        if self.module.global_step == self.fails_at:
            raise RuntimeError("no graph\nfor this shape")
        return self.module.model._call_impl(*given, **named)


def test_a_graph_that_fails_in_mid_training_is_recorded(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(kernels, "missing_compiler", lambda: None)

    def compiled(module, data, context):
        module.model._compiled_call_impl = Eager(module, 3)

    monkeypatch.setattr(kernels, "_compile", compiled)
    found, line = falls_back(tmp_path, capfd)
    reason = "torch.compile failed: RuntimeError: no graph for this shape"
    assert found["compiled"] and found["why"] == f"train.compile=true; not compiled from update 4 on: {reason}"
    assert reason in line


def test_an_error_of_the_model_itself_is_no_failed_compilation(capfd):
    module = SequenceModule(COMPILED)
    module.model._compiled_call_impl = Eager(module, 0)
    kernels._guard(module, lambda *_: pytest.fail("it was recorded"))
    with pytest.raises((TypeError, AttributeError)):
        module.model(None)


def test_a_processor_that_cannot_round_is_emulated(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(kernels, "machine", lambda: Machine("any", ("amx_bf16",), 2))
    monkeypatch.setattr(kernels, "rounded_products", lambda *_: 1 / 0)
    assert use(choose(SHORT, "cpu"), SequenceModule(SHORT), TaskData(SHORT, 0)).products == "emulated"
    assert "native products failed" in capfd.readouterr().err


@needs_compiler
@pytest.mark.parametrize("broken", ["compiler", "space"])
def test_with_a_broken_compiler_or_a_space_in_a_path(tmp_path, broken):
    """As it is on machines: other errors come out of torch than a test would think of."""
    space = tmp_path / "a folder"
    space.mkdir()
    change = {"CXX": "/bin/false"} if broken == "compiler" else {"TMPDIR": str(space)}
    change |= {"TORCHINDUCTOR_CACHE_DIR": str(space / "cache")}
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])} | change
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "compiled=False" in done.stdout and done.stderr.count("training goes on without") == 1


def test_what_is_compiled_first_is_what_a_training_step_runs(monkeypatch):
    """Of a step in mixed precision all would be compiled again."""
    entered = []

    @contextlib.contextmanager
    def context():
        entered.append(True)
        yield
        entered.append(False)

    monkeypatch.setattr(kernels, "compile_line", lambda device: None)
    module, data = SequenceModule(COMPILED), TaskData(COMPILED, 0)
    monkeypatch.setattr(module.model, "compile", lambda **options: None)
    monkeypatch.setattr(torch.autograd, "backward", lambda loss: entered.append(loss.dim()))
    assert use(Kernels(products="none", compiled=True, why=""), module, data, context).compiled
    assert entered == [True, False, 0], "the backward pass runs outside, as Lightning's does"


@needs_compiler
def test_a_model_that_is_not_compiled_again_says_so():
    """torch leaves code of further shapes uncompiled with a warning, which no run would record."""
    kernels.compile_line()
    assert torch._dynamo.config.recompile_limit >= 8 * kernels.SETTINGS_AT_ONCE
    call = torch.compile(lambda x, more: x + 1 if more else x, backend="eager")
    with torch._dynamo.config.patch(recompile_limit=1):
        call(torch.ones(2), True)
        with pytest.raises(torch._dynamo.exc.FailOnRecompileLimitHit):
            call(torch.ones(2), False)


def test_code_of_earlier_settings_is_dropped_and_without_a_compiler_there_is_none(monkeypatch):
    resets = []
    monkeypatch.setattr(kernels, "_COMPILED", set())
    monkeypatch.setattr(torch._dynamo, "reset", lambda: resets.append(len(kernels._COMPILED)))
    for setting in [*"aabcd", "a", "e", "a"]:
        kernels._forget_others(setting)
    assert len(resets) == 1 and {"e", "a"} == kernels._COMPILED
    monkeypatch.setenv("PATH", "")
    assert missing_compiler() == "there is no C++ compiler"
    with torch._dynamo.config.patch(disable=True):
        assert missing_compiler() == "TORCHDYNAMO_DISABLE is set"


@needs_compiler
def test_a_compiled_training_is_the_plain_one_and_goes_on_bit_equally(tmp_path, monkeypatch):
    """Losses agree to rounding; killed and resumed, the compiled weights and losses are the same bytes."""
    setting = COMPILED
    assert trained(tmp_path / "whole", setting).info["kernels"]["compiled"]
    kill_at(5, monkeypatch, trained, tmp_path / "killed", setting)
    trained(tmp_path / "killed", setting)
    for name in (METRICS, WEIGHTS):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    plain, compiled = SequenceModule(setting), SequenceModule(setting)
    data = TaskData(setting, 0)
    use(Kernels(products="none", compiled=True, why=""), compiled, data)
    for step in range(4):
        batch = data.batch(step)
        torch.testing.assert_close(
            compiled.training_step(batch, 0), plain.training_step(batch, 0), rtol=1e-5, atol=1e-5
        )
    torch._dynamo.reset()  # as if the next batch had a shape of its own
    monkeypatch.setattr("torch._inductor.compile_fx.compile_fx", lambda *_, **__: 1 / 0)
    left = []
    kernels._guard(compiled, lambda update, error: left.append((update, type(error).__name__)))
    for step in range(2):
        batch = data.batch(step)
        assert torch.equal(compiled.training_step(batch, 0), plain.training_step(batch, 0))
    assert left == [(1, "BackendCompilerFailed")]


def test_a_folder_with_a_space_is_linked_by_a_path_without_one(tmp_path, monkeypatch):
    """torch 2.13 quotes no -L, so that a linker sees two folders."""
    libraries = tmp_path / "my code" / "lib"
    libraries.mkdir(parents=True)
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "cache"))
    for _ in range(2):
        monkeypatch.setattr(cpp_extension, "TORCH_LIB_PATH", str(libraries))
        kernels._link_without_space()
        link = Path(cpp_extension.TORCH_LIB_PATH)
        assert " " not in link.name and link.parent == tmp_path / "cache" and link.resolve() == libraries.resolve()
