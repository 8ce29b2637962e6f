"""What ``encode`` and ``solve`` give back."""

import pytest
import torch
from safetensors.torch import save_model

from lengen import ArithmeticData, SettingError, Subtasks, build_model
from lengen.data.reading import can_run_free
from lengen.digits import OperandError
from lengen.formats.base import PAD
from lengen.solve import encode, read, solve
from tests.cases import CASES
from tests.fixtures.decoding import greedy
from tests.fixtures.settings import case_spec, data_spec, spec


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_encoding_the_worked_examples(case):
    assert encode(case_spec(case), list(case.operands)) == {
        "tokens": case.tokens,
        "position_ids": case.rows,
        "loss": case.loss,
    }


@pytest.mark.parametrize(
    ("data", "operands", "prompt", "truth"),
    [
        (data_spec("addition"), ["57", "48"], "$057+048=", "105"),
        (data_spec("addition", pad=False), ["057", "8"], "$57+8=", "65"),
        (data_spec("addition", reverse_response=False), ["5", "4"], "$05+04=", "9"),
        (data_spec("multiplication"), ["37", "92"], "$37*92=", "3404"),
        (data_spec("parity"), ["01011"], "$01011=", "1"),
    ],
)
def test_solving_writes_what_greedy_decoding_writes(data, operands, prompt, truth, tmp_path):
    sized = spec(data)
    model = build_model(sized, 1)
    save_model(model, str(tmp_path / "w"))
    found = solve(sized, tmp_path / "w", operands)
    asked = [t.lstrip("0") if data.task.ROWS.numbers else t for t in operands]
    own = data.vocab.decode(greedy(model, ArithmeticData(sized, 0), asked))
    assert (found["prompt"], found["output"], found["answer"]) == (prompt, own, truth)
    assert found["correct"] == (found["read"] == truth)


def test_a_right_answer_is_read_back_as_a_number(tmp_path, monkeypatch):
    cases = [case for case in CASES if can_run_free(case.data) and not isinstance(case.data.format, Subtasks)]
    for case in cases:
        sized = case_spec(case)
        save_model(build_model(sized, 0), str(tmp_path / "w"))
        vocab, response = ArithmeticData(sized, 0).vocab, case.join(case.written)
        told = torch.tensor([[vocab.id(token) for token in case.written]])
        monkeypatch.setattr("lengen.solve.generate", lambda *_, told=told, choose: told)
        found = solve(sized, tmp_path / "w", list(case.operands))
        plain = case.answer if case.words else case.answer.replace(" ", "")
        assert found["output"] == response and found["read"] == found["answer"] == plain and found["correct"], case.name


@pytest.mark.parametrize("place", [0, 1, 3])
def test_padding_inside_an_answer_is_no_part_of_a_right_one(place):
    data = ArithmeticData(spec(data_spec("addition", scratchpad=False)), 0)
    true = data.vocab.encode("5010$")
    padded = torch.cat([true[:place], torch.tensor([PAD]), true[place:]])
    found = read(data.writer, data.task, torch.stack([torch.cat([true, torch.tensor([PAD])]), padded]))
    assert found[0] == "105" != found[1] and "␀" in found[1]


def test_what_cannot_be_written_or_solved_is_refused(tmp_path):
    unpadded = spec(data_spec("addition", pad=False, reverse_response=False))
    save_model(build_model(unpadded, 0), str(tmp_path / "w"))
    with pytest.raises(SettingError, match="this format cannot be solved free-running"):
        solve(unpadded, tmp_path / "w", ["1", "2"])
    with pytest.raises(OperandError, match="shorten them or raise it"):
        encode(spec(data_spec("addition", room=5)), ["12345", "1"])
    with pytest.raises(OperandError, match="is not a number"):
        encode(spec(data_spec("addition")), ["12a", "1"])
