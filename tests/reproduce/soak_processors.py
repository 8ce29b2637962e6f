"""What a run gives on processors with fewer instructions: committed runs made again, some of this one's switched off.

``python -m tests.reproduce.soak_processors --out results/soak`` repeats runs whose weights are computed and runs that
are trained, with the instructions of older processors only, and writes what ``reproduce rerun`` says of each.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from lengen.results.machine import machine
from reproduce.store.provenance import commit

PROCESSORS: Mapping[str, Mapping[str, str]] = {
    "this one": {},
    "AVX-512, neither AMX nor bfloat16": {
        "ONEDNN_MAX_CPU_ISA": "AVX512_CORE",
        "MKL_ENABLE_INSTRUCTIONS": "AVX512",
    },
    "AVX2": {
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    },
}
"""What torch, oneDNN and MKL are told to use -> how."""
RUNS = (
    "task_hinting/thm5.1/float32",
    "task_hinting/thm5.1/bfloat16",
    "task_hinting/thm5.1/construction",
    "bias_calibration/table1/successor-abc",
    "bias_calibration/table1/successor-vanilla",
)
"""Computed weights first, then trained ones; none that was compiled, which is done for the processor that is there."""
LINE = re.compile(r"^(same|differs|-) +(\S(?:.*?\S)?)  +(.*)$")


def told(text: str) -> dict[str, dict[str, str]]:
    """What ``rerun`` printed: kind of number -> whether it is the same, and what was said of it.

    >>> told("same     weights        sha256 7\\ndiffers  scores         1 of 15 cells differ\\nother numbers")
    {'weights': {'is': 'same', 'said': 'sha256 7'}, 'scores': {'is': 'differs', 'said': '1 of 15 cells differ'}}
    """
    found = filter(None, map(LINE.match, text.splitlines()))
    return {match[2]: {"is": match[1], "said": match[3]} for match in found}


def repeated(run: str, instructions: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Make a run again; raises `RuntimeError` where it could not be made."""
    command = [sys.executable, "-m", "reproduce", "rerun", run, "--profile", "cpu", "--seed", "0"]
    environment = {**os.environ, **instructions}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or not (lines := told(done.stdout)):
        raise RuntimeError(f"{run}: {done.stderr.strip().splitlines()[-1]}")
    return lines


def table(runs: Mapping[str, Mapping[str, Mapping[str, Mapping[str, str]]]]) -> str:
    """What differs, as a table of Markdown: a line for every run on every processor."""
    lines = ["| run | instructions | weights | test cells | exact match |", "|---|---|---|---|---|"]
    for run, by_processor in runs.items():
        for name, found in by_processor.items():
            accuracy = [
                f"{what.removeprefix('exact match ')}: {line['said']}"
                for what, line in found.items()
                if what.startswith("exact match") and line["is"] == "differs"
            ]
            cells = [
                "the same" if found[what]["is"] == "same" else said
                for what, said in (("weights", "other"), ("scores", found["scores"]["said"]))
            ]
            lines.append(f"| {run} | {name} | {' | '.join(cells)} | {'; '.join(accuracy) or 'the same'} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", nargs="+", default=list(RUNS))
    parser.add_argument("--out", type=Path, help="folder of processors.json")
    options = parser.parse_args(arguments)
    processor = machine()
    found = {
        "commit": commit()[0],
        "processor": processor.model,
        "instruction_sets": list(processor.instruction_sets),
        "runs": {run: {name: repeated(run, how) for name, how in PROCESSORS.items()} for run in options.runs},
    }
    for run, by_processor in found["runs"].items():
        for name, lines in by_processor.items():
            differing = [f"{what}: {line['said']}" for what, line in lines.items() if line["is"] == "differs"]
            print(f"{run}, {name}: {'; '.join(differing) or 'the same numbers'}", flush=True)
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "processors.json").write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
