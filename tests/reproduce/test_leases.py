"""Leases: one writer a run, whoever dies, on whatever file system; several commands share the work."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reproduce.store import files
from reproduce.store.files import LEASE, BusyError, LostError, StoreError, leased
from reproduce.store.store import LocalStore
from tests.fixtures.program import CHECKOUT, started
from tests.fixtures.toy_paper import SPEC, outcome
from tests.reproduce.test_runner import wait_until

KEY = ("toy/fig1/alpha", "cpu", 0, SPEC.hash())
INFO = {"spec": SPEC.to_dict(), "overrides": []}


@pytest.fixture
def quick(monkeypatch):
    """Leases that are left behind after half a second."""
    monkeypatch.setattr(files, "STALE", 0.5)
    monkeypatch.setattr(files, "HEARTBEAT", 0.1)
    files._lease.cache_clear()
    yield
    files._lease.cache_clear()


def of_another_machine(home: Path) -> str:
    """The lease that a process of another machine would have written now."""
    with leased(home):
        lines = (home / LEASE).read_text().splitlines()
    other = {"host": "host=elsewhere", "token": "token=" + 32 * "a"}
    return "".join(f"{other.get(line.partition('=')[0], line)}\n" for line in lines)


def test_a_lease_names_its_owner_and_is_gone_when_it_ends(tmp_path):
    with leased(tmp_path):
        text = (tmp_path / LEASE).read_text()
        assert f"pid={os.getpid()}\n" in text and "token=" in text and "host=" in text
        with pytest.raises(BusyError, match="by this process already"), leased(tmp_path):
            pass
    assert list(tmp_path.iterdir()) == []


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
    assert time.monotonic() - began > files.STALE
    with leased(tmp_path, tell=print):
        assert f"pid={os.getpid()}\n" in (tmp_path / LEASE).read_text()


def test_a_lease_that_a_killed_process_left_empty_is_cleared(tmp_path, monkeypatch):
    """It was killed after it made the file, before it wrote who it is."""
    monkeypatch.setattr(files, "EMPTY", 0.4)
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


def test_heartbeats_keep_a_lease(tmp_path, quick):
    with leased(tmp_path) as held:
        first = (tmp_path / LEASE).stat().st_mtime_ns
        wait_until(lambda: (tmp_path / LEASE).stat().st_mtime_ns > first)
        held.check()


def test_who_lost_its_lease_publishes_nothing(tmp_path, quick):
    store = LocalStore(tmp_path)
    with pytest.raises(LostError, match=r"taken over by process \d+ on elsewhere"), store.workspace(*KEY) as space:
        lease = space.folder.parent / LEASE
        successor = space.folder.parent / "successor"
        successor.write_text(lease.read_text().replace("token=", "token=0").replace("host=", "host=elsewhere?"))
        os.replace(successor, lease)
        space.publish(INFO, outcome())
    assert LocalStore(tmp_path).runs() == [] and lease.exists(), "and its successor keeps its lease"


def test_a_heartbeat_finds_out_and_the_next_report_ends_the_run(tmp_path, quick):
    with pytest.raises(LostError), leased(tmp_path) as held:
        held.glance()
        (tmp_path / LEASE).unlink()
        for _ in range(500):
            time.sleep(0.02)
            held.glance()


def test_leases_of_other_settings_are_refused_in_one_sentence(tmp_path, quick):
    """A version with another rhythm wrote it: neither knows when the other counts as gone."""
    (tmp_path / LEASE).write_text(of_another_machine(tmp_path).replace("duration=0.5", "duration=7.0"))
    with pytest.raises(StoreError, match=r"\.lease.*must agree") as error, leased(tmp_path):
        pass
    assert "\n" not in str(error.value)


def test_nothing_needs_fcntl(tmp_path):
    code = (
        "import sys; sys.modules['fcntl'] = None\n"
        "from pathlib import Path\n"
        "import reproduce.cli, reproduce.commands.run, reproduce.commands.results\n"
        "from reproduce.store.store import LocalStore\n"
        "from tests.fixtures.toy_paper import outcome\n"
        f"with LocalStore(Path({str(tmp_path)!r})).workspace(*{KEY!r}) as space:\n"
        f"    print(space.publish({INFO!r}, outcome()).version)\n"
        f"with LocalStore(Path({str(tmp_path)!r})).workspace(*{KEY!r}) as space: pass\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr


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
