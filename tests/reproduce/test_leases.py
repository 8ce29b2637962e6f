"""Leases of runs, and what the doctor says of a machine."""

import os
import shutil
import subprocess
import sys
import time
from collections import namedtuple
from pathlib import Path

import pytest

from reproduce.cli import main
from reproduce.commands import doctor
from reproduce.store import lease as leases
from reproduce.store.files import StoreError
from reproduce.store.lease import LEASE, BusyError, LostError, leased
from reproduce.store.store import LocalStore
from tests.fixtures.program import CHECKOUT, started
from tests.fixtures.toy_paper import SPEC, outcome
from tests.reproduce.test_runner import wait_until

KEY = ("toy/fig1/alpha", "cpu", 0, SPEC.hash())
INFO = {"spec": SPEC.to_dict(), "overrides": []}


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(leases, "STALE", 0.5)
    monkeypatch.setattr(leases, "HEARTBEAT", 0.1)
    leases._lease.cache_clear()
    yield
    leases._lease.cache_clear()


def of_another_machine(home: Path) -> str:
    """The lease that a process of another machine would have written now."""
    with leased(home):
        lines = (home / LEASE).read_text().splitlines()
    other = {"host": "host=elsewhere", "token": "token=" + 32 * "a"}
    return "".join(f"{other.get(line.partition('=')[0], line)}\n" for line in lines)


def test_a_lease_names_its_owner_beats_while_it_is_held_and_notices_its_loss(tmp_path, quick):
    with leased(tmp_path):
        text = (tmp_path / LEASE).read_text()
        assert f"pid={os.getpid()}\n" in text and "token=" in text and "host=" in text
        with pytest.raises(BusyError, match="by this process already"), leased(tmp_path):
            pass
    assert list(tmp_path.iterdir()) == []
    with leased(tmp_path) as held:
        first = (tmp_path / LEASE).stat().st_mtime_ns
        wait_until(lambda: (tmp_path / LEASE).stat().st_mtime_ns > first)
        held.check()
    with pytest.raises(LostError), leased(tmp_path) as held:
        held.glance()
        (tmp_path / LEASE).unlink()
        for _ in range(500):
            time.sleep(0.02)
            held.glance()


def test_a_lease_of_another_machine_is_taken_over_when_its_heart_stopped(tmp_path, quick):
    (tmp_path / LEASE).write_text(of_another_machine(tmp_path))
    began = time.monotonic()
    with pytest.raises(BusyError, match=r"being written by process \d+ on elsewhere"), leased(tmp_path):
        pass
    for _ in range(4):  # a heart that beats
        time.sleep(0.2)
        os.utime(tmp_path / LEASE)
        with pytest.raises(BusyError), leased(tmp_path):
            pass
    assert time.monotonic() - began > leases.STALE
    with leased(tmp_path, tell=print):
        assert f"pid={os.getpid()}\n" in (tmp_path / LEASE).read_text()


def test_a_lease_that_a_killed_process_left_empty_is_cleared(tmp_path, monkeypatch):
    """It was killed after it made the file, before it wrote who it is."""
    monkeypatch.setattr(leases, "EMPTY", 0.4)
    (tmp_path / LEASE).touch()
    with pytest.raises(BusyError, match="a process that just ended"), leased(tmp_path):
        pass
    began = time.monotonic()
    with leased(tmp_path, tell=print):
        assert f"pid={os.getpid()}\n" in (tmp_path / LEASE).read_text()
    assert 0.2 < time.monotonic() - began < 20
    (tmp_path / LEASE).touch()
    for _ in range(100):  # as a command asks again and again that does not wait
        try:
            with leased(tmp_path):
                break
        except BusyError:
            time.sleep(0.1)
    assert not (tmp_path / LEASE).exists()


def test_who_lost_its_lease_publishes_nothing(tmp_path, quick):
    store = LocalStore(tmp_path)
    with pytest.raises(LostError, match=r"taken over by process \d+ on elsewhere"), store.workspace(*KEY) as space:
        lease = space.folder.parent / LEASE
        successor = space.folder.parent / "successor"
        successor.write_text(lease.read_text().replace("token=", "token=0").replace("host=", "host=elsewhere?"))
        os.replace(successor, lease)
        space.publish(INFO, outcome())
    assert LocalStore(tmp_path).runs() == [] and lease.exists(), "and its successor keeps its lease"


def test_leases_of_other_settings_are_refused_in_one_sentence(tmp_path, quick):
    """A version with another rhythm wrote it: neither knows when the other counts as gone."""
    (tmp_path / LEASE).write_text(of_another_machine(tmp_path).replace("duration=0.5", "duration=7.0"))
    with pytest.raises(StoreError, match=r"\.lease.*must agree") as error, leased(tmp_path):
        pass
    assert "\n" not in str(error.value)


@pytest.mark.slow
def test_nothing_needs_fcntl(tmp_path):
    code = (
        "import sys; sys.modules['fcntl'] = None\n"
        "from pathlib import Path\n"
        "import reproduce.cli, reproduce.commands.run, reproduce.commands.show_results\n"
        "from reproduce.store.store import LocalStore\n"
        "from tests.fixtures.toy_paper import outcome\n"
        f"with LocalStore(Path({str(tmp_path)!r})).workspace(*{KEY!r}) as space:\n"
        f"    print(space.publish({INFO!r}, outcome()).version)\n"
        f"with LocalStore(Path({str(tmp_path)!r})).workspace(*{KEY!r}) as space: pass\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr


@pytest.mark.slow
def test_four_commands_share_the_work_and_a_killed_one_is_succeeded(results):
    """Never one run twice, SIGKILL included; who finds a run in other hands goes on with the next."""
    results.mkdir()
    log, words = results / "log", ("run", "toy/fig1", "--seeds", "0..5", "--jobs")
    commands = [started(results, *words, workers, kind="TellsWhen") for workers in ("1", "1", "1", "2")]
    victim = commands[0]
    try:
        wait_until(lambda: log.exists() and f" {victim.pid}\n" in log.read_text())
        victim.kill()
        said = [command.communicate(timeout=120)[1] for command in commands]
    finally:
        for command in commands:
            command.kill()
            command.wait()
    assert [command.returncode for command in commands[1:]] == [0, 0, 0], said
    events = [line.split() for line in log.read_text().splitlines()]
    open_runs: dict[str, str] = {}
    for what, run, pid in events:
        if what == "began":
            assert open_runs.get(run) in (None, str(victim.pid)), "two processes made one run at one time"
            open_runs[run] = pid
        else:
            assert open_runs[run] == pid
    ended = [run for what, run, _ in events if what == "ended"]
    assert sorted(set(ended)) == sorted(f"{name}-{seed}" for name in ("alpha", "beta") for seed in range(6))
    # a run whose process was killed between its end and its name is made again
    assert len(ended) - len(set(ended)) <= 1
    assert len({pid for what, _, pid in events if what == "ended"} - {str(victim.pid)}) >= 2, "the work is shared"
    versions = sorted(path.parent.name for path in results.glob("local/**/run.json"))
    assert versions == ["v1"] * 12
    assert not list(results.glob("local/**/.lease*")), "nothing is left behind"


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("LENGEN_RESULTS", str(tmp_path / "results"))
    monkeypatch.setenv("COLUMNS", "180")
    monkeypatch.setattr("lengen.training.compilation.compile_line", lambda: None)
    return tmp_path / "results"


def test_a_healthy_machine_has_a_line_for_everything_and_leaves_no_trace(root, capsys):
    code = main(["doctor"])
    shown = capsys.readouterr()
    lines = shown.out.splitlines()
    assert [line[5:18].strip() for line in lines] == [
        "Python", "processor", "disk", "permission", "leases", "stale leases", "packages", "git", "torch", "CUDA",
        "compiler",
    ]  # fmt: skip
    assert ["loading torch" in line or "trying torch.compile" in line for line in shown.err.splitlines()] == [True] * 2
    assert code == any(line.startswith("look") for line in lines)
    assert all(line.startswith("ok") for line in lines[3:6])
    assert not root.exists() and list(root.parent.iterdir()) == []


def test_python_processors_disks_and_cuda_have_remedies(root, monkeypatch):
    assert "install Python 3.11" in doctor.python((3, 9, 2)).remedy and not doctor.python((3, 11, 0)).remedy
    assert "AVX2" in doctor.instructions("old", ("fma",)).remedy
    assert not doctor.instructions("unknown", ()).remedy and not doctor.instructions("new", ("avx2",)).remedy
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(10**9, 10**9, 10**6))
    assert "make room" in doctor.disk(root).remedy
    assert not doctor.cuda("12.8", "H100", "570.1").remedy and not doctor.cuda("12.8", "", "").remedy
    assert "pytorch.org" in doctor.cuda("", "", "570.1").remedy
    assert "update the driver" in doctor.cuda("13.0", "", "470.1").remedy


def test_a_folder_that_cannot_be_written_is_named(root, monkeypatch):
    """The system's refusal is made up, because root may write everywhere."""

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkdtemp", refuse)
    (finding,) = doctor.folder(root)
    assert "Permission denied" in finding.state and "LENGEN_RESULTS" in finding.remedy


@pytest.mark.parametrize("below", ["", "deeper"])
def test_a_file_where_results_should_be_is_named(root, capsys, below):
    root.write_text("a file")
    (finding,) = doctor.folder(root / below)
    assert "results is no folder" in finding.state and "LENGEN_RESULTS" in finding.remedy
    assert main(["doctor"]) == 1 and "is no folder" in capsys.readouterr().out


def test_a_file_system_that_holds_no_lease_is_named(root, monkeypatch):
    monkeypatch.setattr("os.fsync", lambda handle: None)

    def broken(*_, **__):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr("filelock.SoftFileLease.acquire", broken)
    *_, finding = doctor.folder(root.parent)
    assert finding.what == "leases" and "Function not implemented" in finding.state and finding.remedy


def test_a_silent_lease_is_named_and_left_alone(root):
    home = root / "local/toy/fig1/alpha/cpu/seed-0"
    with leased(home):
        now = (home / LEASE).stat().st_mtime
        assert doctor.silent_leases(root, now).state == "none"
        finding = doctor.silent_leases(root, now + 2 * leases.STALE + 1)
        assert f"process {os.getpid()}" in finding.state and "takes them over" in finding.remedy
        assert (home / LEASE).exists()


def test_packages_that_are_not_those_of_the_lock_are_named(tmp_path, monkeypatch):
    (tmp_path / "requirements.lock").write_text("numpy==0.0.1 \\\n    --hash=sha256:0\nno-such-package==1.0\n")
    monkeypatch.setattr("reproduce.store.checkout.checkout", lambda: tmp_path)
    finding = doctor.packages()
    assert "for 0.0.1" in finding.state and "no-such-package absent for 1.0" in finding.state and finding.remedy
    monkeypatch.setattr("reproduce.store.checkout.checkout", lambda: None)
    assert not doctor.packages().remedy


def test_a_line_is_compiled(monkeypatch):
    def broken() -> None:
        raise OSError("failed to map segment")

    monkeypatch.setattr("lengen.training.compilation.compile_line", broken)
    found = doctor.compiler()
    assert "failed to map segment" in found.state and "trainings go on uncompiled" in found.remedy
    monkeypatch.setattr("lengen.training.compilation.compile_line", lambda: None)
    assert not doctor.compiler().remedy
