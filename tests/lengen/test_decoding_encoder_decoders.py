"""Beside an encoder, as an encoder, with shared layers: every way of deciding and writing is plain greedy decoding."""

import itertools

import pytest
import torch

from lengen import Encoder, Given, TrainSpec, Window, generate, verify
from lengen.data.batch import Batch
from lengen.decoding.decoding import go_on, read
from lengen.formats.base import END, PAD
from lengen.settings.spec import replace
from tests.fixtures.decoding import check_decoding, check_scores, ended
from tests.fixtures.models import data_for, encoder_decoder, random_model, trained
from tests.fixtures.settings import data_spec

NAMES = ["none", "sinusoidal", "rope", "alibi", "rpe", "learned"]
BIASES = {"none": None, "window": Window(1), "given": Given()}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bias", BIASES)
def test_all_ways_agree_with_plain_greedy_decoding(name, bias):
    """Given biases are a random pattern of -inf, with rows that are closed entirely."""
    layers = [1, 2] if name == "alibi" else [0, 1]
    for number, (encoder_layers, shared) in enumerate(itertools.product(layers, [False, True])):
        options = {"attention_bias": BIASES[bias], "shared": shared, "encoder_layers": encoder_layers}
        model, data = random_model(encoder_decoder(data_for(name), encoding=name, **options), number)
        responses, _ = check_decoding(model, data, data.task.train(2, torch.Generator().manual_seed(number)))
        assert len({tuple(row) for row in responses}) > 1 or name == "none" or number, "it looks at its problem"


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
    ids = {"learned": "coupled"}.get(name, "consecutive")
    data = data_spec("addition", position_ids=ids, room=12, pad=False)
    model, data = random_model(encoder_decoder(data, encoding=name, encoder_layers=1))
    problem = replace(data.task, digits=2).train(6, torch.Generator().manual_seed(1))
    written = generate(model, data.writer, problem)
    assert [ended(row) for row in written.tolist()] == [
        by_the_text(model, data, problem.select(torch.tensor([i]))) for i in range(6)
    ]
    assert torch.equal(written, go_on(model, data.writer, problem, read(model, data.writer, problem)))


@torch.no_grad()
def by_the_text(model, data, problem) -> list[int]:
    """Greedy decoding of one unpadded problem, ids from the text so far."""
    batch, coupled = data.writer.write(problem), data.spec.data.position_ids.kind == "coupled"
    most = int(data.writer.plan(problem)[1])
    tokens, text = [END], ""
    while len(tokens) <= most and (len(tokens) == 1 or tokens[-1] != END):
        if coupled:
            numbers = [text[: place + 1].split(">") for place in range(len(text))]
            rows = [[0, *(min(1 + len(n[-1]), 12) for n in numbers)], [0, *(min(len(n), 12) for n in numbers)]]
        else:
            rows = [list(range(len(tokens)))]
        now = Batch(
            torch.tensor([[*tokens, PAD]]), torch.tensor([[*row, 0] for row in rows])[:, None], None, batch.source
        )
        tokens.append(int(model.predict(now)[0, -1].argmax()))
        text += data.vocab.decode(tokens[-1:]) or "_"
    return ended(tokens[1:])


@pytest.mark.parametrize("name", ["sinusoidal", "rpe", "alibi"])
@pytest.mark.parametrize(
    "options", [{"attention_bias": Given(), "causal": False}, {"architecture": Encoder(), "shared": True}]
)
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


TRAINED = {
    "sinusoidal": ("sinusoidal", {}),
    "learned": ("learned", {"encoder_layers": 1}),
    "window": ("sinusoidal", {"attention_bias": Window(1)}),
    "given": ("rpe", {"attention_bias": Given()}),
    "sees-later": ("sinusoidal", {"attention_bias": Given(), "causal": False}),
    "encoder-only": ("rpe", {"architecture": Encoder(), "shared": True, "layers": 2, "width": 48}),
}


def trained_model(name: str):
    encoding, options = TRAINED[name]
    data = data_for(encoding, "successor")
    train = TrainSpec(steps=100, batch=32, lr=5e-3, bucket=4)
    sized = encoder_decoder(data, train, encoding=encoding, **{"layers": 1, "width": 32, "head_dim": 16, **options})
    return trained(sized)


@pytest.mark.parametrize("name", TRAINED)
def test_all_ways_agree_for_models_that_are_sometimes_right(name):
    model, data = trained_model(name)
    problems = data.task.train(25, torch.Generator().manual_seed(1))
    responses, _ = check_decoding(model, data, problems)
    right = float(verify(model, data.writer.write(problems)).correct.float().mean())
    assert right > 0
    assert sum(row[-1] == END for row in responses) > 12


@pytest.mark.parametrize("name", TRAINED)
def test_cell_scores_count_what_plain_decoding_writes(name):
    model, data = trained_model(name)
    problems = data.task.train(20, torch.Generator().manual_seed(2))
    check_scores(model, data, problems, check_decoding(model, data, problems)[0], answer=lambda row: row)
