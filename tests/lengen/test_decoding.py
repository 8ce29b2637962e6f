"""Decoding in every way against plain greedy decoding."""

import itertools
from types import SimpleNamespace

import pytest
import torch
from rapidfuzz.distance import Levenshtein

from lengen import ArithmeticData, Encoder, Given, TaskData, TrainSpec, Window, build_model, generate, replace, verify
from lengen.callbacks.accuracy_grid import score_cell
from lengen.callbacks.attention_maps_and_probes import measure_attention
from lengen.data.batch_and_random_spaces import Batch, response_start
from lengen.decoding.decoding import at_once, go_on, read
from lengen.digits import Problems
from lengen.formats.base import END, PAD
from lengen.models import Decoder
from lengen.solve import solve
from tests.cases import CASES
from tests.fixtures.decoding import check_decoding, check_scores, ended, greedy, reading_again
from tests.fixtures.models import data_for, encoder_decoder, random_model, trained
from tests.fixtures.runs import counted
from tests.fixtures.settings import (
    ENCODINGS,
    ONE_LENGTH,
    TASKS,
    case_spec,
    data_spec,
    decoder,
    sequences,
    sized,
    spec,
    strings,
)

FORMATS = {
    "addition": ("addition", {}), "addition-plain": ("addition", {"scratchpad": False}),
    "addition-unpadded": ("addition", {"pad": False}),
    "addition-unpadded-plain": ("addition", {"pad": False, "scratchpad": False}),
    "addition-reversed": ("addition", {"reverse_query": True, "reverse_response": False}),
    "multiplication": ("multiplication", {}), "parity": ("parity", {}),
}  # fmt: skip
NAMES = ["none", "sinusoidal", "rope", "alibi", "rpe", "learned"]
BIASES = {"none": None, "window": Window(1), "given": Given()}
TRAINED = {
    "sinusoidal": ("sinusoidal", {}), "learned": ("learned", {"encoder_layers": 1}),
    "window": ("sinusoidal", {"attention_bias": Window(1)}), "given": ("rpe", {"attention_bias": Given()}),
    "sees-later": ("sinusoidal", {"attention_bias": Given(), "causal": False}),
    "encoder-only": ("rpe", {"architecture": Encoder(), "shared": True, "layers": 2, "width": 48}),
}  # fmt: skip


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


@pytest.mark.slow
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


@pytest.mark.parametrize(
    "name", ["parity", *(pytest.param(name, marks=pytest.mark.slow) for name in ("addition", "addition-unpadded"))]
)
def test_cell_scores_count_what_plain_decoding_writes(name):
    model, data = half_trained(name)
    task = replace(data.task, **({"bits": 2} if name == "parity" else {"digits": 2}))
    problems = task.train(40, torch.Generator().manual_seed(2))
    arrow = 0 if name == "parity" else data.vocab.id(">")

    def answer(row: list[int]) -> list[int]:
        """The last bit, or what stands behind the last arrow."""
        return row[-1:] if name == "parity" else row[len(row) - [*row[::-1], arrow].index(arrow) :]

    check_scores(model, data, problems, check(model, data, problems), answer)


def test_cells_larger_than_one_batch_are_summed_and_a_gpu_takes_more_at_once(monkeypatch):
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
    whole = score_cell(model, data.writer, problems, True)
    monkeypatch.setattr("lengen.decoding.decoding.TOKENS_AT_ONCE", 50)
    assert score_cell(model, data.writer, problems, True) == whole


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


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bias", BIASES)
def test_encoder_decoders_agree_with_plain_greedy_decoding(name, bias):
    """Given biases are a random pattern of -inf, with rows that are closed entirely."""
    layers = [1, 2] if name == "alibi" else [0, 1]
    for number, (encoder_layers, shared) in enumerate(itertools.product(layers, [False, True])):
        options = {"attention_bias": BIASES[bias], "shared": shared, "encoder_layers": encoder_layers}
        model, data = random_model(encoder_decoder(data_for(name), encoding=name, **options), number)
        responses, _ = check_decoding(model, data, data.task.train(2, torch.Generator().manual_seed(number)))
        assert len({tuple(row) for row in responses}) > 1 or name == "none" or number, "it looks at its problem"


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_sources_and_responses_of_different_lengths(name):
    """Padding in the middle of a batch: formats that are not of one width, beside an encoder."""
    ids = {"none": "none", "learned": "coupled"}.get(name, "consecutive")
    data = data_spec("addition", position_ids=ids, room=12, reverse_response=name != "learned")
    model, data = random_model(encoder_decoder(data, encoding=name, encoder_layers=1))
    check_decoding(model, data, data.task.train(4, torch.Generator().manual_seed(1)))


@pytest.mark.parametrize("name", ["learned", "sinusoidal"])
def test_numbers_without_padding_beside_an_encoder(name):
    """As without an encoder, coupled ids of a text of one's own follow from the text."""

    def ids_of(text: str) -> list[list[int]]:
        numbers = [text[1 : end + 1].split(">") for end in range(1, len(text))]
        rows = [[0, *(min(1 + len(n[-1]), 12) for n in numbers)], [0, *(min(len(n), 12) for n in numbers)]]
        return rows if name == "learned" else [list(range(len(text)))]

    ids = {"learned": "coupled"}.get(name, "consecutive")
    data = data_spec("addition", position_ids=ids, room=12, pad=False)
    model, data = random_model(encoder_decoder(data, encoding=name, encoder_layers=1))
    problem = replace(data.task, digits=2).train(6, torch.Generator().manual_seed(1))
    written = generate(model, data.writer, problem)
    assert [ended(row) for row in written.tolist()] == [
        reading_again(model, data, problem.select(torch.tensor([i])), ids_of) for i in range(6)
    ]
    assert torch.equal(written, go_on(model, data.writer, problem, read(model, data.writer, problem)))


@pytest.mark.parametrize("name", ["sinusoidal", "rpe", "alibi"])
@pytest.mark.parametrize("options",
    [{"attention_bias": Given(), "causal": False}, {"architecture": Encoder(), "shared": True}])  # fmt: skip
def test_models_that_see_later_places_write_by_reading_the_whole_text_again(name, options):
    """Or all at once, blanks in place of the response: an encoder-only model."""
    for task in ("addition", "running_xor"):
        data = data_for(name, task, **({"base": 2} if task == "running_xor" else {}))
        model, data = random_model(encoder_decoder(data, encoding=name, **options))
        problems = data.task.train(6, torch.Generator().manual_seed(3))
        batch = data.writer.write(problems)
        with torch.no_grad():  # make the end likely in the middle of a response
            logits = model.predict(batch)[batch.loss[:, 1:]]
            model.head.bias[END] += (logits.amax(dim=1) - logits[:, END]).median() + 0.01
        responses, _ = check_decoding(model, data, problems)
        assert any(row[-1] == END and len(row) < 4 for row in responses), "some end early"


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAINED)
def test_cell_scores_of_encoder_decoders_count_what_plain_decoding_writes(name):
    encoding, options = TRAINED[name]
    train = TrainSpec(steps=100, batch=32, lr=5e-3, bucket=4)
    options = {"layers": 1, "width": 32, "head_dim": 16, **options}
    model, data = trained(encoder_decoder(data_for(encoding, "successor"), train, encoding=encoding, **options))
    problems = data.task.train(25, torch.Generator().manual_seed(1))
    responses, _ = check_decoding(model, data, problems)
    assert (
        bool(verify(model, data.writer.write(problems)).correct.any()) and sum(row[-1] == END for row in responses) > 12
    )
    check_scores(model, data, problems, responses, answer=lambda row: row)


def ending(task: str, share: float = 0.5, steps: int = 0) -> tuple[Decoder, ArithmeticData]:
    """A model, trained for some steps, that often predicts the end that these formats do not have."""
    size = sized(sequences(task), replace(ONE_LENGTH, batch=64, lr=5e-3), output_bias=True, width=32)
    model, data = trained(size, steps) if steps else random_model(size)
    batch = data.writer.write(data.test(6, 1, 40))
    with torch.no_grad():
        logits = model.predict(batch)[batch.loss[:, 1:]]
        others = logits.clone()
        others[:, END] = float("-inf")
        model.head.bias[END] += (others.amax(dim=1) - logits[:, END]).quantile(share)
    return model, data


def drawn(data: ArithmeticData, n: int = 30) -> Problems:
    return replace(data.task, longest=7).train(n, torch.Generator().manual_seed(3))


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_an_end_does_not_end_a_response_without_one(task):
    model, data = ending(task)
    problems = drawn(data)
    expected, _ = check_decoding(model, data, problems)
    assert any(END in row[:-1] for row in expected) or task in ("successor", "count"), "an end in the middle"
    assert any(END in row for row in expected)


@pytest.mark.slow
@pytest.mark.parametrize("task", ["sorting", "increment", "carries"])
def test_edit_distances_are_counted_over_all_that_is_written(task):
    model, data = ending(task, 0.2, 120)
    problems = drawn(data)
    pairs = list(zip(*check_decoding(model, data, problems), strict=True))
    scores = score_cell(model, data.writer, problems, True)
    edits = sum(Levenshtein.distance([t for t in own if t != PAD], truth) for own, truth in pairs)
    correct = sum(own == truth for own, truth in pairs)
    assert scores["free_running"] == counted(30, correct, correct, edits, sum(len(truth) for _, truth in pairs))
    cut = sum(Levenshtein.distance([*own, END][: [*own, END].index(END)], truth) for own, truth in pairs)
    assert edits != cut, "ends count as tokens, and so does what follows them"
    forced = scores["teacher_forced"]
    assert forced == {
        name: scores["free_running"][name] for name in ("n", "correct", "answer_correct", "reference_tokens")
    }


@pytest.mark.parametrize(("text", "size"), [("999", 4), ("998", 3), ("9", 2), ("0", 1), ("99999999999", 12)])
def test_as_many_digits_are_written_as_the_true_answer_has(text, size):
    for task, tokens in (("increment", size), ("carries", 3 * size)):
        model, data = ending(task, 1.0)
        problems = data.task.parse([text])
        assert len(str(int(text) + 1)) == size
        assert generate(model, data.writer, problems).tolist() == [[END] * tokens], "ends everywhere, and goes on"


def test_mixed_sizes_are_written_to_their_own_length_and_attention_measured_up_to_it():
    model, data = ending("increment")
    operands = ["999", "99", "100", "998", "9"]
    parts = [data.task.parse([text]) for text in operands]
    width = max(part.operands.shape[2] for part in parts)
    padded = [torch.nn.functional.pad(part.operands, (0, width - part.operands.shape[2])) for part in parts]
    problems = Problems(torch.cat(padded), torch.cat([part.lengths for part in parts]))
    written = generate(model, data.writer, problems)
    alone = [generate(model, data.writer, part)[0].tolist() for part in parts]
    assert [len(row) for row in alone] == [4, 3, 3, 3, 2]
    assert [row[: len(own)] for row, own in zip(written.tolist(), alone, strict=True)] == alone
    model, data = random_model(sized())
    batch = data.writer.write(data.test(4, 1, 7))
    mean, keys, steps = measure_attention(model, batch)
    assert steps == 7 * 4 and mean.shape == (2, 2, 8, 8)
    rows = torch.stack([layer["self"] for layer in model.attention(batch)])[:, :, :, 4:8]
    holding = (rows.sort(dim=-1, descending=True).values.cumsum(dim=-1) < 0.9).sum(dim=-1) + 1
    assert torch.equal(keys, holding.sum(dim=(1, 3)))
    whole = measure_attention(model, Batch(batch.tokens, batch.ids, batch.loss))
    assert torch.equal(mean, whole[0])


def test_solving_shows_a_whole_response(tmp_path, monkeypatch):
    model, data = ending("increment", 1.0)
    monkeypatch.setattr("lengen.solve.load", lambda spec, weights: model)
    found = solve(data.spec, tmp_path, ["999"])
    assert (found["prompt"], found["output"], found["answer"], found["correct"]) == ("999⊥", "$$$$", "1000", False)
    words, other = random_model(sized(sequences(alphabet=12)))
    monkeypatch.setattr("lengen.solve.load", lambda spec, weights: words)
    found = solve(other.spec, tmp_path, ["12", "3", "3"])
    assert (found["prompt"], found["answer"]) == ("12 3 3 ⊥", "3 3 12")
    monkeypatch.setattr("lengen.solve.generate", lambda *_, choose: other.vocab.encode("3 3 12")[None])
    found = solve(other.spec, tmp_path, ["12", "3", "3"])
    assert found["read"] == found["output"] == "3 3 12" and found["correct"]


@torch.no_grad()
def test_attention_of_a_layer_reads_the_stream_before_it():
    model, data = random_model(sized(norm_place="pre"))
    batch = data.writer.write(drawn(data))
    context = model._context(batch.tokens, batch.ids, None)
    streams = [model.embedding(batch.tokens), *(post for _, post in model.residuals(batch))]
    for block, x, (pre, _) in zip(model.stack(), streams, model.residuals(batch), strict=False):
        assert torch.allclose(pre, x + block.attention(block.before[0](x), context))
