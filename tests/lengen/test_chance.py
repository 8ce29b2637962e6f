"""Models that learned nothing but where tokens stand are told from those that learned something."""

import math

import msgspec
import pytest
import torch

from lengen import Copy, DataSpec, Linear, NextLarger, NoPositionIds, PairAddition, Parity, TrainSpec
from lengen.callbacks.chance import EXAMPLES, Chance, chance, trained_examples
from lengen.callbacks.monitoring import silent
from lengen.data.batch import Batch
from lengen.data.task_data import TaskData, targets
from lengen.decoding.decoding import true_responses
from lengen.formats.base import END
from lengen.settings.spec import Spec, replace
from lengen.training.build import model_for
from tests.fixtures.settings import TEST, spec
from tests.lengen.test_execute import SPEC, run

WRITTEN = TrainSpec(steps=100, batch=50, bucket=8, lr=1e-3)


def setting(task, width: int = 0, **train) -> Spec:
    data = DataSpec(task=task, format=Linear(width=width), position_ids=NoPositionIds())
    return spec(data, replace(WRITTEN, **train), replace(TEST, lengths=(3,)), encoding="none")


SETTINGS = {
    "parity": (setting(Parity(8)), math.log(2) / 2),
    "addition": (setting(PairAddition(digits=3), width=4), 1.37),
    "copy": (setting(Copy(8)), math.log(10) * 4.5 / 5.5),
    "all tokens": (setting(NextLarger(longest=20, alphabet=100), loss="all"), 2.2),
}
"""Settings, and what is lost per token by who knows the places alone."""


class Told:
    """A model whose logits are told."""

    def __init__(self, spec: Spec, logits) -> None:
        self.spec, self.device, self.logits = spec.model, torch.device("cpu"), logits

    def eval(self):
        return self

    def predict(self, batch: Batch) -> torch.Tensor:
        return self.logits(batch)


def asked(spec: Spec, logits) -> dict[str, object]:
    measured = Chance()
    measured.measure(Told(spec, logits), TaskData(spec, 0), silent)
    return measured.found


def frequencies(spec: Spec) -> torch.Tensor:
    """(R, V) how often each token stands at each place of the response in other examples of the same setting."""
    found = torch.zeros(40, 260)
    for batch in trained_examples(TaskData(spec, 1)):
        responses, sizes = true_responses(batch), batch.loss.sum(dim=1)
        for row, size in zip(responses.tolist(), sizes.tolist(), strict=True):
            for place, token in enumerate(row[:size]):
                found[place, token] += 1
    return found


def true_tokens(batch: Batch) -> torch.Tensor:
    return torch.nn.functional.one_hot(batch.tokens[:, 1:], 260).float()


def by_place(spec: Spec, told: bool):
    """Logits of a model that knows the places alone, and where responses end where it is ``told``."""
    seen = (frequencies(spec) + 1e-3).log()
    if told:
        seen[:, END] = -100.0

    def logits(batch: Batch) -> torch.Tensor:
        start = batch.loss.int().argmax(dim=1, keepdim=True)
        place = (torch.arange(1, batch.tokens.shape[1]) - start).clamp(min=0)
        found = seen[place]
        end = (batch.tokens[:, 1:] == END)[:, :, None] & told
        return torch.where(end, 100.0 * true_tokens(batch), found)

    return logits


@pytest.mark.parametrize("name", SETTINGS)
def test_a_model_that_learned_where_tokens_stand_is_flagged(name):
    setting, expected = SETTINGS[name]
    batches = trained_examples(TaskData(setting, 0))
    assert EXAMPLES <= sum(len(batch.tokens) for batch in batches) < 2 * EXAMPLES
    least = chance(batches)
    assert least == pytest.approx(expected, rel=0.06)
    for told in (True, False):
        found = asked(setting, by_place(setting, told))
        assert found["never_left_chance"]["chance"] == pytest.approx(least)
        assert found["never_left_chance"]["loss"] > least
        (note,) = found["notes"]
        assert note.startswith("it never left chance") and "\n" not in note
    assert found["never_left_chance"]["loss"] < 1.35 * least + 0.2, "and it knows all it can know of the places"


@pytest.mark.parametrize("name", SETTINGS)
def test_a_model_that_learned_a_part_is_not_flagged(name):
    """It knows each token half as well as the best, or all tokens of a tenth of the examples and the places."""
    setting, _ = SETTINGS[name]
    places = by_place(setting, told=True)

    def some(batch: Batch) -> torch.Tensor:
        known = (torch.arange(len(batch.tokens)) % 10 == 0)[:, None, None]
        return torch.where(known, 100.0 * true_tokens(batch), places(batch))

    for logits in (lambda batch: 100.0 * true_tokens(batch), some):
        assert asked(setting, logits) == {}


def test_what_is_asked_are_the_responses_of_trained_examples_whatever_the_loss_is_of():
    """A perfect model still loses what nobody can know of a query."""
    one, whole = SETTINGS["all tokens"][0], replace(SETTINGS["all tokens"][0], train={"loss": "response"})
    data, other = TaskData(one, 0), TaskData(whole, 0)
    asked = trained_examples(data)
    for few, same in zip(asked, trained_examples(other), strict=True):
        assert torch.equal(few.tokens, same.tokens) and torch.equal(few.loss, same.loss)
    trained = [data.batch(step) for step in range(8)]
    rows = {tuple(row) for batch in asked for row in batch.tokens.tolist()}
    assert all(tuple(row) in rows for batch in trained for row in batch.tokens.tolist())
    assert all(torch.equal(targets(few, "response"), few.loss) for few in asked)


def test_an_unread_end_costs_nothing_and_a_few_examples_no_guess():
    rows = torch.tensor([[5, 7, END, 0], [5, 8, END, 0], [5, END, 0, 0]])
    batch = Batch(torch.cat([torch.full((3, 1), 9), rows], 1), torch.zeros(0, 1, 5), torch.zeros(3, 5) > 0)
    batch = batch._replace(loss=torch.cat([torch.zeros(3, 1) > 0, rows > 0], 1))
    assert chance([batch]) == pytest.approx(2 * math.log(2) / 8)
    assert chance([batch, batch]) == pytest.approx(chance([batch]))


def test_a_run_that_did_not_train_is_flagged_and_one_that_did_is_not(tmp_path):
    """A learning rate of nothing leaves the weights as they were drawn."""
    frozen = run(tmp_path / "frozen", replace(SPEC, train={"lr": 1e-12})).info
    assert frozen["never_left_chance"]["loss"] > frozen["never_left_chance"]["chance"] > 0
    (note,) = frozen["notes"]
    assert note.startswith("it never left chance")
    quick = replace(TEST, lengths=(1,), counts=(1,), examples=8)
    same = replace(setting(Parity(1), steps=60, batch=32, bucket=1, lr=1e-2, warmup=0.0), model={"layers": 1})
    learned = run(tmp_path / "learned", msgspec.structs.replace(same, test=quick)).info
    assert "never_left_chance" not in learned and "notes" not in learned


def test_a_model_that_was_not_trained_is_not_asked():
    untrained = replace(SPEC, train={"steps": 0})
    data = TaskData(untrained, 0)
    measured = Chance()
    measured.measure(model_for(data, 0), data, silent)
    assert measured.found == {}
    trained = TaskData(SPEC, 0)
    measured.measure(model_for(trained, 0), trained, silent)
    assert measured.found
