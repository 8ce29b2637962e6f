"""Metrics, vocabularies and digits."""

import functools

import pytest
import torch
import torchmetrics
from hypothesis import given
from hypothesis import strategies as st

import lengen
from lengen import (
    AnswerMatch,
    Counted,
    EditDistance,
    ExactMatch,
    Linear,
    Parity,
    answer_match,
    digits,
    edit_distances,
    exact_match,
)
from lengen.formats.base import END, FIRST, PAD, PRINTABLE, Vocab
from lengen.metrics import METRICS, count
from lengen.metrics.response_metrics import Metric, answer_token
from tests.cases import CASES
from tests.fixtures.refusals import refused

sequences = st.lists(st.integers(1, 5), max_size=12)
batches = st.lists(st.tuples(sequences, sequences), min_size=1, max_size=5)
SCRATCHPAD = Linear(scratchpad=True, pad_query=True, pad_response=True, reverse_response=True).build(
    lengen.Addition(digits=3)
)
VOCAB = Vocab(SCRATCHPAD.symbols)
HALF = Metric("half", "half", lambda responses: {"halves": 0.5}, "halves")
CHARACTERS = st.characters(categories=["L", "N", "S", "P"], exclude_characters="$")
WORDS = st.text(CHARACTERS, min_size=1, max_size=4).filter(lambda word: word != "PAD")
texts = st.lists(st.tuples(st.text(max_size=6), st.text(min_size=1, max_size=6)), min_size=1, max_size=4)


def padded(rows, extra=0):
    width = max([*map(len, rows), 1]) + extra
    return torch.tensor([row + [PAD] * (width - len(row)) for row in rows])


def table(a, b) -> int:
    d = [[i + j if i * j == 0 else 0 for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            d[i][j] = min(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1]))
    return d[-1][-1]


@given(batches, st.integers(0, 3))
def test_functions_agree_with_loops(pairs, extra):
    written, reference = padded([a for a, _ in pairs], extra), padded([b for _, b in pairs])
    assert exact_match(written, reference).tolist() == [a == b for a, b in pairs]
    assert edit_distances(written, reference).tolist() == [table(a, b) for a, b in pairs]
    assert torch.equal(edit_distances(written, reference), edit_distances(reference, written))


@given(st.lists(batches, min_size=1, max_size=3))
def test_classes_keep_counts_over_batches(several):
    exact, edits = ExactMatch(), EditDistance()
    for pairs in several:
        for metric in (exact, edits):
            metric.update(padded([a for a, _ in pairs]), padded([b for _, b in pairs]))
    everything = [pair for pairs in several for pair in pairs]
    assert float(exact.compute()) == pytest.approx(sum(a == b for a, b in everything) / len(everything))
    tokens = sum(len(b) for _, b in everything)
    if tokens:
        assert float(edits.compute()) == pytest.approx(sum(table(a, b) for a, b in everything) / tokens)
    assert int(edits.counted) == sum(table(a, b) for a, b in everything)
    exact.reset()
    assert int(exact.per) == 0


def test_torchmetrics_is_wrong_beyond_its_beam_and_ours_is_not():
    """Half of a response of 200 tokens: 100 edits. Theirs finds more; why `edit_distances` does not use it."""
    whole = torch.randint(2, 12, (1, 200), generator=torch.Generator().manual_seed(0))
    letters = ["".join(map(chr, (side + 60).flatten().tolist())) for side in (whole[:, 100:], whole)]
    assert table(*letters) == 100
    assert edit_distances(whole[:, 100:], whole).tolist() == [100]
    assert float(torchmetrics.text.EditDistance()([letters[0]], [letters[1]])) > 100


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_metrics_of_the_worked_examples(case):
    """The true response is right in every sense; a wrong first token spoils a scratchpad but not its answer."""
    format, vocab = case.data.format.build(case.data.task), case.data.vocab
    other = next(symbol for symbol in format.symbols if symbol != case.written[0])
    true, wrong = (
        torch.tensor([[vocab.id(symbol) for symbol in (first, *case.written[1:])]])
        for first in (case.written[0], other)
    )
    size = len([symbol for symbol in case.written if symbol not in ("$", "PAD")])
    apart = (len(case.final.split()) if case.words else len(case.final)) < size
    assert exact_match(true, true).tolist() == answer_match(format, vocab, true, true).tolist() == [True]
    assert exact_match(wrong, true).tolist() == [False]
    assert answer_match(format, vocab, wrong, true).tolist() == [apart]
    assert edit_distances(wrong, true).tolist() == [1]
    metric = lengen.AnswerMatch(format, vocab)
    metric.update(wrong, true)
    metric.update(true, true)
    assert float(metric.compute()) == (1.0 if apart else 0.5)


def test_padding_that_is_written_is_an_edit_and_a_short_text_has_no_token_of_the_answer():
    """Only a model that has learned nothing writes it, in the middle of a text."""
    true = VOCAB.encode("00>21$")[None]
    wrong = torch.cat([true[:, :4], torch.tensor([[PAD]]), true[:, 4:]], dim=1)
    assert edit_distances(wrong, true).tolist() == [1]
    assert exact_match(wrong, true).tolist() == answer_match(SCRATCHPAD, VOCAB, wrong, true).tolist() == [False]
    assert answer_match(SCRATCHPAD, VOCAB, wrong, VOCAB.encode("00>2$")[None]).tolist() == [False]
    inside, right = torch.tensor([[5, 0, 6], [0, 5, 6]]), torch.tensor([[5, 6, 0], [5, 6, 0]])
    assert edit_distances(inside, right).tolist() == [1, 1] and not exact_match(inside, right).any()
    assert edit_distances(torch.zeros(2, 0, dtype=torch.long), right).tolist() == [2, 2]
    assert answer_token(true[:, :2], true).tolist() == [False]
    assert "answer_token_correct" not in count(true, true, SCRATCHPAD, VOCAB, own_text=False)


@pytest.mark.parametrize(("written", "in_place", "before_end"), [
    ("0110$", True, True), ("01100", True, True), ("011$0", False, False), ("0111$", False, False),
    ("1000$", True, True), ("01110", False, True), ("0$10$", True, True), ("$$$$$", False, False),
    ("1$10$", True, False),
])  # fmt: skip
def test_the_answer_bit_is_read_in_its_place_or_before_the_first_end(written, in_place, before_end):
    """Made by the authors' get_parity_accuracy (src/evaluate/accuracy.py) against 0110$: at c3a6f19, and at 9efafc0."""
    format = Linear(scratchpad=True).build(Parity(4))
    vocab = Vocab(format.symbols)
    found, true = vocab.encode(written)[None], vocab.encode("0110$")[None]
    assert answer_token(found, true).tolist() == [in_place]
    assert answer_match(format, vocab, found, true).tolist() == [before_end]
    counted = count(found, true, format, vocab, own_text=False)
    assert (counted["answer_token_correct"], counted["answer_correct"]) == (in_place, before_end)


@pytest.mark.parametrize("reference", [[3, 4, 5], [1, 3, 4], [0, 0, 0], []])
def test_references_without_an_answer_have_no_token_to_score_and_match_what_is_empty(reference):
    rows = torch.tensor([[3, 4, 1], reference[:3] or [0, 0, 0]])
    refused(ValueError, "target responses lack an answer: expected", answer_token, rows, rows)
    empty = torch.zeros(2, 0, dtype=torch.long)
    refused(ValueError, "target responses lack an answer: expected", answer_token, rows, empty)
    assert answer_match(SCRATCHPAD, VOCAB, rows, empty).tolist() == [False, not any(reference) or reference[0] == 1]
    assert answer_match(SCRATCHPAD, VOCAB, empty, empty).tolist() == [True, True]


@pytest.mark.parametrize("kind", [torch.uint8, torch.int8, torch.int32, torch.int64])
def test_distances_are_whole_whatever_holds_the_ids(kind):
    found = edit_distances(torch.full((1, 300), 3, dtype=kind), torch.zeros(1, 0, dtype=kind))
    assert found.tolist() == [300] and found.dtype == torch.int64


@given(batches)
def test_counts_are_those_of_loops_and_a_metric_of_ones_own_is_among_them(pairs):
    written, reference = padded([a for a, _ in pairs]), padded([b for _, b in pairs])
    first = Metric(
        "first", "first token right", lambda r: {"first": int((r.written[:, 0] == r.reference[:, 0]).sum())}, "first"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(METRICS, "first", first)
        own = count(written, reference, SCRATCHPAD, VOCAB, own_text=True)
        forced = count(written, reference, SCRATCHPAD, VOCAB, own_text=False)
    assert own["n"] == len(pairs) and own["reference_tokens"] == sum(len(b) for _, b in pairs)
    assert own["correct"] == sum(a == b for a, b in pairs)
    assert own["edit_sum"] == sum(table(a, b) for a, b in pairs)
    assert own["first"] == sum((a or [PAD])[0] == (b or [PAD])[0] for a, b in pairs)
    assert forced == {name: value for name, value in own.items() if name != "edit_sum"}


def test_every_function_refuses_what_are_no_responses_in_a_sentence():
    ids = torch.ones(2, 3, dtype=torch.long)
    wrong = [ids[:1], torch.ones(2, 3), ids[0], ["46", "46"], "46", None, -100 * ids]
    answers = functools.partial(answer_match, SCRATCHPAD, VOCAB)
    for function in (exact_match, answers, edit_distances, answer_token, ExactMatch().update, EditDistance().update):
        for other in wrong:
            for pair in ((other, ids), (ids, other)):
                refused(ValueError, r"expected", function, *pair)


@pytest.mark.parametrize("kind", [ExactMatch, EditDistance, lambda **o: Counted(METRICS["exact"], **o)])
def test_classes_have_what_users_of_torchmetrics_look_for(kind):
    import matplotlib

    matplotlib.use("Agg")
    metric = kind(dist_sync_on_step=True, sync_on_compute=False)
    metric.update(padded([[1], [2]]), padded([[1], [3]]))
    assert ExactMatch.higher_is_better and not EditDistance.higher_is_better
    assert metric.is_differentiable is False and metric.plot_lower_bound == 0.0
    figure, _ = metric.plot()
    assert figure is not None
    assert all(not value.is_floating_point() for value in metric.metric_state.values())


@pytest.mark.parametrize(("metric", "said"), [
    (Counted(HALF), "expected whole numbers"),
    (Counted(METRICS["answer"]), "expected format and vocabulary of the responses"),
    (Counted(METRICS["answer_token"]), "answer_token: nothing of it is counted of these responses"),
    (Counted(METRICS["answer_token"], SCRATCHPAD, VOCAB), "answer_token: nothing of it is counted"),
])  # fmt: skip
def test_what_cannot_be_counted_is_refused_in_one_sentence(metric, said):
    refused(ValueError, said, metric.update, padded([[1]]), padded([[1]]))


@given(st.data())
def test_words_are_read_back(data):
    symbols = data.draw(st.lists(WORDS, min_size=1, max_size=12, unique=True))
    text = data.draw(st.lists(st.sampled_from(["$", *symbols]), max_size=15))
    vocab = Vocab(symbols)
    separator = " " if max(map(len, symbols)) > 1 else ""
    ids = [END if word == "$" else FIRST + symbols.index(word) for word in text]
    assert vocab.encode(separator.join(text)).tolist() == ids
    assert vocab.decode(ids) == vocab.decode(torch.tensor(ids)) == separator.join(text)
    assert vocab.decode([*ids, PAD, PAD]) == separator.join(text), "padding leaves no trace"
    inside = [PAD, *ids, PAD, END]
    assert vocab.encode(vocab.decode(inside)).tolist() == inside, "but what a model writes among symbols does"
    assert len(vocab) == len(symbols) + 2
    assert [vocab.decode([i]) for i in range(len(vocab))] == ["", "$", *symbols]
    assert all(vocab.id(word) == i for word, i in zip(text, ids, strict=True)) and vocab.id("PAD") == PAD


@given(st.text(PRINTABLE.symbols, max_size=20))
def test_characters_are_read_back(text):
    assert PRINTABLE.decode(PRINTABLE.encode(text).long()) == text


def test_what_is_no_symbol_is_an_error_and_a_sum_too_large_for_its_width_is_refused():
    numbers = Vocab(["1", "2", "10"])
    assert numbers.encode("10 1  2 $ PAD").tolist() == [4, 2, 3, END, PAD]
    for vocab, text in ((numbers, "12"), (numbers, "1 3"), (Vocab("012"), "0 1"), (Vocab("012"), "3")):
        refused(ValueError, "no symbol of this vocabulary: expected", vocab.encode, text)
    assert numbers.encode("").dtype == torch.int64
    refused(OverflowError, "a sum does not fit into 2 digits", digits.carry, torch.tensor([[9, 9], [99, 1]]))
    refused(OverflowError, "3 digits", digits.running_sums, torch.tensor([[[9, 9, 9], [1, 0, 0]]]), 3)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=20), st.integers(0, 99))
def test_a_sampled_number_has_exactly_its_length(lengths, seed):
    drawn = digits.sample(torch.tensor(lengths), 6, torch.Generator().manual_seed(seed))
    for length, row in zip(lengths, drawn.tolist(), strict=True):
        assert row[length:] == [0] * (6 - length) and (length < 2 or row[length - 1] > 0)


def test_collections_take_preds_and_target_by_name():
    both = torchmetrics.MetricCollection([ExactMatch(), EditDistance()])
    rates = both(preds=torch.tensor([[3, 4], [3, 5]]), target=torch.tensor([[3, 4], [3, 4]]))
    assert rates == {"ExactMatch": 0.5, "EditDistance": 0.25}
    assert exact_match(preds=torch.tensor([[3]]), target=torch.tensor([[3, 0]])).tolist() == [True]
    assert edit_distances(preds=torch.tensor([[3]]), target=torch.tensor([[3, 4]])).tolist() == [1]


@given(batches, st.integers(0, 3), st.booleans())
def test_labels_that_are_ignored_count_in_neither(pairs, prompt, ignores):
    """Prompt and padding have a label of their own; id 0 is a token like others."""
    size = max([len(side) for pair in pairs for side in pair] + [1])
    preds = torch.full((len(pairs) + 1, prompt + size), 9)
    target = torch.full((len(pairs) + 1, prompt + size), -100)
    expected = []
    for row, (written, reference) in enumerate(pairs):
        written = (written + [1] * len(reference))[: len(reference)]
        preds[row, prompt : prompt + len(reference)] = torch.tensor([each - 1 for each in written], dtype=torch.int64)
        target[row, prompt : prompt + len(reference)] = torch.tensor(
            [each - 1 for each in reference], dtype=torch.int64
        )
        expected += [(written, reference)] if reference else []
    exact, edits = ExactMatch(ignore_index=-100), EditDistance(ignore_index=-100)
    for metric in (exact, edits):
        metric.update(preds, target)
    assert int(exact.counted) == sum(a == b for a, b in expected) and int(exact.per) == len(expected)
    assert int(edits.counted) == sum(table(a, b) for a, b in expected)
    assert int(edits.per) == sum(len(b) for _, b in expected)


def test_answers_and_texts_in_symbols_of_a_task_are_read_by_their_format():
    data = lengen.TaskData(lengen.setting("copy", digits=2), seed=0)
    batch = data.writer.write(data.task.parse(["01"]))
    labels = batch.tokens.masked_fill(~batch.loss, -100)
    metric = AnswerMatch(data.format, data.vocab, ignore_index=-100)
    assert metric(batch.tokens, labels) == 1.0
    assert metric(batch.tokens + (batch.tokens > 1).long(), labels) == 0.0
    assert EditDistance()("kitten", "sitting") == pytest.approx(3 / 7)
    assert AnswerMatch(data.format, data.vocab)(["01$", "10$"], ["01$", "11$"]) == 0.5
    refused(ValueError, "preds are 2 responses and target has 1", ExactMatch(), ["1", "2"], ["1"])
    refused(ValueError, "ignore_index='x': expected a label", lambda: ExactMatch(ignore_index="x"))


@pytest.mark.parametrize("shape", [(2, 4), (3, 3), (2,)])
def test_ignored_labels_need_one_shape(shape):
    with pytest.raises(ValueError, match=r"expected token ids of one shape \(B, S\), since ignore_index=-100"):
        ExactMatch(ignore_index=-100).update(torch.ones(shape, dtype=torch.int64), torch.ones(2, 3, dtype=torch.int64))
    with pytest.raises(ValueError, match=r"target hold -100: .*or name ignore_index"):
        ExactMatch().update(torch.tensor([[1]]), torch.tensor([[-100]]))


@given(texts)
def test_texts_are_counted_by_their_characters(pairs):
    preds, target = [a for a, _ in pairs], [b for _, b in pairs]
    if any("\0" in text for text in (*preds, *target)):
        return
    edits, exact, theirs = EditDistance(), ExactMatch(), torchmetrics.text.EditDistance(reduction="sum")
    assert exact(preds, target) == pytest.approx(sum(a == b for a, b in pairs) / len(pairs))
    edits.update(preds, target)
    assert int(edits.counted) == int(theirs(preds, target)) and int(edits.per) == sum(map(len, target))
