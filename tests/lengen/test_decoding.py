"""One pass, cached decoding and resumed decoding decide and write what plain greedy decoding does, token by token."""

from types import SimpleNamespace

import pytest
import torch

from lengen import ArithmeticData, TaskData, TrainSpec, build_model, generate, verify
from lengen.callbacks.accuracy_grid import score_cell
from lengen.data.batch import response_start
from lengen.decoding.decoding import at_once
from lengen.formats.base import END, PAD
from lengen.models import Decoder
from lengen.settings.spec import replace
from tests.cases import CASES
from tests.fixtures.decoding import check_decoding, check_scores, greedy
from tests.fixtures.models import trained
from tests.fixtures.settings import ENCODINGS, case_spec, data_spec, decoder, spec, strings

FORMATS = {
    "addition": ("addition", {}),
    "addition-plain": ("addition", {"scratchpad": False}),
    "addition-unpadded": ("addition", {"pad": False}),
    "addition-unpadded-plain": ("addition", {"pad": False, "scratchpad": False}),
    "addition-reversed": ("addition", {"reverse_query": True, "reverse_response": False}),
    "multiplication": ("multiplication", {}),
    "parity": ("parity", {}),
}


def check(model: Decoder, data: ArithmeticData, problems) -> list[list[int]]:
    """Every way of deciding and writing against plain greedy decoding, ids from the slow reference."""
    expected = [greedy(model, data, row) for row in strings(data.spec.data.task, problems)]
    return check_decoding(model, data, problems, expected)[0]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("name", FORMATS)
def test_all_ways_agree_with_plain_greedy_decoding(name, encoding):
    task, options = FORMATS[name]
    sized = spec(data_spec(task, 2, 3, room=9, position_ids=ENCODINGS[encoding], **options), encoding=encoding)
    data = ArithmeticData(sized, 0)
    check(decoder(sized), data, data.task.train(5, torch.Generator().manual_seed(1)))


def half_trained(name: str) -> tuple[Decoder, ArithmeticData]:
    """A model after some seconds of training: right often, wrong often enough."""
    task, options = FORMATS[name]
    steps, length, room = (150, 4, 8) if task == "parity" else (250, 1, 5)
    train = TrainSpec(steps=steps, batch=64, lr=1e-2, bucket=4)
    data = data_spec(task, length, 2, room=room, **options)
    return trained(spec(data, train, layers=1, width=48, head_dim=16, ff_width=96), steps)


@pytest.mark.parametrize("name", ["parity", "addition", "addition-unpadded"])
def test_all_ways_agree_where_models_are_right_and_where_they_are_wrong(name):
    """How often they are depends on the processor: as many problems of either kind are chosen as are needed."""
    model, data = half_trained(name)
    longer = {"parity": 7, "addition": 2, "addition-unpadded": 2}[name]
    task = replace(data.task, **({"bits": longer} if name == "parity" else {"digits": longer}))
    drawn = task.train(1200, torch.Generator().manual_seed(1))
    correct = verify(model, data.writer.write(drawn)).correct
    right, wrong = (found.nonzero()[:20, 0] for found in (correct, ~correct))
    assert len(right) and (len(wrong) or name == "parity")
    texts = check(model, data, drawn.select(torch.cat([right, wrong])))
    assert sum(row[-1:] == [END] for row in texts) > 10


@pytest.mark.parametrize("name", ["parity", "addition", "addition-unpadded"])
def test_cell_scores_count_what_plain_decoding_writes(name):
    model, data = half_trained(name)
    task = replace(data.task, **({"bits": 2} if name == "parity" else {"digits": 2}))
    problems = task.train(40, torch.Generator().manual_seed(2))
    arrow = 0 if name == "parity" else data.vocab.id(">")

    def answer(row: list[int]) -> list[int]:
        """The last bit, or what stands behind the last arrow."""
        return row[-1:] if name == "parity" else row[len(row) - [*row[::-1], arrow].index(arrow) :]

    check_scores(model, data, problems, check(model, data, problems), answer)


def test_cells_larger_than_one_batch_are_summed(monkeypatch):
    model, data = half_trained("parity")
    problems = data.test(5, 1, 30)
    whole = score_cell(model, data.writer, problems, True)
    monkeypatch.setattr("lengen.decoding.decoding.TOKENS_AT_ONCE", 50)
    assert score_cell(model, data.writer, problems, True) == whole


def test_a_gpu_takes_more_at_once_and_fewer_for_a_large_model():
    model, data = half_trained("parity")
    problems = data.test(5, 1, 30)

    def batch(device, parameters):
        weights = [torch.empty(parameters, device="meta")]
        stands = SimpleNamespace(device=torch.device(device), parameters=lambda: weights)
        return at_once(data.writer, problems, stands)

    cpu = at_once(data.writer, problems, model)
    assert 0 < cpu == batch("cpu", 25_000_000) == batch("cuda", 100_000_000)
    assert batch("cuda", 300_000) > 9 * cpu
    assert 1.9 * cpu < batch("cuda", 25_000_000) < 2.1 * cpu


class Parrot:
    """Stands for a model: one hot at the next token of a text that it knows."""

    spec = SimpleNamespace(causal=True)
    device = torch.device("cpu")

    def __init__(self, batch, width):
        self.next = torch.nn.functional.one_hot(batch.tokens[:, 1:], width).float()

    def predict(self, batch):
        return self.next


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_verifying_the_worked_examples(case):
    """A model that says the example's text is right; one that says another token in the response is not, from there."""
    data = ArithmeticData(case_spec(case), 0)
    batch = data.writer.write(data.task.parse(list(case.operands)))
    width, start, size = len(data.vocab), len(case.prompt), len(case.tokens)
    right = verify(Parrot(batch, width), batch)
    assert data.vocab.decode(right.reference[0]) == data.vocab.decode(right.predicted[0])
    assert data.vocab.decode(right.reference[0]) == case.join(case.written)
    assert int(response_start(batch)[0]) == start
    assert bool(right.correct[0]) and int(right.agreed[0]) == size - start
    for place in range(start, size):
        wrong = batch._replace(tokens=batch.tokens.clone())
        wrong.tokens[0, place] = wrong.tokens[0, place] % (width - 1) + 1
        found = verify(Parrot(wrong, width), batch)
        assert not bool(found.correct[0]) and int(found.agreed[0]) == place - start
    query = batch._replace(tokens=batch.tokens.clone())
    query.tokens[0, 1:start] = PAD
    assert bool(verify(Parrot(query, width), batch).correct[0]), "what is said of the query does not count"


@pytest.mark.parametrize("at_once", [1, 3, 7])
def test_a_prefix_read_in_passes_is_the_prefix_read_at_once(monkeypatch, at_once):
    setting = spec(data_spec("addition", 2, 3, room=12), layers=2)
    data, model = TaskData(setting, 0), build_model(setting, 1).eval()
    problems = data.task.train(6, torch.Generator().manual_seed(1))
    whole = generate(model, data.writer, problems)
    monkeypatch.setattr("lengen.decoding.decoding.PREFIX_AT_ONCE", at_once)
    assert torch.equal(generate(model, data.writer, problems), whole)
