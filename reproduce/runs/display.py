"""One display for a whole command: what runs, how it goes, how long it will still take.

What enters are events of the executor; what leaves is text on the terminal. On a terminal one live table is
redrawn by the clock, 4 times a second at most; elsewhere an event is a line, and a run speaks every 10 seconds.
"""

import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TextIO

from lengen.results.progress import Progress
from reproduce.runs.estimate import Cost, in_words, makespan
from reproduce.runs.perform import RESUMING, Job
from reproduce.store.atomic_files import one_line

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

REDRAWS_PER_SECOND = 4
QUIET = 10.0
"""Seconds between two lines of one run where there is no terminal."""
COMPILING = "compiling"
"""Stage of a run before its first step, as `RESUMING` is."""
PATIENCE = 2.0
"""Seconds after which a command says how far it is."""


class Forecast:
    """Time left for a set of jobs: estimated costs, corrected by the speed seen so far."""

    def __init__(self, costs: Mapping[Job, Cost], workers: int, now: Callable[[], float] = time.monotonic) -> None:
        self._costs, self._workers, self._now = dict(costs), max(1, workers), now
        self._first: dict[Job, tuple[float, float]] = {}
        self._last: dict[Job, tuple[float, float]] = {}
        self._over: set[Job] = set()

    def see(self, job: Job, progress: Progress) -> None:
        """Note how far a job is; the clock of a job starts with its first step, not with imports or compiling.

        A job that begins a further stage at its first step stays where it was until that is further.
        """
        if progress.stage in (COMPILING, RESUMING):
            self._first.pop(job, None)
            return
        _, before = self._last.get(job, (0.0, 0.0))
        point = (self._now(), max(before, self._share(job, progress)))
        self._first.setdefault(job, point)
        self._last[job] = point

    def close(self, job: Job) -> None:
        """A job finished or failed."""
        if job in self._first:
            self._last[job] = (self._now(), 1.0)
        self._over.add(job)

    def left(self) -> float:
        """Seconds until the last job is done."""
        return makespan(
            [self._left_of(job) * self._pace() for job in self._costs if job not in self._over], self._workers
        )

    def share(self) -> float:
        """Part of the work that is done, 0 to 1: each job by its estimated cost."""
        total = sum(cost.total for cost in self._costs.values())
        left = sum(self._left_of(job) for job in self._costs if job not in self._over)
        return 1 - left / total if total else 1.0

    def _left_of(self, job: Job) -> float:
        return self._costs[job].total * (1 - self._last.get(job, (0.0, 0.0))[1])

    def _pace(self) -> float:
        """Seconds that passed per second estimated."""
        passed = sum(self._last[job][0] - first for job, (first, _) in self._first.items())
        expected = sum(self._costs[job].total * (self._last[job][1] - share) for job, (_, share) in self._first.items())
        # a pinch of the estimate keeps the first seconds from running wild; after a minute what was measured counts
        pinch = 2.0 * max(0.0, 1 - passed / 60)
        return (passed + pinch) / (expected + pinch) if expected > 0 else 1.0

    def _share(self, job: Job, progress: Progress) -> float:
        cost, part = self._costs[job], progress.step / max(1, progress.steps)
        done = cost.train * part if progress.stage == "train" else cost.train + cost.measure * part
        return min(1.0, done / max(cost.total, 1e-9))


class Display:
    """A `reproduce.runs.perform.Watch` that shows; use it as a context manager.

    ``before`` counts runs that were finished when the command began.
    """

    def __init__(self, costs: Mapping[Job, Cost], workers: int, before: int = 0, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._forecast = Forecast(costs, workers)
        self._total, self._done, self._failed = len(costs) + before, before, 0
        self._running: dict[Job, Progress | None] = {}
        self._began: dict[Job, float] = {}
        self._spoke: dict[Job, float] = {}
        self._elsewhere: set[Job] = set()
        self._live: Any = None

    def __enter__(self) -> "Display":
        if self._stream.isatty():
            from rich.console import Console
            from rich.live import Live

            console = Console(file=self._stream)
            self._live = Live(
                get_renderable=self._shown, console=console, refresh_per_second=REDRAWS_PER_SECOND, transient=True
            )
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def started(self, job: Job) -> None:
        self._running[job] = None
        self._began[job] = self._spoke[job] = time.monotonic()
        if self._live is None and job not in self._elsewhere:
            self._say(f"{job.name}: started")

    def progressed(self, job: Job, progress: Progress) -> None:
        self._forecast.see(job, progress)
        before = self._running.get(job)
        if before is not None and before.stage == RESUMING:
            self._say(f"{job.name}: resuming at step {progress.step:,} of {progress.steps:,}")
        if self._live is None and progress.stage == COMPILING:
            self._say(f"{job.name}: compiling")
        self._running[job] = progress
        if self._live is None and time.monotonic() - self._spoke[job] >= QUIET:
            self._spoke[job] = time.monotonic()
            self._say(f"{job.name}: {', '.join(described(progress))}; {self._overall()}")

    def finished(self, job: Job, version: int) -> None:
        seconds = time.monotonic() - self._began[job]
        self._end(job)
        self._done += 1
        self._say(f"{job.name}: finished as v{version} in {in_words(seconds)}; {self._overall()}")

    def failed(self, job: Job, sentence: str) -> None:
        self._end(job)
        self._failed += 1
        self._say(f"{job.name}: failed: {sentence}; {self._overall()}")

    def postponed(self, job: Job, sentence: str) -> None:
        """Another process is making it: said once, however often it is looked at."""
        self._running.pop(job, None)
        if job not in self._elsewhere:
            self._elsewhere.add(job)
            self._say(f"{job.name}: {sentence.partition(': wait')[0]}; going on with the others")

    def told(self, sentence: str) -> None:
        self._say(sentence)

    def _end(self, job: Job) -> None:
        self._running.pop(job, None)
        self._forecast.close(job)

    def _overall(self) -> str:
        failed = f", {self._failed} failed" if self._failed else ""
        over = self._done + self._failed >= self._total
        return f"{self._done} of {self._total} runs done{failed}" + (
            "" if over else f", about {in_words(self._forecast.left())} left"
        )

    def _say(self, line: str) -> None:
        line = one_line(line)
        if self._live is not None:
            self._live.console.print(line, markup=False, highlight=False)
        else:
            print(line, file=self._stream, flush=True)

    def _shown(self) -> "Group":
        """Return the progress of the command as text and as a bar over the whole width, and the runs under way."""
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        total = Table.grid(expand=True)
        total.add_row(Text(self._overall(), "bold"))
        total.add_row(ProgressBar(total=1.0, completed=self._forecast.share()))
        return Group(total, self._table())

    def _table(self) -> "Table":
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
        table.add_column("run", overflow="fold")
        table.add_column("stage", no_wrap=True)
        table.add_column("", no_wrap=True)
        for name in ("step", "loss", "accuracy"):
            table.add_column(name, justify="right", no_wrap=True)
        for job, progress in list(self._running.items()):
            if progress is None or progress.stage in (COMPILING, RESUMING):
                table.add_row(job.name, "starting" if progress is None else progress.stage)
                continue
            bar = ProgressBar(total=max(1, progress.steps), completed=progress.step, width=6)
            loss = "" if progress.loss is None else f"{progress.loss:.4f}"
            accuracy = "" if progress.accuracy is None else f"{100 * progress.accuracy:.1f} %"
            table.add_row(job.name, progress.stage, bar, f"{progress.step}/{progress.steps}", loss, accuracy)
        return table


def described(progress: Progress) -> list[str]:
    """A report in words: stage with step and steps, loss, accuracy."""
    words = [COMPILING] if progress.stage == COMPILING else [f"{progress.stage} {progress.step}/{progress.steps}"]
    if progress.loss is not None:
        words.append(f"loss {progress.loss:.4f}")
    if progress.accuracy is not None:
        words.append(f"accuracy {100 * progress.accuracy:.1f} %")
    return words


def counter(what: str, stream: TextIO, now: Callable[[], float] = time.monotonic) -> Callable[[int, int], None]:
    """A function ``(done, most)`` that says how far a command is, once it has taken `PATIENCE` seconds.

    On a terminal one line is rewritten, and cleared at the end; elsewhere there is a line every `QUIET` seconds.
    """
    live = stream.isatty()
    next_at = now() + PATIENCE
    shown = False

    def told(done: int, most: int) -> None:
        nonlocal next_at, shown
        if now() >= next_at:
            text = f"{done:,} of at most {most:,} {what}"
            stream.write(f"\r{text}" if live else f"{text}\n")
            stream.flush()
            next_at, shown = now() + (1 / REDRAWS_PER_SECOND if live else QUIET), True
        if live and shown and done >= most - 1:
            stream.write("\r\x1b[K")
            stream.flush()

    return told
