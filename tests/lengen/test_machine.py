"""The processor by what the system says of it."""

import platform

from lengen import machine
from lengen.machine import Machine, read_cpuinfo

XEON = """\
processor\t: 0
vendor_id\t: GenuineIntel
model name\t: Intel(R) Xeon(R) Platinum 8488C
flags\t\t: fpu sse4_2 amx_bf16 fma avx2 avx512f avx512_bf16 amx_tile avx512_fp16x

processor\t: 1
model name\t: another
flags\t\t: fpu
"""
ARM = "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd evtstrm bf16 sve\nCPU part\t: 0xd40\n"


def test_model_and_instruction_sets_are_those_of_the_first_processor():
    assert read_cpuinfo(XEON) == (
        "Intel(R) Xeon(R) Platinum 8488C",
        ("avx2", "fma", "avx512f", "avx512_bf16", "amx_tile", "amx_bf16"),
    )
    assert read_cpuinfo(ARM) == ("", ("asimd", "bf16", "sve"))
    assert read_cpuinfo("") == ("", ())


def test_where_linux_says_nothing_the_platform_does(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "CPUINFO", tmp_path / "none")
    monkeypatch.setattr(platform, "processor", lambda: "")
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    found = machine.machine()
    assert found == Machine("riscv64", (), machine.cores())
    assert str(found) == f"riscv64, {machine.cores()} cores (instruction sets unknown)"


def test_what_linux_says_is_read(tmp_path, monkeypatch):
    (tmp_path / "cpuinfo").write_text(XEON)
    monkeypatch.setattr(machine, "CPUINFO", tmp_path / "cpuinfo")
    assert machine.machine().model.endswith("8488C") and "amx_bf16" in str(machine.machine())
