"""What matplotlib works out anew for every word it places, worked out once: its font, and how large the word becomes.

A tick label is measured some ten times until its figure is written: in both passes of the layout, for the titles and
labels beside it, and when it is drawn. `once` remembers the answers while one figure is drawn; pictures are the same
without it, to the byte.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from matplotlib.font_manager import FontManager, FontProperties
from matplotlib.text import Text

Plain = Callable[..., Any]
OF_A_LAYOUT = (
    "_horizontalalignment", "_verticalalignment", "_multialignment", "_linespacing", "_rotation_mode", "_usetex",
    "_parse_math", "_features", "_language",
)  # fmt: skip
"""What of a text, beside its words, font and angle, decides how its lines lie."""


@contextlib.contextmanager
def once() -> Iterator[None]:
    """Look up each font and lay out each text once in this context, with settings that do not change within it.

    matplotlib has no public place for this: a version without one of these methods draws as it does.
    """
    with contextlib.ExitStack() as stack:
        for owner, name, quick in (
            (FontManager, "_find_fonts_by_props", _fonts),
            (FontManager, "findfont", _fonts),
            (Text, "_get_layout", _layouts),
        ):
            plain = owner.__dict__.get(name)
            if plain is not None:
                stack.callback(setattr, owner, name, plain)
                setattr(owner, name, quick(plain))
        yield


def _fonts(plain: Plain) -> Plain:
    """A search for a font's file by its properties and options, done once for equal ones."""
    known: dict[object, Any] = {}

    def found(manager: FontManager, prop: Any, *options: Any, **named: Any) -> Any:
        if not isinstance(prop, FontProperties):
            return plain(manager, prop, *options, **named)
        key = (hash(prop), options, *named.items())  # what properties are compared by
        if key not in known:
            known[key] = plain(manager, prop, *options, **named)
        return known[key]

    return found


def _layouts(plain: Plain) -> Plain:
    """The box and the lines of a text about its own position, found once for equal texts; wrapped ones depend on the
    place, too."""
    known: dict[object, Any] = {}

    def laid_out(text: Any, renderer: Any) -> Any:
        if text.get_wrap():
            return plain(text, renderer)
        key = (
            type(renderer), text.get_figure(root=True).dpi, text.get_text(), hash(text.get_fontproperties()),
            text.get_rotation(), *(getattr(text, name, None) for name in OF_A_LAYOUT),
        )  # fmt: skip
        if key not in known:
            known[key] = plain(text, renderer)
        return known[key]

    return laid_out
