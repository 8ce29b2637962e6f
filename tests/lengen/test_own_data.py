"""Callbacks beside data, vocabulary and module of somebody else, while the module trains."""

import itertools

import pytest
import torch
from lightning import Callback, LightningDataModule, LightningModule, Trainer
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader

import lengen
from lengen.results.records import Grid
from tests.fixtures.refusals import refused
from tests.lengen.benchmark.test_any_module import OPTIONS, Kept, Predicts, spec

SPEC = spec()
DATA = lengen.ArithmeticData(SPEC)
EXACT, EDITS = "exact_match/length=2", "edits_per_token/length=2,count=1"
CHARACTERS = "0123456789=$"


class Own(LightningDataModule):
    """Batches of ours, in a loader of nobody's."""

    def train_dataloader(self):
        return DataLoader([DATA.batch(step) for step in range(4)], batch_size=None)

    def val_dataloader(self):
        return DataLoader([DATA.validation()], batch_size=None)


class Validates(Predicts):
    def validation_step(self, batch, index):
        pass


class Watches(Callback):
    """The step and the number at the end of every evaluation."""

    def __init__(self, monitor):
        self.monitor, self.seen = monitor, []

    def on_validation_end(self, trainer, pl_module):
        if not trainer.sanity_checking:
            self.seen.append((trainer.global_step, float(trainer.callback_metrics[self.monitor])))


def fitted(*callbacks, data=None, module=None, **options):
    given = OPTIONS | {"max_epochs": 3, "num_sanity_val_steps": 2} | options
    trainer = Trainer(callbacks=list(callbacks), **given)
    module = module or Validates(len(DATA.vocab))
    trainer.fit(module, data or Own())
    return trainer


@pytest.mark.parametrize("data", [DATA, DATA.data])
def test_callbacks_measure_problems_of_ours_beside_own_data(data, tmp_path):
    grid = lengen.AccuracyGrid((2, 4), examples=5, data=data, folder=tmp_path / "grid")
    curve = lengen.EditDistanceCurve((2, 4), examples=5, data=data)
    learning = lengen.LearningCurves((2,), examples=5, data=data)
    trainer = fitted(grid, curve, learning)
    assert trainer.global_step == 12 and list(curve.curve) == [2, 4]
    assert trainer.callback_metrics[EXACT] == pytest.approx(grid.grid.accuracy(2))
    assert trainer.callback_metrics[EDITS] == pytest.approx(curve.curve[2])
    assert "exact_match.2" in trainer.callback_metrics
    assert Grid.from_csv((tmp_path / "grid" / "scores.csv").read_text()) == grid.grid
    loader = fitted(lengen.AccuracyGrid((2,), examples=5, data=data), data=Own().train_dataloader())
    assert EXACT in loader.callback_metrics


def test_a_callback_without_data_and_a_module_without_answers_say_what_they_need():
    refused(TypeError, r"or as data= of the callback", fitted, lengen.AccuracyGrid((2,), examples=5))
    module = Copies()
    with pytest.raises(TypeError, match=r"Copies: expected a method answer\(prompts\)"):
        fitted(lengen.BenchmarkScores("copy"), module=module)
    refused(lengen.benchmark.TaskError, "no size 7", lengen.BenchmarkScores, "copy", 7)


def test_numbers_are_there_after_every_n_steps_and_in_every_logger():
    logger, grid = Kept(), lengen.AccuracyGrid((2,), examples=5, data=DATA, every_n_steps=3)
    steps = []
    logger.log_metrics = lambda metrics, step=None: steps.append(step) if EXACT in metrics else None
    fitted(grid, logger=logger)
    assert steps == [3, 6, 9, 12, 12], "and once more at the end"


def measured(kind, **options):
    make = lengen.AccuracyGrid if kind == EXACT else lengen.EditDistanceCurve
    return make((2, 4), examples=5, data=DATA, **options)


@pytest.mark.parametrize(("kind", "every"), [*itertools.product([EXACT, EDITS], [0, 2, 100])])
@pytest.mark.parametrize("first", [True, False])
def test_lightnings_callbacks_find_the_numbers_in_any_order(kind, every, first, tmp_path):
    stop = EarlyStopping(kind, mode="max", patience=1, min_delta=2.0)  # nothing gets better by so much
    best = ModelCheckpoint(tmp_path, monitor=kind, mode="max")
    callback, watches = measured(kind, every_n_steps=every), Watches(kind)
    others = [stop, best, watches]
    trainer = fitted(*([callback, *others] if first else [*others, callback]), enable_checkpointing=True)
    assert trainer.global_step == 8 and best.best_model_score is not None
    assert [step for step, _ in watches.seen] == [4, 8]


def test_what_is_monitored_is_that_of_the_weights_at_hand(tmp_path):
    grid, watches = measured(EXACT), Watches(EXACT)
    expected = []
    reference = measured(EXACT)

    class Compares(Watches):
        def on_validation_end(self, trainer, pl_module):
            reference.measure(lengen.callbacks.accuracy_grid.model_of(pl_module), DATA.data, lambda progress: None)
            expected.append((trainer.global_step, pytest.approx(reference.grid.accuracy(2))))

    fitted(watches, Compares(None), grid, num_sanity_val_steps=0)
    assert watches.seen == expected and len(expected) == 3


def test_without_validation_the_end_of_an_epoch_has_the_numbers():
    stop = EarlyStopping(EXACT, mode="max", patience=1, min_delta=2.0, check_on_train_epoch_end=True)
    assert fitted(stop, measured(EXACT), limit_val_batches=0).global_step == 8


def test_a_curve_of_a_grid_is_measured_with_it():
    grid = measured(EXACT)
    curve, watches = lengen.EditDistanceCurve(scored=grid), Watches(EDITS)
    fitted(grid, watches, curve)
    assert [step for step, _ in watches.seen] == [4, 8, 12]


def test_edits_of_several_counts_are_added_up():
    data = lengen.ArithmeticData(lengen.setting("addition", digits=2, counts=(2, 3), lengths=(1, 2), steps=2, batch=4))
    grid = lengen.AccuracyGrid((1, 2), (2, 3), examples=5)
    both, curves = lengen.EditDistanceCurve(scored=grid, counts=(2, 3)), lengen.LearningCurves((1, 2), (2, 3), 5)
    module = lengen.SequenceModule(data.spec)
    trainer = Trainer(max_steps=2, callbacks=[grid, both, curves], **OPTIONS)
    trainer.fit(module, data)
    edits = [grid.grid.scores[1, count]["free_running"] for count in (2, 3)]
    assert both.curve[1] == sum(e["edit_sum"] for e in edits) / sum(e["reference_tokens"] for e in edits)
    assert trainer.callback_metrics["edits_per_token/length=1"] == pytest.approx(both.curve[1])
    assert trainer.callback_metrics["exact_match.2"] == pytest.approx(grid.grid.accuracy(2))


# ------------------------------------------------------------------ the benchmark


class Copies(LightningModule):
    """Characters of its own; it answers what it was asked, up to as many characters as it has steps behind it."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1))
        self.modes = set()

    def training_step(self, batch, index):
        return self.weight.sum() * 0

    def validation_step(self, batch, index):
        pass

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def tokens_of(self, prompt):
        return [CHARACTERS.index(letter) for letter in prompt]

    def copied(self, prompts):
        self.modes.add(self.training)
        known = 6 * (self.global_step // 4)
        return ["".join(CHARACTERS[token] for token in self.tokens_of(text))[:-1][:known] for text in prompts]


class Answers(Copies):
    def answer(self, prompts):
        return self.copied(prompts)


@pytest.mark.parametrize(("module", "answer"),
    [(Answers, None), (Copies, lambda module: module.copied)], ids=["method", "function"])  # fmt: skip
def test_a_module_with_its_own_tokenizer_is_scored_while_it_trains(module, answer):
    scores = lengen.BenchmarkScores("copy", 6, answer)
    reach, share = Watches("copy/reach"), Watches("copy/in_range")
    trained = module()
    trainer = fitted(reach, share, scores, module=trained, num_sanity_val_steps=0)
    assert reach.seen == [(4, 6.0), (8, 12.0), (12, 18.0)] and share.seen[0] == (4, 1.0)
    assert 0 < trainer.callback_metrics["copy/area"] < 1 and scores.grid.accuracy(18) == 1.0
    assert trained.modes == {False}, "it answers in evaluation mode"


def test_characters_and_modules_of_ours_answer_too():
    class Characters(Copies):
        def __init__(self):
            super().__init__()
            self.network = nn.Embedding(len(CHARACTERS), len(CHARACTERS))

    def answer(module):
        return lengen.character_model(module.network, CHARACTERS)

    scores = lengen.BenchmarkScores("copy", 6, answer, every_n_steps=10)
    fitted(scores, module=Characters())
    assert scores.grid.total(scores.grid.scores, "free_running")["n"] == len(lengen.problems("copy", 6))
    ours = lengen.BenchmarkScores("copy", 6)
    lengen.train("copy", digits=2, lengths=range(1, 31), steps=2, batch=4, callbacks=ours)
    assert set(ours.grid.scores) == set(scores.grid.scores)
