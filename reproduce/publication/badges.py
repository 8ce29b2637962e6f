"""Badges: an answer in one line, as pictures of text that need nothing else; the same runs give the same bytes."""

from html import escape

from reproduce.comparison.compare import Comparison
from reproduce.comparison.recorded import FAILS, HOLDS, REPAIRED, UNSURE
from reproduce.pages.facts import Facts

HEIGHT, EDGE, LETTER = 20, 6, 6.6
"""Pixels: of a badge, left and right of its text, of a letter on average."""
LEFT, OPEN, GOOD, MIXED = "#555555", "#6b6b6b", "#22763b", "#9a5b00"
"""Colours of the left side, and of the right one where statements are open, all hold, or some do not: dark enough
for white text."""


def badges(facts: Facts) -> dict[str, str]:
    """File name -> SVG: published values that are met and main statements of each paper, and those of all."""
    found = {name: one for name, one in facts.compared.items() if one.answers}
    values = [one.score for one in found.values()]
    met, compared = sum(one.within_5 for one in values), sum(one.compared for one in values)
    return {f"{name}.svg": _of_statements(one) for name, one in found.items()} | {
        "claims.svg": badge("published values", f"{met} of {compared} within 5 points", GOOD if compared else OPEN)
    }


def _of_statements(found: Comparison) -> str:
    counts, total = found.counts, len(found.answers)
    held = counts[HOLDS] + counts[REPAIRED]
    parts = [f"{held} of {total} hold", f"{counts[FAILS]} do not" * bool(counts[FAILS])]
    parts.append(f"{counts[UNSURE]} open" * bool(counts[UNSURE]))
    colour = MIXED if counts[FAILS] else GOOD if held == total else OPEN
    return badge("main statements", ", ".join(filter(None, parts)), colour)


def badge(left: str, right: str, colour: str) -> str:
    """Two words on two colours, with a title for those who do not see them."""
    widths = [round(len(text) * LETTER) + 2 * EDGE for text in (left, right)]
    whole = sum(widths)
    texts, boxes = [], []
    for text, start, width, fill in zip((left, right), (0, widths[0]), widths, (LEFT, colour), strict=True):
        boxes.append(f'<rect x="{start}" width="{width}" height="{HEIGHT}" fill="{fill}"/>')
        texts.append(f'<text x="{start + EDGE}" y="14" textLength="{width - 2 * EDGE}">{escape(text)}</text>')
    said = escape(f"{left}: {right}", quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="{HEIGHT}" role="img" aria-label="{said}">\n'
        f"<title>{said}</title>\n"
        f"{''.join(boxes)}\n"
        f'<g fill="#ffffff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">{"".join(texts)}</g>\n'
        "</svg>\n"
    )
