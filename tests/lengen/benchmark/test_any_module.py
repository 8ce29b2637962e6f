"""The accuracy grid on a LightningModule that is not ours, and its refusal before training."""

import pytest
import torch
from lightning import LightningModule, Trainer
from torch import nn

import lengen
from lengen.training.module import response_loss

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
    assert all(list(modes) == ["teacher_forced"] for modes in grid.grid.scores.values())
    assert 0 <= grid.grid.accuracy() <= 1 and len(grid.grid.to_frame()) == 2
    assert "Grid of 2 length" in repr(grid.grid) and "<table" in grid.grid._repr_html_()


def test_a_module_without_it_is_refused_before_it_trains():
    data = lengen.ArithmeticData(spec())
    module = Theirs(len(data.vocab))
    trainer = Trainer(max_steps=2, max_epochs=-1, callbacks=[lengen.AccuracyGrid((2,))], **OPTIONS)
    with pytest.raises(TypeError, match="predict"):
        trainer.fit(module, data)
    assert module.steps == 0
