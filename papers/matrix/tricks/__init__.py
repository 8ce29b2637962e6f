"""The table of tricks. A trick is a function from the plain setting of a task to its own; it refuses what makes no
sense for a task. To add one: a function with its source in the docstring, its file in the import here, and a line."""

from collections.abc import Callable

from papers.matrix.spec import ChosenSpec
from papers.matrix.tricks import attention, formats, pairs, positions, procedures

Trick = Callable[[ChosenSpec], ChosenSpec]
TRICKS: dict[str, Trick] = {
    "plain": positions.plain,
    "learned": positions.learned,
    "sinusoidal": positions.sinusoidal,
    "rope": positions.rope,
    "alibi": positions.alibi,
    "fire": positions.fire,
    "shaw": positions.shaw,
    "randomised-rope": positions.randomised_rope,
    "randomised-learned": positions.randomised_learned,
    "abacus": positions.abacus,
    "coupled": positions.coupled,
    "coupled-2": positions.coupled_2,
    "reversed": formats.reversed_answer,
    "zero-padded": formats.zero_padded,
    "spaces": formats.spaces,
    "spaces-sinusoidal": formats.spaces_sinusoidal,
    "scratchpad": formats.scratchpad,
    "index-hints": formats.index_hints,
    "subtasks": formats.subtasks,
    "tempered": attention.tempered,
    "ssmax": attention.ssmax,
    "window": attention.window,
    "abc": attention.abc,
    "hard-alibi": attention.hard_alibi,
    "hint": procedures.hint,
    "association": procedures.association,
    "looped": procedures.looped,
    "coupled-scratchpad": pairs.coupled_scratchpad,
    "window-cyclic": attention.window_cyclic,
    "reversed-fire-randomised": pairs.reversed_fire_randomised,
    "abacus-looped": pairs.abacus_looped,
}
"""Columns of the matrix, by their names in experiments."""
