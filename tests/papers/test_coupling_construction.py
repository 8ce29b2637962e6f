"""The construction of Theorem 4.1 is exact: free-running, at any sizes, in three formats; and where it must fail."""

import math
from pathlib import Path

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lengen import SettingError, TaskData, build_model, generate, replace, verify
from lengen import solve as show
from lengen.data.reading_responses import final_answer
from lengen.digits import Problems
from lengen.models import Decoder
from lengen.tasks.addition import padded_length
from lengen.training.model_building import load
from papers.coupling.construction import set_feed_forward, vertices
from papers.coupling.profiles import SCRATCHPAD
from papers.coupling.theorem_spec import HIDDEN, TOLERANCE, Sizes, sizes_of, theorem
from tests.fixtures.refusals import refused
from tests.papers.theorem import ADDITION, EXAMPLE, FORMAT, VOCAB, Printed, constructed, problem, writer

number = st.integers(1, 12).flatmap(
    lambda n: st.one_of(st.integers(0, 10**n - 1), st.just(10**n - 1), st.just(10 ** (n - 1)), st.just(0))
)


def text(response: torch.Tensor) -> str:
    return VOCAB.decode(response)


def expected(*operands: int) -> str:
    width = len(str(len(operands) * (10 ** max(len(str(one)) for one in operands) - 1)))
    sums = [sum(operands[:i]) for i in range(len(operands) + 1)]
    return ">".join(str(one).zfill(width)[::-1] for one in sums) + "$"


def solved(sizes: Sizes, *operands: int, **model) -> str:
    return text(generate(constructed(sizes, **model), writer(sizes), problem(*operands))[0])


@pytest.mark.slow
@given(st.lists(number, min_size=2, max_size=12))
@example([0, 0])
@example([999999999999, 1])
@example([999999999999] * 12)
@example([5] * 11)
@example([57, 48, 96])
@settings(max_examples=40, deadline=None)
def test_free_running_response_is_right(operands):
    """Carries through all digits, zeros, equal numbers, different lengths; the whole scratchpad and its end."""
    sizes = Sizes(operands=len(operands), digits=max(len(str(one)) for one in operands))
    assert solved(sizes, *operands) == expected(*operands)


@given(st.integers(2, 9), st.integers(1, 9), st.integers(0, 2**20))
@settings(max_examples=60, deadline=None)
def test_every_offset_is_right(operands, digits, seed):
    """Training-time offsets: any ids that fit, up to the one whose NEXT wraps round."""
    sizes = Sizes(operands=operands, digits=digits)
    stream = torch.Generator().manual_seed(seed)
    problems = ADDITION.test(8, digits, operands, stream)
    assert bool(verify(constructed(sizes), writer(sizes).write(problems, stream)).correct.all())


@pytest.mark.parametrize(("operands", "digits"), [(2, 1), (3, 1), (2, 2)])
def test_small_sizes_exhaustively(operands, digits):
    every = torch.cartesian_prod(*[torch.arange(10)] * (operands * digits)).view(-1, operands, digits)
    problems = ADDITION.test(len(every), digits, operands, torch.Generator())._replace(operands=every)
    sizes = Sizes(operands=operands, digits=digits)
    assert bool(verify(constructed(sizes), writer(sizes).write(problems)).correct.all())


@given(st.integers(2, 10**6), st.integers(1, 40))
@example(10, 1)
@example(11, 1)
@example(101, 2)
@example(1000, 3)
def test_padded_length_is_that_of_the_format(operands, digits):
    assert Sizes(operands=operands, digits=digits).padded == padded_length(digits, operands)


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["32-true", "64-true", "bf16-true"])
def test_one_model_serves_every_smaller_problem_in_every_format(precision):
    spec = theorem(100, 100, precision=precision, lengths=(100,), counts=(100,))
    model, data = load(spec, None), TaskData(spec, 0)
    assert next(model.parameters()).dtype == {"3": torch.float32, "6": torch.float64, "b": torch.bfloat16}[precision[0]]
    largest = (100, 100) if precision == "32-true" else (100, 20)
    for length, count in ((1, 2), (10, 10), (30, 30), (100, 2), (2, 100), largest):
        problems = data.test(length, count, 1 if (length, count) == largest else 3)
        assert bool(verify(model, data.writer.write(problems)).correct.all()), (length, count)


@given(st.integers(2, 40), st.integers(1, 40), st.integers(0, 2**20))
@settings(max_examples=25, deadline=None)
def test_the_bound_keeps_what_the_heads_read_within_the_tolerance(operands, digits, seed):
    sizes = Sizes(operands=operands, digits=digits)
    at, model = sizes.subspaces(), constructed(sizes)
    batch = writer(sizes).write(ADDITION.test(1, digits, operands, torch.Generator().manual_seed(seed)))
    with torch.no_grad():
        attended = model.residuals(batch)[0][0][0]
        exact = constructed(sizes, 40.0).residuals(batch)[0][0][0]
    wrong = (attended - exact)[:, [at["PRE_SUM"].start, at["PRE_CARRY"].start]].abs() @ torch.tensor([1.0, 0.1])
    assert float(wrong.max()) <= TOLERANCE
    assert sizes.sharpness == math.ceil(math.log(99 * sizes.tokens) / 2)


def test_the_gap_between_scores_does_not_depend_on_the_number_of_ids():
    for operands, digits in ((2, 1), (10, 10), (30, 30)):
        sizes = Sizes(operands=operands, digits=digits)
        batch = writer(sizes).write(ADDITION.test(1, digits, operands, torch.Generator()))
        with torch.no_grad():
            scores = constructed(sizes).attention(batch, softmax=False)[0]["self"][0]
        for head, bits in enumerate((sum(sizes.bits), sum(sizes.bits), sizes.bits[0], sum(sizes.bits))):
            below = scores[head][scores[head] < sizes.sharpness * bits]
            assert float(scores[head].max()) == sizes.sharpness * bits
            assert float(below.max()) == sizes.sharpness * (bits - 2)


def test_too_soft_attention_fails():
    sizes = Sizes(operands=10, digits=10)
    problems = ADDITION.test(20, 10, 10, torch.Generator().manual_seed(0))
    batch = writer(sizes).write(problems)
    assert not bool(verify(constructed(sizes, 1.0), batch).correct.any())
    assert bool(verify(constructed(sizes), batch).correct.all())


@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9), st.integers(0, 9), st.booleans(), st.floats(-0.3, 0.3))
@settings(max_examples=100, deadline=None)
def test_sum_is_one_hot_while_its_input_is_wrong_by_at_most_the_tolerance(a, b, left, right, carried, error):
    """Columns (left, right) and then (a, b); NUM is the digit just written, from the column before."""
    at = EXAMPLE.subspaces()
    enter, leave = torch.zeros(HIDDEN, EXAMPLE.width), torch.zeros(EXAMPLE.width, HIDDEN)
    set_feed_forward(enter, leave, at)
    before = left + right + carried
    x = torch.zeros(EXAMPLE.width)
    x[at["FULL_ONES"]], x[at["PRE_SUM"]], x[at["PRE_CARRY"]] = 1, a + b + error, left + right
    x[at["NUM"]] = before % 10
    digit = (leave @ (enter @ x).relu())[at["SUM"]]
    wanted = torch.eye(10)[(a + b + before // 10) % 10]
    torch.testing.assert_close(digit, wanted, atol=1e-4, rtol=0)


def test_the_printed_bound_makes_the_papers_own_example_loop():
    """l = 3, so 2^P_1 >= 3 is fulfilled by P_1 = 2; then no arrow is ever written."""
    printed = Printed(operands=3, digits=2, first=2, second=2)
    assert 2 ** printed.bits[0] >= printed.padded
    assert solved(printed, 57, 48, 96) == "0000750050101020"
    assert solved(EXAMPLE, 57, 48, 96) == "000>750>501>102$"
    assert EXAMPLE.bits == (3, 2)


@pytest.mark.parametrize("digits", range(2, 17))
def test_the_printed_bound_fails_where_the_last_id_wraps_onto_the_first(digits):
    """Two operands, l = digits + 1; where l is a power of two the ids do not fit at all."""
    length = digits + 1
    printed = Printed(operands=2, digits=digits, first=math.ceil(math.log2(length)), second=2)
    fits = length + 1 <= 2 ** printed.bits[0]
    assert fits == (not math.log2(length).is_integer())
    if fits:
        ones = (10**digits - 1, 1)
        assert (solved(printed, *ones) == expected(*ones)) == (length + 1 < 2 ** printed.bits[0])
    assert solved(Sizes(operands=2, digits=digits), 10**digits - 1, 1) == expected(10**digits - 1, 1)


def test_printed_square_roots_do_not_tie_in_bfloat16():
    """sqrt(alpha) in Q and in K: products of the rounded roots differ between '$' and a match."""
    sizes = Sizes(operands=20, digits=20)
    root = sizes.sharpness**0.5
    model = constructed(sizes)
    with torch.no_grad():
        for head, bits in enumerate((sum(sizes.bits), sum(sizes.bits), sizes.bits[0], sum(sizes.bits))):
            first = head * (sum(sizes.bits) + 1)
            attention = model.blocks[0].attention
            attention.query.weight[first : first + bits] /= root
            attention.key.weight[first : first + bits] *= root
            attention.query.weight[first + bits] /= root * bits**0.5
            attention.key.weight[first + bits] *= root * bits**0.5
    batch = writer(sizes).write(ADDITION.test(5, 20, 20, torch.Generator().manual_seed(0)))
    assert bool(verify(model, batch).correct.all())
    assert bool(verify(constructed(sizes, dtype=torch.bfloat16), batch).correct.all())
    assert not bool(verify(model.to(torch.bfloat16), batch).correct.any())


def test_a_start_token_without_the_root_takes_all_attention():
    """Printed: sqrt(alpha) P in Q and in K, so alpha P^2 where a match has alpha P."""
    sizes = Sizes(operands=3, digits=2)
    model, size = constructed(sizes), sum(sizes.bits) + 1
    with torch.no_grad():
        for head, bits in enumerate((size - 1, size - 1, sizes.bits[0], size - 1)):
            model.blocks[0].attention.key.weight[head * size + bits] *= bits
    written = text(generate(model, writer(sizes), problem(57, 48, 96))[0])
    assert written != expected(57, 48, 96)
    assert not set(written) & set("123456789"), "nothing is read, nothing is added"


def test_one_operand_has_exactly_one_half_where_no_arrow_is_due():
    """m = 1, which the task does not draw: '=' and the placeholder read the start token and one operand."""
    sizes = Printed(operands=1, digits=2, first=3, second=1)
    one = Problems(torch.tensor([[[7, 5]]]), torch.tensor([[2]]))
    model, batch = constructed(sizes, 20.0), writer(sizes).write(one)
    assert text(batch.tokens[0]) == "$57=00>75$"
    with torch.no_grad():
        before = model.residuals(batch)[0][0][0, 3:-1, sizes.subspaces()["PRE_ARROW"]].flatten()
    torch.testing.assert_close(before, torch.tensor([1 / 2, 1 / 2, 1, 1 / 3, 1 / 3, 1]), atol=1e-4, rtol=0)
    assert text(generate(model, writer(sizes), one)[0]) == "00>75$"


def test_the_printed_length_is_a_digit_too_long_for_powers_of_ten():
    """n + 1 + floor(log10 m) of D.3; both lengths are solved."""
    too_long = [m for m in range(1, 120) if Sizes(operands=m, digits=2).padded < 3 + int(math.log10(m))]
    assert too_long == [1, 10, 100, 101]
    assert Sizes(operands=11, digits=1).padded == 2 < 1 + 1 + int(math.log10(11))
    ten = Printed(operands=10, digits=2, first=3, second=4)
    longer = writer(ten, replace(SCRATCHPAD, pad_to=4))
    model = constructed(ten)
    problems = ADDITION.test(10, 2, 10, torch.Generator().manual_seed(0))
    assert longer.write(problems).tokens.shape[1] == 21 * 5 + 1
    assert torch.equal(generate(model, longer, problems), verify(model, longer.write(problems)).reference)


def test_it_is_the_class_that_is_trained_as_narrow_as_the_theorem_says():
    spec = theorem(100, 100, lengths=(100,), counts=(100,))
    model = build_model(spec, 0)
    assert type(model) is Decoder
    assert (spec.model.layers, spec.model.heads) == (1, 4)
    first, second = sizes_of(spec).bits
    assert spec.model.width == 2 * (first + second) + 19 == 47
    assert first <= math.log2(100 + 4) + 1
    assert second <= math.log2(101) + 1
    for bits in (1, 3, 5):
        rows = vertices(bits)
        literal = [[(-1.0) ** int(digit) for digit in format(k, f"0{bits}b")] for k in range(2**bits)]
        assert rows.tolist() == literal
        products = rows @ rows.T
        assert bool((products.diagonal() == bits).all())
        assert float((products - 2 * bits * torch.eye(2**bits)).max()) <= bits - 2


def test_solve_needs_no_weights_and_sizes_beyond_the_number_format_are_refused():
    spec = theorem(10, 10, lengths=(10,), counts=(10,))
    found = show.solve(spec, None, ["9999999999"] * 10)
    assert found["correct"]
    assert found["read"] == str(10 * 9999999999)
    assert final_answer(FORMAT, VOCAB, VOCAB.encode(str(found["output"]))[None]).shape[1] > 0
    spec = theorem(2**30, 2**25, precision="bf16-true", lengths=(1,), counts=(2,))
    score = sizes_of(spec).sharpness * sum(sizes_of(spec).bits)
    assert score > 2**8
    refused(SettingError, rf"need scores of {score}, and integers are exact up to 256; choose", spec.check)
    theorem(2**30, 2**25, lengths=(1,), counts=(2,)).check()


@pytest.mark.parametrize("operands", [["1"] * 4, ["123", "4"]])
def test_more_or_longer_operands_than_it_is_made_for_are_one_sentence(operands):
    spec = theorem(3, 2, lengths=(2,), counts=(3,))
    for asked in (lambda: show.encode(spec, operands), lambda: show.solve(spec, None, operands)):
        refused(SettingError, "is constructed for at most 3 operands of 2 digits; give fewer", asked)


@pytest.mark.parametrize(("change", "sentence"), [
    ("model.width=40", r"model.width=40: the construction for 3 operands of 2 digits needs 29"),
    (
        "data.task.operands=9",
        r'data.position_ids=\{"kind": "coupled", "max_position": \[8, 4\]\}: the construction for 9 operands of 2 '
        r'digits needs \{"kind": "coupled", "max_position": \[8, 16\]\}',
    ),
    ("data.format.scratchpad=false", "the construction reads plain zero-padded operands"),
    ("data.task=parity", "data.task"),
    ("test.counts=2,4", "4 operands of 2 digits are more than the 3 operands of 2 digits"),
    ("train.precision=bf16-mixed", "train.precision=bf16-mixed: weights and sums would be in two formats"),
])  # fmt: skip
def test_a_specification_that_does_not_fit_is_one_sentence(change, sentence):
    refused(SettingError, sentence, theorem(3, 2, lengths=(2,), counts=(3,)).override, change)


@pytest.mark.parametrize(("size", "width"), [(3, 29), (10, 35), (30, 41), (100, 47), (1_000, 59), (1_000_000, 99)])
def test_the_width_grows_with_the_logarithm_of_operands_and_digits(size, width):
    """The row of the README: d = 2 (P_1 + P_2) + 19."""
    assert Sizes(operands=size, digits=size).width == width
    assert Sizes(operands=size, digits=size).subspaces()["POS_2_NEXT"].stop == width
    page = (Path(__file__).parents[2] / "papers/coupling/README.md").read_text(encoding="utf-8")
    assert f" {width} for " in " ".join(page.split())
