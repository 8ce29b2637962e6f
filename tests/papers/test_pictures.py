"""Every picture of the committed runs: sizes, letters, legends, titles; what it reads exists; its table is current."""

import pytest
from matplotlib.legend import Legend
from matplotlib.text import Text

from lengen import plotting
from reproduce import figures
from reproduce.catalogue import CATALOGUE
from reproduce.store.checkout import stores

pytestmark = pytest.mark.slow

PAPERS = ("coupling", "bias_calibration", "random_spaces", "task_hinting", "matrix")
EVERY = [(paper, figure.name) for paper in PAPERS for figure in CATALOGUE.figures(paper)]


@pytest.mark.parametrize("paper", PAPERS)
def test_titles_have_at_most_eight_words(paper):
    for figure in CATALOGUE.figures(paper):
        assert len(figure.title.split()) <= 8, figure.name
        assert figure.table is None or callable(figure.table)


@pytest.mark.parametrize(("paper", "name"), EVERY)
def test_a_committed_picture_can_be_read_at_the_width_of_a_page(paper, name):
    reference, _ = stores()
    for sheet in figures.sheets(paper, reference, [name]):
        with plotting.style():
            drawing = sheet.figure.draw(sheet.runs, figures.published(paper, sheet.stem.name.rpartition("-")[2]))
        assert round(drawing.get_figwidth(), 2) in (plotting.COLUMN, plotting.PAGE) and drawing.get_figheight() < 10
        words = [text for text in drawing.findobj(Text) if text.get_visible() and text.get_text().strip()]
        assert min(text.get_fontsize() for text in words) >= plotting.LETTER
        assert "not run" not in " ".join(text.get_text() for text in words)
        assert len(drawing.findobj(Legend)) <= 1


def test_committed_tables_are_those_of_the_committed_runs():
    reference, _ = stores()
    compared = set()
    for paper in PAPERS:
        names = [figure.name for figure in CATALOGUE.figures(paper) if figure.table]
        for sheet in figures.sheets(paper, reference, names):
            assert sheet.figure.table(sheet.runs) == sheet.file("csv").read_text(), sheet.stem
            compared.add(sheet.file("csv"))
    assert compared == {*reference.path.glob("*/figures/*.csv")} and len(compared) == 7
