"""Badges: a verdict in one line, as pictures of text that need nothing else; the same runs give the same bytes."""

from collections import Counter
from html import escape

from reproduce.comparison import score_card
from reproduce.comparison.rows import DIFFERS, REPRODUCED
from reproduce.publication.facts import Facts

HEIGHT, EDGE, LETTER = 20, 6, 6.6
"""Pixels: of a badge, left and right of its text, of a letter on average."""
LEFT, OPEN, GOOD, MIXED = "#555555", "#6b6b6b", "#22763b", "#9a5b00"
"""Colours of the left side, and of the right one where claims are open, all are reproduced, or some differ: dark enough
for white text."""


def badges(facts: Facts) -> dict[str, str]:
    """File name -> SVG: headline claims of each paper, and those of all."""
    found = {name: score_card.score(rows, headline=True) for name, rows in facts.rows.items()}
    found = {name: counts for name, counts in found.items() if counts}
    all_papers: Counter[str] = sum(found.values(), Counter())
    return {f"{name}.svg": _of_claims("headline claims", counts) for name, counts in found.items()} | {
        "claims.svg": _of_claims("headline claims of all papers", all_papers)
    }


def _of_claims(what: str, counts: Counter[str]) -> str:
    reproduced, differ, total = counts[REPRODUCED], counts[DIFFERS], counts.total()
    parts = [f"{reproduced} of {total} reproduced", f"{differ} differ" if differ else ""]
    undecided = total - reproduced - differ
    parts.append(f"{undecided} open" if undecided else "")
    colour = MIXED if differ else GOOD if reproduced == total else OPEN
    return badge(what, ", ".join(filter(None, parts)), colour)


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
