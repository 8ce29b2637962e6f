"""Slurm as the engine: one array of a few identical workers, each of which takes the next run that nobody makes.

What enters are jobs and the words of a ``run`` command; what leaves is a script, submitted. Workers share the results
folder, and leases there share the work: so a run of hours and one of seconds cost one place in the queue, not two, and
an array stays far below the limits that clusters set. A worker that is told before its time is up stops, requeues
itself, and goes on from its checkpoint.
"""

import math
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reproduce.runs.costs import cost, in_words, makespan
from reproduce.runs.plan import Job, PlanError
from reproduce.store.checkout import checkout
from reproduce.store.files import readable, write_text

WORKERS = 8
"""Workers where nobody says how many."""
NOTICE = 180
"""Seconds before the time limit at which a worker is told; Slurm may be a minute early."""
PATIENCE = 60
"""Seconds that sbatch may take."""
SCRIPT = Path(__file__).with_name("worker.sbatch")
"""The script of a worker, with names in braces for what differs; a brace of its own is doubled."""


@dataclass(frozen=True)
class Slurm:
    """An engine that submits, and does not wait."""

    root: Path
    """The results folder, which every node has to see."""
    words: tuple[str, ...]
    """Arguments of ``python -m reproduce`` in every worker."""
    workers: int = WORKERS
    jobs: int = 1
    """Runs side by side in a worker."""
    cpus: float = 1.0
    """Processor cores of a run."""
    gpu: bool = False
    """True if a worker gets a GPU."""
    sbatch: tuple[str, ...] = ()
    """Further arguments of sbatch, which override what the script asks for."""

    def submit(self, jobs: Sequence[Job]) -> str:
        """Submit the jobs; return a sentence on what was submitted."""
        profile = jobs[0].profile
        papers = "-".join(dict.fromkeys(job.experiment.split("/")[0] for job in jobs))
        path = self.root / "local" / "slurm" / f"{papers}-{profile}.sbatch"
        workers = min(self.workers, len(jobs))
        write_text(path, self.script(jobs, path.with_suffix("")))
        number = submitted([*self.sbatch, str(path)])
        return (
            f"job {number}: {workers} worker{'s' * (workers > 1)} for {len(jobs)} run{'s' * (len(jobs) > 1)}, logs in "
            f"{readable(path.parent)}; squeue -j {number} shows it, scancel {number} ends it; when it is over, this "
            "command without --executor draws and compares"
        )

    def script(self, jobs: Sequence[Job], log: Path) -> str:
        """Return the script of each worker; ``log`` is the beginning of its log's name.

        Twice the estimated time is asked for, an hour at least: a worker that needs more goes on in another turn.
        """
        workers = min(self.workers, len(jobs))
        seconds = makespan([cost(job.spec, job.profile).total for job in jobs], workers * self.jobs)
        home = checkout() or Path.cwd()
        options = [
            f"--job-name=lengen-{jobs[0].profile}",
            f"--array=0-{workers - 1}",
            f"--time={max(1, math.ceil(2 * seconds / 3600))}:00:00",
            f"--cpus-per-task={max(1, math.ceil(self.cpus * self.jobs))}",
            *(["--gres=gpu:1"] if self.gpu else []),
            f"--signal=B:USR1@{NOTICE}",
            "--requeue",
            "--open-mode=append",
            f"--output={log}-%A_%a.log",
        ]
        about = f"{len(jobs)} runs, about {in_words(seconds)} on {workers} workers"
        places = {"home": str(home), "root": str(self.root), "python": sys.executable}
        quoted = {name: shlex.quote(place) for name, place in places.items()}
        lines = "\n".join(f"#SBATCH {shlex.quote(option)}" for option in options)
        return SCRIPT.read_text("utf-8").format(options=lines, words=shlex.join(self.words), about=about, **quoted)


def submitted(arguments: Sequence[str]) -> str:
    """Give a script to sbatch; returns the number of its job. Raises `PlanError` if sbatch is missing, or refuses."""
    if shutil.which("sbatch") is None:
        fault = "--executor slurm: there is no sbatch here"
        raise PlanError(f"{fault}; give this command on a login node, or submit {readable(Path(arguments[-1]))} there")
    command = ["sbatch", "--parsable", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        raise PlanError(f"sbatch did not answer within {PATIENCE} seconds: try again later") from None
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise PlanError(f"sbatch refused ({reason}): change what is asked for with --sbatch-args")
    return done.stdout.strip().partition(";")[0]
