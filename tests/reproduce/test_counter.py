"""What a command says of itself while it writes a long answer."""

import io

import pytest

from lengen import solve as show
from papers.coupling.theorem import theorem
from reproduce.runs.display import PATIENCE, QUIET, counter


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def told(stream: io.StringIO, times: list[float], most: int = 4) -> str:
    """Text after ``done`` = 0, 1, ... at these seconds."""
    clock = [0.0]
    report = counter("tokens written", stream, lambda: clock[0])
    for done, clock[0] in enumerate(times):
        report(done, most)
    return stream.getvalue()


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_short_answers_are_silent(stream):
    assert told(stream(), [0.1 * PATIENCE] * 3) == ""


def test_a_terminal_has_one_line_that_is_cleared_at_the_end():
    text = told(Terminal(), [10.0, 20.0, 30.0, 40.0])
    assert text.count("\n") == 0
    assert text.startswith("\r0 of at most 4 tokens written")
    assert text.endswith("\r\x1b[K")


def test_elsewhere_a_line_now_and_then():
    lines = told(io.StringIO(), [PATIENCE + 1, PATIENCE + 1.1, PATIENCE + 2 * QUIET]).splitlines()
    assert lines == ["0 of at most 4 tokens written", "2 of at most 4 tokens written"]


def test_solve_tells_of_every_token():
    seen = []
    spec = theorem(3, 2, lengths=(2,), counts=(3,))
    found = show.solve(spec, None, ["57", "48", "96"], report=lambda done, most: seen.append((done, most)))
    assert seen == [(slot, len(str(found["output"]))) for slot in range(16)]
