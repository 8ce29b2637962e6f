"""doctor: each line says what was found, and what to do where something is wrong."""

import os
import shutil
from collections import namedtuple

import pytest

from reproduce.cli import main
from reproduce.commands import doctor
from reproduce.store import files
from reproduce.store.files import LEASE, leased


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("LENGEN_RESULTS", str(tmp_path / "results"))
    monkeypatch.setenv("COLUMNS", "180")
    monkeypatch.setattr("lengen.training.kernels.compile_line", lambda: None)
    return tmp_path / "results"


def test_a_healthy_machine_has_a_line_for_everything_and_leaves_no_trace(root, capsys):
    code = main(["doctor"])
    lines = capsys.readouterr().out.splitlines()
    assert [line[5:18].strip() for line in lines] == [
        "Python", "processor", "disk", "permission", "leases", "stale leases", "packages", "torch", "CUDA", "compiler",
    ]  # fmt: skip
    assert code == any(line.startswith("look") for line in lines)
    assert all(line.startswith("ok") for line in lines[3:6])
    assert not root.exists() and list(root.parent.iterdir()) == []


def test_old_python_a_slow_processor_and_a_full_disk_have_remedies(root, monkeypatch):
    assert "install Python 3.11" in doctor.python((3, 9, 2)).remedy and not doctor.python((3, 11, 0)).remedy
    assert "AVX2" in doctor.instructions("old", ("fma",)).remedy
    assert not doctor.instructions("unknown", ()).remedy and not doctor.instructions("new", ("avx2",)).remedy
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(10**9, 10**9, 10**6))
    assert "make room" in doctor.disk(root).remedy


def test_a_folder_that_cannot_be_written_is_named(root, monkeypatch):
    """The system's refusal is made up, because root may write everywhere."""

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkdtemp", refuse)
    (finding,) = doctor.folder(root)
    assert "Permission denied" in finding.found and "LENGEN_RESULTS" in finding.remedy


@pytest.mark.parametrize("below", ["", "deeper"])
def test_a_file_where_results_should_be_is_named(root, capsys, below):
    root.write_text("a file")
    (finding,) = doctor.folder(root / below)
    assert "results is no folder" in finding.found and "LENGEN_RESULTS" in finding.remedy
    assert main(["doctor"]) == 1 and "is no folder" in capsys.readouterr().out


def test_a_file_system_that_holds_no_lease_is_named(root, monkeypatch):
    monkeypatch.setattr("os.fsync", lambda handle: None)

    def broken(*_, **__):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr("filelock.SoftFileLease.acquire", broken)
    *_, finding = doctor.folder(root.parent)
    assert finding.what == "leases" and "Function not implemented" in finding.found and finding.remedy


def test_a_silent_lease_is_named_and_left_alone(root):
    home = root / "local/toy/fig1/alpha/cpu/seed-0"
    with leased(home):
        now = (home / LEASE).stat().st_mtime
        assert doctor.silent_leases(root, now).found == "none"
        finding = doctor.silent_leases(root, now + 2 * files.STALE + 1)
        assert f"process {os.getpid()}" in finding.found and "takes them over" in finding.remedy
        assert (home / LEASE).exists()


def test_packages_that_are_not_those_of_the_lock_are_named(tmp_path, monkeypatch):
    (tmp_path / "requirements.lock").write_text("numpy==0.0.1 \\\n    --hash=sha256:0\nno-such-package==1.0\n")
    monkeypatch.setattr("reproduce.store.checkout.checkout", lambda: tmp_path)
    finding = doctor.packages()
    assert "for 0.0.1" in finding.found and "no-such-package absent for 1.0" in finding.found and finding.remedy
    monkeypatch.setattr("reproduce.store.checkout.checkout", lambda: None)
    assert not doctor.packages().remedy


def test_cuda_is_told_from_torch_and_driver():
    assert not doctor.cuda("12.8", "H100", "570.1").remedy and not doctor.cuda("12.8", "", "").remedy
    assert "pytorch.org" in doctor.cuda("", "", "570.1").remedy
    assert "update the driver" in doctor.cuda("13.0", "", "470.1").remedy


def test_a_line_is_compiled(monkeypatch):
    def broken() -> None:
        raise OSError("failed to map segment")

    monkeypatch.setattr("lengen.training.kernels.compile_line", broken)
    found = doctor.compiler()
    assert "failed to map segment" in found.found and "trainings go on uncompiled" in found.remedy
    monkeypatch.setattr("lengen.training.kernels.compile_line", lambda: None)
    assert not doctor.compiler().remedy
