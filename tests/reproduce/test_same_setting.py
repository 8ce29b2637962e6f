"""Same setting, same run: bit-equal twice, in this process and in one of two workers; `make soak` tries every pair."""

import pytest
import torch

from lengen.part import kinds
from lengen.settings.model import Architecture, Encoding
from stress.repeats import differing, every, pairs, some

pytestmark = pytest.mark.slow


def test_every_architecture_with_every_encoding_is_tried_and_each_of_them_here():
    assert pairs(every()) >= {(one, other) for one in kinds(Architecture) for other in kinds(Encoding)}
    architectures, encodings = (set(names) for names in zip(*pairs(some()), strict=True))
    assert architectures == set(kinds(Architecture)) and encodings == set(kinds(Encoding))


def test_two_workers_give_the_bits_that_one_process_gives(tmp_path):
    before = torch.get_num_threads()
    try:
        assert differing(some(), tmp_path) == []
    finally:
        torch.set_num_threads(before)
