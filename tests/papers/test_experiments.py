"""Every experiment and every picture of every paper."""

import pytest
import torch
from matplotlib.figure import Figure as Drawing
from matplotlib.legend import Legend
from matplotlib.text import Text

from lengen import Decoder, Encoder, EncoderDecoder, SequenceModule, TaskData, build_model, models, plotting, validate
from lengen.experiment import PROFILES
from lengen.settings.changes import overlay
from lengen.settings.spec import declared
from reproduce import figures
from reproduce.catalogue import CATALOGUE
from reproduce.store.checkout import stores
from tests.fixtures.devices import check_there

pytestmark = pytest.mark.slow

PAPERS = CATALOGUE.papers()
MODELS = {Decoder: models.Decoder, Encoder: models.Encoder, EncoderDecoder: models.EncoderDecoder}
EVERY = [(paper, figure.name) for paper in PAPERS for figure in CATALOGUE.figures(paper)]


def distinct(*profiles: str, papers=PAPERS) -> list:
    """The first experiment of every distinct setting that is trained, with its profile."""
    seen = {}
    for paper in papers:
        for item in CATALOGUE.experiments(paper):
            for profile in profiles:
                if profile in item.specs and not item.specs[profile].constructed:
                    name = f"{item.name}@{profile}"
                    seen.setdefault(item.specs[profile].hash(), pytest.param(item.specs[profile], id=name))
    return list(seen.values())


@pytest.mark.parametrize("paper", PAPERS)
def test_profiles_figures_titles_and_deviations_of_a_paper_are_declared_in_order(paper):
    experiments = CATALOGUE.experiments(paper)
    assert len({item.name for item in experiments}) == len(experiments)
    for item in experiments:
        assert {*item.specs} | {*item.absent} == {*PROFILES} and not {*item.specs} & {*item.absent}, item.name
        assert {*item.extra} <= {*item.specs} and all((*item.absent.values(), *item.extra.values())), item.name
        assert item.claim and item.place and item.seeds >= 1, item.name
    declared = {item.name for item in CATALOGUE.experiments(paper)}
    for figure in CATALOGUE.figures(paper):
        assert {*figure.reads} <= declared and len({*figure.reads}) == len(figure.reads), figure.name
        assert figure.title and isinstance(figure.draw({name: [] for name in figure.reads}), Drawing), figure.name
    deviations = CATALOGUE.deviations(paper)
    numbers = [f"{next(iter(deviations))[0]}{n}" for n in range(1, len(deviations) + 1)]
    assert list(deviations) == numbers and all(deviations.values())
    for figure in CATALOGUE.figures(paper):
        assert len(figure.title.split()) <= 8, figure.name
        assert figure.table is None or callable(figure.table)


@pytest.mark.parametrize("spec", distinct("cpu", "night", "paper"))
def test_every_setting_makes_sense_and_its_largest_problems_have_position_ids(spec):
    spec.check()
    for part in spec.trainings():
        validate(part)
        data = TaskData(part, 0)
        batch = data.writer.write(data.test(max(part.test.lengths), max(part.test.counts), 2))
        assert batch.tokens.shape[1] >= getattr(part.data.format, "width", 0)
        for row, largest in zip(batch.ids, getattr(part.data.position_ids, "sizes", ()), strict=False):
            assert int(row.max()) <= largest
        for operands in part.test.probes:
            data.writer.write(data.task.parse(list(operands)))


@pytest.mark.parametrize("spec", distinct("smoke", papers=[paper for paper in PAPERS if paper != "matrix"]))
def test_every_setting_is_built_and_stepped_twice(spec):
    for part in spec.trainings():
        module = SequenceModule(part, build_model(part, 0))
        assert type(module.model) is MODELS[type(part.model.architecture)]
        assert len(module.model.others) == len(part.data.hints)
        optimizer = torch.optim.SGD(module.parameters(), lr=0.01)
        before = [parameter.clone() for parameter in module.parameters()]
        data = TaskData(part, 0)
        for step in range(2):
            batch = data.batch(step)
            assert len(batch.tokens) == part.train.batch
            optimizer.zero_grad()
            module.training_step(batch, step).backward()
            optimizer.step()
        assert all(bool(parameter.isfinite().all()) for parameter in module.parameters())
        assert any(not torch.equal(a, b) for a, b in zip(before, module.parameters(), strict=True))


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
    assert compared == {*reference.path.glob("*/figures/*.csv")} and len(compared) == 5


def measuring():
    """The first experiment of each paper with each of its own measurements, as it is at profile smoke."""
    found = {}
    for paper in CATALOGUE.papers():
        for item in CATALOGUE.experiments(paper):
            spec = item.specs.get("smoke")
            declares = declared(spec, "measurements")
            own = declares(spec) if declares else ()
            if own:
                functions = [getattr(getattr(each, "function", None), "__name__", "") for each in own]
                kind = (paper, *map(type, own), *functions, type(spec.data.format))
                found.setdefault(kind, pytest.param(spec, id=item.name))
    return list(found.values())


@pytest.mark.parametrize("spec", measuring())
def test_own_measurements_work_there(spec):
    """On as few problems as there can be: what is on the wrong device is so with one."""
    few = {"test": {"examples": 2, "track": 0}}
    if hasattr(spec, "measure"):
        few["measure"] = {"examples": 2, "prompts": 2}
    check_there(overlay(spec, few))
