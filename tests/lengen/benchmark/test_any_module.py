"""The accuracy grid on a LightningModule that is not ours, and its refusal before training."""

import pytest
import torch
from lightning import LightningModule, Trainer
from lightning.pytorch.loggers.logger import DummyLogger
from torch import nn

import lengen
from lengen.callbacks import accuracy_grid
from lengen.decoding.decoding import most_likely
from lengen.models.foreign import Foreign
from lengen.results.progress import silent
from lengen.training.module import response_loss
from tests.fixtures.refusals import refused

OPTIONS = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False, "accelerator": "cpu"}


class Theirs(LightningModule):
    """An embedding, a recurrent layer, an output."""

    def __init__(self, symbols):
        super().__init__()
        self.embedding, self.layer = nn.Embedding(symbols, 8), nn.GRU(8, 8, batch_first=True)
        self.output, self.steps = nn.Linear(8, symbols), 0

    def logits(self, batch):
        return self.output(self.layer(self.embedding(batch.tokens[:, :-1]))[0])

    def training_step(self, batch, index):
        self.steps += 1
        return response_loss(self.logits(batch), batch.tokens, batch.loss) / batch.scale

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


class Predicts(Theirs):
    def predict(self, batch):
        return self.logits(batch)


class Attends(Predicts):
    def attention(self, batch):
        size = batch.tokens.shape[1] - 1
        weights = torch.ones(size, size).tril()
        return [{"self": (weights / weights.sum(dim=1, keepdim=True)).expand(len(batch.tokens), 2, size, size)}]


class Kept(DummyLogger):
    def __init__(self):
        super().__init__()
        self.found = {}

    def log_metrics(self, metrics, step=None):
        self.found |= metrics


def spec():
    data = lengen.DataSpec(task=lengen.Copy(3), format=lengen.Linear(), position_ids=lengen.Consecutive(20))
    model = lengen.ModelSpec(layers=1, heads=1, width=8, head_dim=8, ff_width=8)
    train = lengen.TrainSpec(steps=2, batch=4, lr=0.1)
    return lengen.Spec(data=data, model=model, train=train, test=lengen.TestSpec(lengths=(2, 4), examples=5))


def test_a_module_with_predict_is_measured():
    data, grid = lengen.ArithmeticData(spec()), lengen.AccuracyGrid((2, 4), examples=5)
    Trainer(max_steps=2, max_epochs=-1, callbacks=[grid], limit_val_batches=0, **OPTIONS).fit(
        Predicts(len(data.vocab)), data
    )
    assert set(grid.grid.scores) == {(2,), (4,)}
    assert all({*modes} == {"teacher_forced", "free_running"} for modes in grid.grid.scores.values())
    assert 0 <= grid.grid.accuracy() <= 1 and len(grid.grid.to_frame()) == 4
    assert "Grid of 2 length" in repr(grid.grid) and "<table" in grid.grid._repr_html_()


def fitted(module, *callbacks, **options):
    data = lengen.ArithmeticData(spec())
    given = OPTIONS | {"limit_val_batches": 0} | options
    Trainer(max_steps=2, max_epochs=-1, callbacks=list(callbacks), **given).fit(module, data)


def test_cells_go_to_loggers_under_names_that_say_which():
    logger, grid, curve = Kept(), lengen.AccuracyGrid((2, 4), examples=5), lengen.EditDistanceCurve((2, 4), examples=5)
    fitted(Predicts(len(spec().data.vocab)), grid, curve, logger=logger)
    assert logger.found["exact_match/length=2"] == grid.grid.accuracy(2)
    assert logger.found["edits_per_token/length=4"] == curve.curve[4] > 0


def test_attention_of_any_module_is_measured_or_refused_before_it_trains():
    maps = lengen.AttentionMaps([(2, 1)], examples=5)
    fitted(Attends(len(spec().data.vocab)), maps)
    assert maps.map is not None and len(maps.key_counts) == 2
    module = Predicts(len(spec().data.vocab))
    refused(TypeError, r"needs a method attention\(batch\)", fitted, module, lengen.AttentionMaps([(2, 1)]))
    assert module.steps == 0


def test_any_module_with_predict_is_the_model_of_ours():
    model = Predicts(len(spec().data.vocab))
    grid = lengen.AccuracyGrid((2,), examples=5)
    module = lengen.SequenceModule(spec(), model=model)
    before = model.output.weight.clone()
    fitted(module, grid, limit_val_batches=1)
    assert not torch.equal(before, model.output.weight) and set(grid.grid.scores) == {(2,)}
    with pytest.raises(TypeError, match=r"model=Linear\): expected a module with a method predict"):
        lengen.SequenceModule(spec(), model=nn.Linear(2, 2))


@pytest.mark.parametrize("named", [{"position_ids": "coupled"}, {"encoding": "rope"}, {"task": "copy"}], ids=str)
def test_what_has_no_cache_writes_what_a_transformer_writes(named):
    small = {"steps": 1, "batch": 4, "layers": 1, "heads": 2, "width": 16, "head_dim": 8, "ff_width": 8}
    data = lengen.TaskData(lengen.setting(**{"digits": 2, **small, **named}), 0)
    model = lengen.build_model(data.spec, 3).eval()
    problems = data.test(3, data.spec.test.counts[0], 20)
    for choose in (most_likely, lambda logits, rows, slots: (rows + 2 * slots) % logits.shape[1]):
        alone = lengen.generate(Foreign(model), data.writer, problems, choose=choose)
        assert torch.equal(alone, lengen.generate(model, data.writer, problems, choose=choose))


def test_one_process_writes_scores_that_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(accuracy_grid, "WORTH_KEEPING", 0)
    for first in (True, False):
        grid = lengen.AccuracyGrid((2,), examples=5, folder=tmp_path)
        grid.writes_files = first
        data = lengen.ArithmeticData(spec()).data
        grid.measure(lengen.build_model(spec(), 0).eval(), data, silent)
        assert (tmp_path / accuracy_grid.PARTIAL).exists() is first
        (tmp_path / accuracy_grid.PARTIAL).unlink(missing_ok=True)


def test_scores_that_are_kept_count_for_the_same_weights_and_cells_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(accuracy_grid, "WORTH_KEEPING", 0)
    data, scored = lengen.ArithmeticData(spec()).data, []
    score = accuracy_grid.score_cell
    monkeypatch.setattr(
        accuracy_grid,
        "score_cell",
        lambda model, writer, problems, free: scored.append(1) or score(model, writer, problems, free),
    )

    def measured(seed, lengths=(2, 4), examples=5):
        before, grid = len(scored), lengen.AccuracyGrid(lengths, examples=examples, folder=tmp_path)
        grid.measure(lengen.build_model(spec(), seed).eval(), data, silent)
        assert set(grid.grid.scores) == {(length,) for length in lengths}
        assert all(modes["teacher_forced"]["n"] == examples for modes in grid.grid.scores.values())
        return len(scored) - before

    assert measured(0) == 2 and measured(0) == 0 and measured(0, (4,)) == 0 and measured(0, (4, 3)) == 1
    assert measured(1) == 2 and measured(1, (2,), 7) == 1


TINY = {"digits": 2, "steps": 2, "batch": 4, "layers": 1, "heads": 2, "width": 16, "head_dim": 8, "ff_width": 8}
ADDS = lengen.setting("addition", **TINY)


NARROW = lengen.setting("addition", **TINY, position_ids=lengen.Coupled((9,)))


@pytest.mark.parametrize(("kind", "data", "callback", "error", "sentence"), [
    (Theirs, ADDS, lambda: lengen.AccuracyGrid((2,), (2,)), TypeError, "predict"),
    (Predicts, NARROW, lambda: lengen.AccuracyGrid((2, 30), (2,)), ValueError, "position ids up to 32"),
    (Predicts, ADDS, lambda: lengen.AccuracyGrid((1, 2)), ValueError, r"data.task=addition have at least 2 operands"),
    (Predicts, ADDS, lambda: lengen.EditDistanceCurve((1, 2)), ValueError, r"=addition have at least 2 operands"),
    (Predicts, ADDS, lambda: lengen.AccuracyGrid(()), ValueError, "no cell is tested"),
    (Predicts, ADDS, lambda: lengen.EditDistanceCurve(()), ValueError, "no cell is tested"),
])  # fmt: skip
def test_a_module_or_cells_that_cannot_be_measured_are_refused_before_anything_trains(
    kind, data, callback, error, sentence
):
    module = kind(len(ADDS.data.vocab))
    trainer = Trainer(max_steps=2, max_epochs=-1, callbacks=[callback()], **OPTIONS)
    refused(error, sentence, trainer.fit, module, lengen.ArithmeticData(data))
    assert module.steps == 0


@pytest.mark.parametrize("other", [{"task": "copy"}, {"position_ids": "coupled"}])
def test_a_module_refuses_data_of_other_tokens_or_ids(other):
    data = lengen.setting(**{"task": "addition", "digits": 2, "steps": 2, "batch": 4} | other)
    with pytest.raises(lengen.SettingError, match="the specification of the data has other"):
        Trainer(max_steps=2, max_epochs=-1, **OPTIONS).fit(lengen.SequenceModule(ADDS), lengen.ArithmeticData(data))


def test_the_specification_clips_unless_the_trainer_does():
    def trained(clip, **options):
        module = lengen.SequenceModule(lengen.setting(ADDS, clip=clip))
        Trainer(max_steps=2, max_epochs=-1, **OPTIONS, **options).fit(module, lengen.ArithmeticData(ADDS))
        return module.model.state_dict()

    def same(one, other):
        return all(torch.equal(one[name], other[name]) for name in one)

    assert not same(trained(1e-9), trained(1.0))
    assert same(trained(0.5), trained(1e-9, gradient_clip_val=0.5))
    assert not same(trained(0.0), trained(0.0, gradient_clip_val=1e-9, gradient_clip_algorithm="value"))


class Wide(Predicts):
    """Predicts what follows the last token, too."""

    def logits(self, batch):
        return self.output(self.layer(self.embedding(batch.tokens))[0])


class Few(Predicts):
    """Knows five symbols."""

    def logits(self, batch):
        return super().logits(batch)[..., :5]


class Tuples(Predicts):
    def logits(self, batch):
        return (super().logits(batch),)


@pytest.mark.parametrize(("model", "given"), [(Wide, r"\(5, \d+, \d+\)"), (Few, r"\(5, 8, 5\)"), (Tuples, "tuple")])
def test_logits_of_another_shape_are_refused_in_one_sentence_before_anything_trains(model, given):
    data = lengen.ArithmeticData(spec())
    module = lengen.SequenceModule(spec(), model(len(data.vocab)))
    batch = data.data.writer.write(data.data.test(3, 1, 5))
    refused(TypeError, f"^{model.__name__}.predict gave {given}; expected", module, batch)
    refused(TypeError, "predict gave", Trainer(max_steps=2, max_epochs=-1, **OPTIONS).fit, module, data)
    assert module.global_step == 0


class Mistaken(Predicts):
    """Attention that is no list of layers, or has too few keys."""

    def __init__(self, symbols, made):
        super().__init__(symbols)
        self.made = made

    def attention(self, batch):
        return self.made(len(batch.tokens), batch.tokens.shape[1] - 1)


@pytest.mark.parametrize(("made", "given"), [
    (lambda rows, size: torch.ones(rows, 2, size, size), "gave Tensor"),
    (lambda rows, size: [{"cross": torch.ones(rows, 2, size, size)}], "gave list"),
    (lambda rows, size: [{"self": torch.ones(rows, 2, size, size - 1)}], r"gave weights of shape \(5, 2, "),
])  # fmt: skip
def test_attention_of_another_form_is_refused_in_one_sentence(made, given):
    data = lengen.ArithmeticData(spec())
    maps = lengen.AttentionMaps([(3, 1)], 5)
    with pytest.raises(TypeError, match=f"{given}.*; expected a dictionary for each layer") as told:
        maps.measure(Foreign(Mistaken(len(data.vocab), made)), data.data, silent)
    assert "\n" not in str(told.value)
