"""The table of tricks. A trick is a function from the plain setting of a task to its own; it refuses what makes no
sense for a task. To add one: a file with the function, its source in the docstring, and a line here."""

import pkgutil
from collections.abc import Callable

from papers.matrix.settings import ChosenSpec

FILES: dict[str, tuple[str, ...]] = {
    "positions": (
        "plain", "learned", "sinusoidal", "rope", "alibi", "fire", "shaw", "randomised-rope", "randomised-learned",
        "abacus", "coupled", "coupled-2",
    ),
    "formats": ("reversed", "zero-padded", "spaces", "spaces-sinusoidal", "scratchpad", "index-hints", "subtasks"),
    "attention": ("tempered", "ssmax", "window", "abc", "hard-alibi"),
    "procedures": ("hint", "association", "looped"),
    "pairs": ("coupled-scratchpad", "window-cyclic", "reversed-fire-randomised", "abacus-looped"),
}  # fmt: skip
"""File of this folder -> its columns of the matrix, by their names in experiments: `window-cyclic` is the function
`window_cyclic` there."""

Trick = Callable[[ChosenSpec], ChosenSpec]
PLACES = {name: f"{file}:{name.replace('-', '_')}" for file, names in FILES.items() for name in names}
TRICKS: dict[str, Trick] = {name: pkgutil.resolve_name(f"{__name__}.{place}") for name, place in PLACES.items()}
