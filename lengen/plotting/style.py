"""One style for every figure of every paper, the looks of lines, and the bytes of a picture.

The same figure gives the same bytes on every machine with the locked versions: settings come from the library's
defaults (never from a matplotlibrc), ids have a fixed salt, and neither date nor version is stored. Text stays text, so
that it can be searched, copied and read aloud; an SVG begins with what the figure says. All lines of a plot are equally
wide: colour, marker and dashes tell them apart, in print too.
"""

import contextlib
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape, unescape
from typing import Any, NamedTuple

import matplotlib as mpl
import seaborn as sns
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

COLOURS: tuple[tuple[float, float, float], ...] = tuple(sns.color_palette("colorblind"))
"""Ten colours that colour-blind eyes distinguish."""
BLACK = (0.15, 0.15, 0.15)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
RED = "#d7191c"
"""Outline of what was trained."""
DPI = 200
"""Dots per inch of the PNG files."""


@contextlib.contextmanager
def style() -> Iterator[None]:
    """Apply the settings of every figure, from the library's defaults: files in a home folder change nothing."""
    # setting a backend, even the default one, would load it
    defaults = {key: value for key, value in mpl.rcParamsDefault.items() if not key.startswith("backend")}
    ours = {
        "font.family": ["DejaVu Sans"],  # shipped with matplotlib, so equal on every machine
        "font.size": 7.5,
        "axes.titlesize": 7.5,
        "axes.labelsize": 7.5,
        "xtick.labelsize": 7,
        "ytick.labelsize": 7,
        "legend.fontsize": 7,
        "figure.titlesize": 8.5,
        "axes.linewidth": 0.7,
        "xtick.major.size": 2.5,
        "ytick.major.size": 2.5,
        "lines.linewidth": 1.4,
        "lines.markersize": 3.5,
        "hatch.linewidth": 0.4,
        "svg.hashsalt": "lengen",  # ids in SVG files are random without a salt
        "svg.fonttype": "none",  # text as text
    }
    with mpl.rc_context(defaults | sns.axes_style("ticks") | ours):
        yield


def pictures(figure: Figure, kinds: Sequence[str] = ("svg", "png"), says: str = "") -> dict[str, bytes]:
    """Return a figure as ``{"svg": ..., "png": ...}``, also ``pdf``, placed at `DPI`; call it within `style`.

    ``says``: the SVG's title.
    """
    figure.set_dpi(DPI)
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine("none")  # placed once: placing costs as much as drawing
    # PNG first, because the SVG canvas sets another resolution
    files = {kind: _drawn(figure, kind) for kind in CANVASES if kind in kinds}
    return files | ({"svg": titled(files["svg"], says)} if says and "svg" in files else {})


def titled(svg: bytes, says: str) -> bytes:
    """Return an SVG with this title, which readers of screens say instead of all its numbers."""
    return re.sub(rb"(<svg [^>]*>\n)", lambda head: head[1] + f"<title>{escape(says)}</title>\n".encode(), svg, count=1)


def said(svg: bytes) -> str:
    """Return the title of an SVG; empty if it has none."""
    title = re.search(rb"<title>(.*?)</title>", svg, re.DOTALL)
    return unescape(title[1].decode()) if title else ""


CANVASES = {
    "png": (FigureCanvasAgg, ("Software",)),
    "svg": (FigureCanvasSVG, ("Date", "Creator", "Format", "Type")),
    "pdf": (FigureCanvasPdf, ("CreationDate", "Creator", "Producer")),
}
"""By kind what draws it, and what it would say of a date and a version. Used directly because `Figure.savefig` draws
everything twice."""


def _drawn(figure: Figure, kind: str) -> bytes:
    canvas, dated = CANVASES[kind]
    out = io.BytesIO()
    getattr(canvas(figure), f"print_{kind}")(out, metadata=dict.fromkeys(dated))
    return compact(out.getvalue()) if kind == "svg" else out.getvalue()


FAMILY = b"'DejaVu Sans', Verdana, sans-serif"
"""Fonts of an SVG: where DejaVu Sans is not installed Verdana, which is as wide."""


def compact(svg: bytes) -> bytes:
    """Return an SVG without indentation, comments, and repeated text: half as large, drawn the same."""
    text = re.sub(rb"<!-- .*? -->\n?", b"", svg, flags=re.DOTALL)
    text = re.sub(rb' transform="rotate\(-0 [-\d. e]+\)"', b"", text)
    text = text.replace(b"font-family: 'DejaVu Sans'; ", b"").replace(b"'DejaVu Sans'", FAMILY)
    text = text.replace(b"</style>", b"text{font-family: " + FAMILY + b"}</style>", 1)
    return b"\n".join(line.strip() for line in numbered(text).splitlines() if line.strip()) + b"\n"


def numbered(svg: bytes) -> bytes:
    """Return markers, clips and hatches numbered as they appear.

    Their names are hashes of coordinates, to the last bit, which differs between processors where the printed
    coordinates do not.
    """
    numbers: dict[bytes, bytes] = {}

    def name(match: re.Match[bytes]) -> bytes:
        return numbers.setdefault(match[0], match[1] + str(len(numbers)).encode())

    return re.sub(rb'(?<=[#"])([hmp])[0-9a-f]{10}(?=[")])', name, svg)


class Look(NamedTuple):
    """Colour, dash and marker of a line, for screen and print."""

    colour: Any
    marker: str = "o"
    line: str = "-"


LOOKS: Mapping[str, Look] = {
    "NoPE": Look(BLACK, "v"),
    "no positions": Look(BLACK, "v"),
    "sinusoids": Look(COLOURS[1], "s"),
    "absolute positions": Look(COLOURS[1], "s"),
    "learned positions": Look(COLOURS[4], "h", "--"),
    "RoPE": Look(COLOURS[2], "^"),
    "ALiBi": Look(COLOURS[3], "D"),
    "RPE": Look(COLOURS[4], "h"),
    "FIRE": Look(COLOURS[9], "D"),
    "Position coupling": Look(COLOURS[0], "o"),
    "Abacus": Look(COLOURS[5], "o"),
    "ABC": Look(COLOURS[0], "p"),
    "additions only": Look(COLOURS[3], "o"),
    "with sub-tasks": Look(COLOURS[2], "^", "--"),
    "no hints": Look(BLACK, "o", "--"),
    "successor hints": Look(COLOURS[0], "s"),
    "count hints": Look(COLOURS[1], "^"),
    "fill hints": Look(COLOURS[2], "D"),
    "carry hints": Look(COLOURS[9], "s"),
    "all hints": Look(COLOURS[3], "P"),
    "standard softmax": Look(COLOURS[0], "s", "--"),
    "tempered softmax": Look(COLOURS[4], "v"),
    "constructed": Look(COLOURS[1], "s"),
    "as printed": Look(COLOURS[3], "D"),
}
"""Looks of methods, by their label; others take what is free, in their order."""
ORDER = (0, 1, 2, 3, 4, 9, 5)
"""Colours that are legible in print."""
LINES = ("-", "--", "-.", ":")
ORDERED = mpl.colormaps["viridis"]
"""Lines that have an order, from dark to light."""


def looks(labels: Iterable[str]) -> dict[str, Look]:
    """Return a look for every label: colour, marker and dashes together are different for the first 28."""
    wanted = list(labels)
    chosen = {label: LOOKS[label] for label in wanted if label in LOOKS}
    taken = [look.colour for look in chosen.values()]
    free = [COLOURS[k] for k in ORDER if COLOURS[k] not in taken] or [COLOURS[k] for k in ORDER]
    used = {look.marker for look in chosen.values()}
    markers = [marker for marker in MARKERS[:7] if marker not in used] or MARKERS[:7]
    others = [label for label in wanted if label not in chosen]
    for k, label in enumerate(others):
        round_ = k // len(free)
        chosen[label] = Look(free[k % len(free)], markers[(k + round_) % len(markers)], LINES[round_ % len(LINES)])
    return {label: chosen[label] for label in wanted}


def in_order(labels: Sequence[str]) -> dict[str, Look]:
    """Return a look for every label of lines that have an order."""
    last = max(len(labels) - 1, 1)
    return {label: Look(ORDERED(0.88 * k / last), MARKERS[k % 7]) for k, label in enumerate(labels)}
