"""A badge: how many published values are met, as a picture of text; the same runs give the same bytes."""

from html import escape

from reproduce.pages.facts import Facts

HEIGHT, EDGE, LETTER = 20, 6, 6.6
"""Pixels: of a badge, left and right of its text, of a letter on average."""
LEFT, OPEN, GOOD = "#555555", "#6b6b6b", "#22763b"
"""Colours of the left side, and of the right one without and with values: dark enough for white text."""


def claims(facts: Facts) -> str:
    """Return the badge of the published values of all papers that are met."""
    scores = [comparison.score for comparison in facts.compared.values() if comparison.answers]
    met, compared = sum(score.within_5 for score in scores), sum(score.compared for score in scores)
    return badge("published values", f"{met} of {compared} within 5 points", GOOD if compared else OPEN)


def badge(left: str, right: str, colour: str) -> str:
    """Return two words on two colours, with a title for those who do not see them."""
    widths = [round(len(text) * LETTER) + 2 * EDGE for text in (left, right)]
    whole = sum(widths)
    texts, boxes = [], []
    for text, start, width, fill in zip((left, right), (0, widths[0]), widths, (LEFT, colour), strict=True):
        boxes.append(f'<rect x="{start}" width="{width}" height="{HEIGHT}" fill="{fill}"/>')
        texts.append(f'<text x="{start + EDGE}" y="14" textLength="{width - 2 * EDGE}">{escape(text)}</text>')
    title = escape(f"{left}: {right}", quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="{HEIGHT}" role="img" aria-label="{title}">\n'
        f"<title>{title}</title>\n"
        f"{''.join(boxes)}\n"
        f'<g fill="#ffffff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">{"".join(texts)}</g>\n'
        "</svg>\n"
    )
