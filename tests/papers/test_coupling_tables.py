"""Tables 4 to 26 of Appendix D as literal tests of the construction, and where they contradict themselves."""

from fractions import Fraction
from pathlib import Path

import pytest
import torch

from lengen.data.batch_and_random_spaces import Batch
from papers.coupling.construction import vertices
from tests.papers import theorem
from tests.papers.theorem import VOCAB, Printed, example

AT = Printed(operands=3, digits=2, first=4, second=3).subspaces()
ROOT = Path(__file__).resolve().parents[2]


def exact(values) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float32)


def near(found: torch.Tensor, values) -> None:
    torch.testing.assert_close(found, exact(values), atol=1e-4, rtol=0)


def vertex_rows(ids, bits: int) -> torch.Tensor:
    return vertices(bits)[torch.tensor(ids) - 1]


@torch.no_grad()
def stages(second_plus: int = 0):
    """X(0), Y(1), X(1) and the logits of the example, (T, C) and (T, V)."""
    model, batch = example(second_plus)
    embedded = model._embed(batch.tokens, batch.ids)[0]
    ((attended, out),) = model.residuals(batch)
    return embedded, attended[0], out[0], model(batch.tokens, batch.ids)[0]


def test_tables_4_8_12_16_20_and_21_embeddings_and_what_the_heads_read():
    _, batch = example()
    assert VOCAB.decode(batch.tokens[0]) == theorem.TOKENS
    assert batch.ids[:, 0].tolist() == [list(theorem.P_1), list(theorem.P_2)]
    embedded, *_ = stages()
    assert embedded[:, AT["NUM"]].flatten().tolist() == list(theorem.NUM)
    assert embedded[:, AT["IS_BOS"]].flatten().tolist() == [1.0] + [0.0] * 27
    assert bool((embedded[:, AT["FULL_ONES"]] == 1).all())
    assert not embedded[:, AT["PRE_SUM"].start : AT["EOS"].stop].any()
    for name, ids, bits in (("POS_1", theorem.P_1, 4), ("POS_2", theorem.P_2, 3)):
        assert not embedded[0, AT[name]].any()
        assert not embedded[0, AT[f"{name}_NEXT"]].any()
        assert torch.equal(embedded[1:, AT[name]], vertex_rows(ids[1:], bits))
        assert torch.equal(embedded[1:, AT[f"{name}_NEXT"]], vertex_rows([k + 1 for k in ids[1:]], bits))
    _, attended, *_ = stages()
    for name in ("PRE_SUM", "PRE_CARRY", "PRE_ARROW", "PRE_EOS"):
        near(attended[12:, AT[name]].flatten(), getattr(theorem, name))
    assert not attended[:, AT["SUM"].start : AT["EOS"].stop].any()
    assert attended[:, AT["NUM"]].flatten().tolist() == list(theorem.NUM)


@pytest.mark.parametrize("head", range(4))
def test_tables_5_6_9_10_13_14_17_18_queries_and_keys(head):
    """Up to the factor: printed are Q X / sqrt(alpha) and K X / sqrt(alpha), here Q X / alpha and K X."""
    model, _ = example()
    embedded, *_ = stages()
    attention, alpha, size = model.blocks[0].attention, theorem.SHARP, 4 + 3 + 1
    rows = slice(head * size, (head + 1) * size)
    query, key = (embedded @ part.weight[rows].T for part in (attention.query, attention.key))
    for found, printed in ((query / alpha, theorem.QUERIES[head]), (key, theorem.KEYS[head])):
        first, second = printed
        assert not found[0, :4].any()
        assert torch.equal(found[1:, :4], vertex_rows(first, 4))
        if second is not None:
            assert torch.equal(found[1:, 4:7], vertex_rows(second, 3))
    compared = 4 if head == 2 else 7  # P_1 or P; the product is alpha P at '$' as printed
    assert bool((query[:, compared] == alpha * compared).all())
    assert key[:, compared].tolist() == [1.0] + [0.0] * 27


@pytest.mark.parametrize(("head", "name", "values"), [
    (0, "PRE_SUM", theorem.NUM_TIMES_3), (1, "PRE_CARRY", theorem.NUM_TIMES_3), (2, "PRE_ARROW", (1,) + (0,) * 27),
    (3, "PRE_EOS", (1,) + (0,) * 27),
])  # fmt: skip
def test_tables_7_11_15_19_values(head, name, values):
    model, _ = example()
    embedded, *_ = stages()
    attention, size = model.blocks[0].attention, 8
    rows = slice(head * size, (head + 1) * size)
    written = embedded @ attention.value.weight[rows].T @ attention.out.weight[:, rows].T
    assert written[:, AT[name]].flatten().tolist() == list(values)
    written[:, AT[name]] = 0
    assert not written.any()


def test_tables_22_and_23_what_the_feed_forward_network_writes():
    _, _, out, _ = stages()
    near(out[12:, AT["SUM"]], torch.eye(10)[list(theorem.SUM)].tolist())
    near(out[12:, AT["ARROW"]].flatten(), theorem.ARROW)
    near(out[12:, AT["EOS"]].flatten(), theorem.EOS)


def test_tables_22_and_23_contradict_table_21_in_two_columns():
    """Under the ids of Equation (2); '=' and the second arrow. `ERRATA.md` says why."""
    wrong = [i for i, (a, b) in enumerate(zip(theorem.PRINTED_EOS, theorem.EOS, strict=True)) if a != b]
    assert [theorem.TOKENS[12 + i] for i in wrong] == ["=", ">"] == ["=", theorem.TOKENS[20]]
    differ = [i for i, (a, b) in enumerate(zip(theorem.PRINTED_PRE_EOS, theorem.PRE_EOS, strict=True)) if a != b]
    assert differ == wrong == [0, 8]


def test_vector_rows_of_table_4_give_what_tables_22_and_23_print():
    """There the '+' after operand i has the level-2 id of operand i + 1."""
    _, attended, out, logits = stages(second_plus=1)
    near(attended[12:, AT["PRE_EOS"]].flatten(), theorem.PRINTED_PRE_EOS)
    near(out[12:, AT["EOS"]].flatten(), theorem.PRINTED_EOS)
    assert VOCAB.decode(logits[12:].argmax(dim=1)) == theorem.OUTPUT


def test_tables_24_and_25_read_out_and_logits_and_the_page_says_what_heads_contribute():
    model, _ = example()
    vocab = VOCAB
    weight = model.head.weight
    expected = torch.zeros_like(weight)
    for digit in range(10):
        expected[vocab.id(str(digit)), AT["SUM"].start + digit] = 1
    expected[vocab.id(">"), AT["ARROW"]] = 10
    expected[vocab.id("$"), AT["EOS"]] = 100
    assert torch.equal(weight, expected)
    *_, logits = stages()
    rows = {symbol: logits[12:, vocab.id(symbol)] for symbol in "0>$+="}
    near(rows[">"], [10 * value for value in theorem.ARROW])
    near(rows["$"] / 100, theorem.EOS)
    near(rows["0"], [float(digit == 0) for digit in theorem.SUM])
    assert not rows["+"].any()
    assert not rows["="].any()
    text = (ROOT / "docs" / "construction.md").read_text(encoding="utf-8")
    for row in steps():
        assert row in text


def test_table_25_has_one_zero_that_must_be_one():
    *_, logits = stages()
    zero = logits[12:, VOCAB.id("0")].round()
    differ = (zero != exact(theorem.PRINTED_ZERO)).nonzero().flatten().tolist()
    assert differ == [11]
    assert theorem.TOKENS[12 + 8 : 12 + 12] == ">501"


def test_table_26_output():
    *_, logits = stages()
    assert VOCAB.decode(logits[12:].argmax(dim=1)) == theorem.OUTPUT


def steps() -> list[str]:
    """Rows of the page's table from the model: what the heads read at the last four tokens, and what comes out."""
    model, batch = example()
    _, attended, _, logits = stages()
    with torch.no_grad():
        weights = model.attention(Batch(batch.tokens.repeat(1, 2), batch.ids.repeat(1, 1, 2), batch.loss))[0]["self"]
    rows = []
    for place in range(24, 28):
        read, sums = [], []
        for head, name in ((0, "PRE_SUM"), (1, "PRE_CARRY")):
            seen = [i for i in range(1, 28) if weights[0, head, place, i] > 0.1 and theorem.TOKENS[i].isdigit()]
            sums.append(round(attended[place, AT[name]].item()))
            read.append(" + ".join(theorem.TOKENS[i] for i in seen) or "nothing")
            assert sums[-1] == sum(theorem.NUM[i] for i in seen)
        shares = [
            str(Fraction(attended[place, AT[name]].item()).limit_denominator(9)) for name in ("PRE_ARROW", "PRE_EOS")
        ]
        carry = round((sums[1] - theorem.NUM[place]) / 10)
        written = VOCAB.decode([logits[place].argmax()])
        result = f"{sums[0]} + {carry} carried: digit {written}"
        assert written == "$" or int(written) == (sums[0] + carry) % 10
        result = "the number is full, and it is the last: $" if written == "$" else result
        cells = [theorem.TOKENS[place], *(f"{a} = {b}" for a, b in zip(read, sums, strict=True))]
        cells += [*(str(Fraction(share).limit_denominator(9)) for share in shares), result]
        rows.append("| " + " | ".join(cells) + " |")
    return rows
