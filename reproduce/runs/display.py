"""One display for a whole command: what runs, how it goes, how long it will still take.

What enters are events of workers; what leaves is text on the terminal. On a terminal a bar for each run is redrawn by
the clock, 4 times a second at most; elsewhere an event is a line, and a run speaks every 10 seconds.
"""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

from lengen.results.progress import Progress
from reproduce.runs.costs import Cost, in_words, makespan
from reproduce.runs.plan import Job
from reproduce.runs.worker import RESUMING
from reproduce.store.files import one_line

REDRAWS_PER_SECOND = 4
QUIET = 10.0
"""Seconds between two lines of one run where there is no terminal."""
COMPILING = "compiling"
"""Stage of a run before its first step, as `RESUMING` is."""
SURE = 60.0
"""Seconds of steps after which their pace counts alone."""
HALF_LIFE = 120.0
"""Seconds after which a pace counts half: another program may have come or gone. One report takes a tenth at most."""
PATIENCE = 2.0
"""Seconds after which a command says how far it is."""


class Forecast:
    """Time left for a set of jobs: estimated costs, corrected by the speed of the last minutes.

    ``pace``: seconds that passed per second estimated in earlier runs on this machine; None if there are none.
    """

    def __init__(
        self, costs: Mapping[Job, Cost], workers: int, now: Callable[[], float] = time.monotonic,
        pace: float | None = None,
    ) -> None:  # fmt: skip
        self._costs, self._workers, self._now = dict(costs), max(1, workers), now
        self._passed, self._expected = (SURE * pace, SURE) if pace else (0.0, 0.0)
        self._begun: dict[Job, float] = {}
        self._before_steps: list[float] = []
        self._seen: dict[Job, float] = {}
        self._shares: dict[Job, float] = {}
        self._over: set[Job] = set()

    def begin(self, job: Job) -> None:
        """Note that a job begins: until its first step it loads and compiles."""
        self._begun[job] = self._now()

    def see(self, job: Job, progress: Progress) -> None:
        """Note how far a job is; its pace is that of its steps, without imports or compiling.

        A job that begins a further stage at its first step stays where it was until that is further.
        """
        if progress.stage in (COMPILING, RESUMING):
            self._seen.pop(job, None)
            return
        now = self._now()
        if job in self._begun:
            self._before_steps.append(now - self._begun.pop(job))
        self._learn(job, now, max(self._shares.get(job, 0.0), self._share(job, progress)))

    def close(self, job: Job) -> None:
        """Note that a job finished or failed."""
        if job in self._seen:
            self._learn(job, self._now(), 1.0)
            del self._seen[job]
        self._over.add(job)

    def left(self) -> float:
        """Return the seconds until the last job is done."""
        pace, waits = self._pace(), self._before_steps
        waiting = sum(waits) / len(waits) if waits else 0.0
        left = [
            self._left_of(job) * pace + waiting * (job not in self._shares)
            for job in self._costs if job not in self._over
        ]  # fmt: skip
        return makespan(left, self._workers)

    def share(self) -> float:
        """Return the part of the work that is done, 0 to 1: each job by its estimated cost."""
        total = sum(cost.total for cost in self._costs.values())
        left = sum(self._left_of(job) for job in self._costs if job not in self._over)
        return 1 - left / total if total else 1.0

    def _left_of(self, job: Job) -> float:
        return self._costs[job].total * (1 - self._shares.get(job, 0.0))

    def _learn(self, job: Job, now: float, share: float) -> None:
        """Note the share of a job, and the time since its last report; what was long ago fades."""
        if job in self._seen:
            passed = now - self._seen[job]
            left = 0.5 ** min(passed / (HALF_LIFE * self._workers), 0.1)
            self._passed = self._passed * left + passed
            self._expected = self._expected * left + self._costs[job].total * (share - self._shares[job])
        self._seen[job], self._shares[job] = now, share

    def _pace(self) -> float:
        """Return the seconds that passed per second estimated; those since the last report of a job have passed."""
        silent = sum(self._now() - seen for seen in self._seen.values())
        passed, expected = self._passed + silent, self._expected
        # a pinch of the estimate keeps the first seconds from running wild; after a minute what was measured counts
        pinch = 2.0 * max(0.0, 1 - passed / SURE)
        return (passed + pinch) / (expected + pinch) if expected > 0 else 1.0

    def _share(self, job: Job, progress: Progress) -> float:
        cost, part = self._costs[job], progress.step / max(1, progress.steps)
        done = cost.train * part if progress.stage == "train" else cost.train + cost.measure * part
        return min(1.0, done / max(cost.total, 1e-9))


class Display:
    """A `reproduce.runs.plan.Watch` that shows; use it as a context manager.

    ``before`` counts runs that were finished when the command began; ``pace`` is theirs (`Forecast`).
    """

    def __init__(
        self, costs: Mapping[Job, Cost], workers: int, before: int = 0, stream: TextIO | None = None,
        pace: float | None = None,
    ) -> None:  # fmt: skip
        self._stream = sys.stderr if stream is None else stream
        self._forecast = Forecast(costs, workers, pace=pace)
        self._total, self._done, self._failed = len(costs) + before, before, 0
        self._stages: dict[Job, str] = {}
        self._began: dict[Job, float] = {}
        self._spoke: dict[Job, float] = {}
        self._elsewhere: set[Job] = set()
        self._bars = Bars(self._stream) if self._stream.isatty() else None

    def __enter__(self) -> "Display":
        if self._bars is not None:
            self._bars.live.start()
            self._show(None, self._overall())
        return self

    def __exit__(self, *_: object) -> None:
        if self._bars is not None:
            self._bars.live.stop()

    def started(self, job: Job) -> None:
        self._stages[job] = ""
        self._forecast.begin(job)
        self._began[job] = self._spoke[job] = time.monotonic()
        if self._bars is None:
            self._say(f"{job.name}: started")
        self._show(job, "starting")

    def progressed(self, job: Job, progress: Progress) -> None:
        self._forecast.see(job, progress)
        if self._stages.get(job) == RESUMING:
            self._say(f"{job.name}: resuming at step {progress.step:,} of {progress.steps:,}")
        self._stages[job] = progress.stage
        facts = ", ".join(described(progress))
        if self._bars is not None:
            idle = progress.stage in (COMPILING, RESUMING)
            self._show(job, progress.stage if idle else facts, progress.step / max(1, progress.steps))
            self._show(None, self._overall(), self._forecast.share())
        elif progress.stage == COMPILING:
            self._say(f"{job.name}: compiling")
        elif time.monotonic() - self._spoke[job] >= QUIET:
            self._spoke[job] = time.monotonic()
            self._say(f"{job.name}: {facts}; {self._overall()}")

    def finished(self, job: Job, version: int) -> None:
        self._done += 1
        self._end(job, f"finished as v{version} in {in_words(time.monotonic() - self._began[job])}")

    def failed(self, job: Job, sentence: str) -> None:
        self._failed += 1
        self._end(job, f"failed: {sentence}")

    def postponed(self, job: Job, sentence: str) -> None:
        """Say that another command makes it: once, however often it is looked at."""
        self._show(job, "")
        if job not in self._elsewhere:
            self._elsewhere.add(job)
            self._say(f"{job.name}: {sentence.partition(': wait')[0]}; going on with the others")

    def noted(self, sentence: str) -> None:
        self._say(sentence)

    def _end(self, job: Job, words: str) -> None:
        self._forecast.close(job)
        self._show(job, "")
        self._show(None, self._overall(), self._forecast.share())
        self._say(f"{job.name}: {words}; {self._overall()}")

    def _overall(self) -> str:
        failed = f", {self._failed} failed" if self._failed else ""
        over = self._done + self._failed >= self._total
        left = "" if over else f", about {in_words(self._forecast.left())} left"
        return f"{self._done} of {self._total} runs done{failed}{left}"

    def _show(self, job: Job | None, facts: str, share: float = 0.0) -> None:
        if self._bars is not None:
            self._bars.show(job, facts, share)

    def _say(self, line: str) -> None:
        if self._bars is not None:
            self._bars.live.console.print(one_line(line), markup=False, highlight=False)
        else:
            print(one_line(line), file=self._stream, flush=True)


class Bars:
    """Bars on a terminal: one for the whole command, and one for each run under way."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console, Group
        from rich.live import Live
        from rich.progress import BarColumn, Progress, TextColumn
        from rich.table import Column

        name, facts = (
            TextColumn(f"{{task.{text}}}", markup=False, table_column=Column(overflow="fold"))
            for text in ("description", "fields[facts]")
        )
        self._whole = Progress(TextColumn("{task.fields[facts]}", style="bold"), BarColumn(None), expand=True)
        self._runs = Progress(name, BarColumn(6), facts)
        self.shown, self._rows = Group(self._whole, self._runs), dict[Job | None, Any]()
        console = Console(file=stream)
        self.live = Live(self.shown, console=console, refresh_per_second=REDRAWS_PER_SECOND, transient=True)

    def show(self, job: Job | None, facts: str, share: float) -> None:
        """Show what is known of a run, or of the whole command if ``job`` is None, and its share done.

        Without facts show it no more.
        """
        bars = self._whole if job is None else self._runs
        if not facts and job in self._rows:
            bars.remove_task(self._rows.pop(job))
        elif facts and job not in self._rows:
            self._rows[job] = bars.add_task("" if job is None else job.name, total=1.0, facts=facts)
        elif facts:
            bars.update(self._rows[job], completed=share, facts=facts)


def described(progress: Progress) -> list[str]:
    """Return a report in words: stage with step and steps, loss, accuracy."""
    words = [COMPILING] if progress.stage == COMPILING else [f"{progress.stage} {progress.step}/{progress.steps}"]
    if progress.loss is not None:
        words.append(f"loss {progress.loss:.4f}")
    if progress.accuracy is not None:
        words.append(f"accuracy {100 * progress.accuracy:.1f} %")
    return words


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Say on a terminal what takes seconds, until it is done."""
    live = sys.stderr is not None and sys.stderr.isatty()
    if live:
        print(f"{what} ...", end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        if live:
            print(end="\r\x1b[K", file=sys.stderr, flush=True)


def counter(what: str, stream: TextIO, now: Callable[[], float] = time.monotonic) -> Callable[[int, int], None]:
    """Return a function ``(done, most)`` that says how far a command is, once it has taken `PATIENCE` seconds.

    On a terminal one line is rewritten, and cleared at the end; elsewhere there is a line every `QUIET` seconds.
    """
    live = stream.isatty()
    next_at = now() + PATIENCE
    shown = False

    def report(done: int, most: int) -> None:
        nonlocal next_at, shown
        if now() >= next_at:
            text = f"{done:,} of at most {most:,} {what}"
            stream.write(f"\r{text}" if live else f"{text}\n")
            stream.flush()
            next_at, shown = now() + (1 / REDRAWS_PER_SECOND if live else QUIET), True
        if live and shown and done >= most - 1:
            stream.write("\r\x1b[K")
            stream.flush()

    return report
