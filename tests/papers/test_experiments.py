"""Experiments of all papers: declared at every profile or absent with a reason, written, built and trained."""

import pytest
import torch
from matplotlib.figure import Figure as Drawing

from lengen import Decoder, Encoder, EncoderDecoder, SequenceModule, TaskData, build_model, models, validate
from lengen.experiment import PROFILES
from reproduce.catalogue import CATALOGUE

pytestmark = pytest.mark.slow

PAPERS = CATALOGUE.papers()
MODELS = {Decoder: models.Decoder, Encoder: models.Encoder, EncoderDecoder: models.EncoderDecoder}


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
def test_every_profile_is_declared_or_its_absence_has_a_reason(paper):
    experiments = CATALOGUE.experiments(paper)
    assert len({item.name for item in experiments}) == len(experiments)
    for item in experiments:
        assert {*item.specs} | {*item.absent} == {*PROFILES} and not {*item.specs} & {*item.absent}, item.name
        assert {*item.extra} <= {*item.specs} and all((*item.absent.values(), *item.extra.values())), item.name
        assert item.claim and item.place and item.seeds >= 1, item.name


@pytest.mark.parametrize("paper", PAPERS)
def test_figures_read_declared_experiments_once_and_draw_without_runs(paper):
    declared = {item.name for item in CATALOGUE.experiments(paper)}
    for figure in CATALOGUE.figures(paper):
        assert {*figure.reads} <= declared and len({*figure.reads}) == len(figure.reads), figure.name
        assert figure.title and isinstance(figure.draw({name: [] for name in figure.reads}), Drawing), figure.name


@pytest.mark.parametrize("paper", PAPERS)
def test_deviations_are_numbered_in_order(paper):
    deviations = CATALOGUE.deviations(paper)
    numbers = [f"{next(iter(deviations))[0]}{n}" for n in range(1, len(deviations) + 1)]
    assert list(deviations) == numbers and all(deviations.values())


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
