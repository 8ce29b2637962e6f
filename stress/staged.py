"""The program itself, which notes in a file what it is doing, so that it can be killed while it does it.

``python -m stress.staged NOTES command ...`` is ``python -m reproduce command ...``; each line of NOTES is a
time and a stage that begins then.
"""

import functools
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reproduce import cli, figures
from reproduce.pages import comparison
from reproduce.runs import worker
from reproduce.store.reference import Reference
from reproduce.store.store import Workspace

STAGES = ("training", "measuring", "writing", "promoting", "drawing", "comparing")
BETWEEN = "between"
"""What is none of them: loading, planning, looking at what is there."""


def note(place: Path, stage: str) -> None:
    with place.open("a") as file:
        file.write(f"{time.monotonic():.6f} {stage}\n")


def during(stage: str, work: Callable[..., Any], place: Path) -> Callable[..., Any]:
    """A function that notes when it begins and when it ends."""

    @functools.wraps(work)
    def noted(*given: Any, **named: Any) -> Any:
        note(place, stage)
        try:
            return work(*given, **named)
        finally:
            note(place, BETWEEN)

    return noted


def main(place: Path, arguments: list[str]) -> int:
    note(place, BETWEEN)
    passed = worker.watched

    def watched(report: Any, space: Any) -> Any:
        tell, stages = passed(report, space), {"measure": "measuring", "attention": "measuring"}
        last = ""

        def told(progress: Any) -> None:
            nonlocal last
            stage = stages.get(progress.stage, "training")
            if stage != last:
                last = stage
                note(place, stage)
            tell(progress)

        return told

    worker.watched = watched  # type: ignore[assignment]
    worker.train = during("training", worker.train, place)  # type: ignore[assignment]
    Workspace.publish = during("writing", Workspace.publish, place)  # type: ignore[method-assign]
    Reference.adopt = during("promoting", Reference.adopt, place)  # type: ignore[method-assign]
    figures.write = during("drawing", figures.write, place)  # type: ignore[assignment]
    comparison.save = during("comparing", comparison.save, place)  # type: ignore[assignment]
    return cli.main(arguments)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
