"""What ERRATA.md says of the printed proof and text, on models with weights of the printed or a repaired kind."""

import itertools
import math
import re
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor

from lengen.data.batch_and_random_spaces import Batch
from lengen.models.blocks import FeedForward
from papers.task_hinting.construction import vectors
from papers.task_hinting.experiments import EXPERIMENTS
from papers.task_hinting.theorem_spec import sharpness
from tests.papers.sorting_problems import Lists, Sorter, drawn, families, of_length, problems, repaired, variant

ROOT = Path(__file__).resolve().parents[2]
ALL = {n: [list(one) for one in itertools.product((1, 2, 3), repeat=n)] for n in range(1, 6)}


def batch_of(sorter: Sorter, lists: Lists) -> Batch:
    return sorter.data.writer.write(problems(lists))


def test_the_code_names_entries_that_exist():
    text = (ROOT / "papers/task_hinting/ERRATA.md").read_text()
    entries = {int(number) for number in re.findall(r"^## E(\d+)", text, flags=re.M)}
    for name in ("construction.py", "theorem_spec.py"):
        source = (ROOT / "papers/task_hinting" / name).read_text()
        named = {int(number) for number in re.findall(r"\bE(\d+)\b", source)}
        assert named
        assert named <= entries


@pytest.mark.parametrize("epsilon", [0.005, 0.01, 0.02, 0.03, 0.036, 0.04, 0.05, 0.1, 0.2, 0.5])
def test_no_fixed_epsilon_serves_all_lengths(epsilon):
    """With tau = 3 ln n: a small eps drowns in the leak of n = 4, a large one hides a copy left at n = 20."""
    one_left = [[1] * k + [2] * (20 - k) for k in range(1, 20)]
    at_4 = variant(3, 4, tau_of=4, epsilon=epsilon).sorts([list(one) for one in itertools.product((1, 2, 3), repeat=4)])
    at_20 = variant(3, 20, tau_of=20, epsilon=epsilon).sorts(one_left)
    assert not all(at_4) if epsilon < 0.036 else not all(at_20)


@pytest.mark.parametrize("longest", [64, pytest.param(512, marks=pytest.mark.slow)])
def test_with_a_gain_for_all_lengths_tau_is_too_small_for_short_ones(longest):
    for n in (3, 4, 5):
        assert not all(variant(3, longest, gain=2 * longest, tau_of=n).sorts(ALL[n]))
        assert not all(variant(3, longest, gain=2 * longest).sorts(ALL[n]))
        for tau_of in (0, n):  # tau = 3 ln(n + 1) or 3 ln n
            assert all(variant(3, longest, gain=2 * longest, sharpness=sharpness(longest), tau_of=tau_of).sorts(ALL[n]))


def rows(sequence: list[int]) -> tuple[Tensor, list[int]]:
    """Softmax weights (H, T, T) of block 2 at tau = 3 ln n, and the tokens that are read (0: delimiter)."""
    sorter = of_length(3, len(sequence))
    with torch.no_grad():
        weights = sorter.model.attention(batch_of(sorter, [sequence]))[1]["self"][0]
    return weights, [*sequence, 0, *sorted(sequence)[:-1]]


def test_weights_of_block_2_are_those_of_tau_and_of_the_tokens_read():
    sequence = [2, 1, 3, 1]
    n, tau = 4, 3 * math.log(4)
    weights, tokens = rows(sequence)
    for i in range(n + 1, 2 * n):
        a, seen = tokens[i], tokens[: i + 1]
        copies = seen.count(a)
        first = torch.tensor([math.exp(tau) if b == a else 1.0 for b in seen]) / (
            copies * math.exp(tau) + i + 1 - copies
        )
        assert torch.allclose(weights[0, i, : i + 1], first, atol=1e-6)
        for wrong in (copies * math.exp(3) + i + 1 - copies, copies * math.exp(tau) + n - copies):  # as A.16 prints
            assert abs(float(weights[0, i, i]) - math.exp(tau) / wrong) > 1e-3
        alpha = torch.tensor([math.exp(tau * (3 - b + 1)) if b > a else 1.0 for b in seen])
        assert torch.allclose(weights[1, i, : i + 1], alpha / alpha.sum(), atol=1e-6)
        numbers = sum(float(weight) for weight, b in zip(weights[1, i], seen, strict=False) if b)
        delimiter = 1 / float(alpha.sum())
        assert numbers == pytest.approx(1 - delimiter, abs=1e-6), "A.18 forgets the delimiter, which adds 1"


@pytest.mark.parametrize("n", [5, 10, 20])
def test_a_copy_misses_one_by_the_square_of_n(n):
    """Of different numbers the last one read keeps n^3 of n^3 + n - 1: 1 - O(n^-2), where 1 - O(n^-4) is printed."""
    sorter, at = of_length(n, n), vectors(n)
    with torch.no_grad():
        stream = sorter.model.residuals(batch_of(sorter, [list(range(1, n + 1))]))[0][0]
    missed = 1 - float(stream[0, n - 1, at.tilde.a[n - 1]])
    assert missed == pytest.approx((n - 1) / (n**3 + n - 1), rel=1e-3)
    assert missed * n**4 > 10


@pytest.mark.parametrize("change", ["rows instead of columns", "keys that ask", "the other sign in A.20"])
def test_orientation_and_sign_matter(change):
    sorter = of_length(5, 6)
    with torch.no_grad():
        for block in sorter.model.blocks:
            query, key, value = (getattr(block.attention, name).weight for name in ("query", "key", "value"))
            if change == "rows instead of columns":
                value.copy_(value.T.clone())
            if change == "keys that ask":
                kept = query.clone()
                query.copy_(key)
                key.copy_(kept)
        if change == "the other sign in A.20":
            second: FeedForward = sorter.model.blocks[1].feed_forward
            second.leave.weight.neg_()
    lists = [one for one in drawn(5, 6, 60) if len(set(one)) > 1]
    assert not any(sorter.sorts(lists))
    assert all(of_length(5, 6).sorts(lists))


@pytest.mark.parametrize("n", [2, 3, 5, 10, 20, 40])
def test_what_a_20_leaves_of_the_identity_is_small(n):
    """At most n^-2 of hat-e'_a where a has a successor; mostly below 0."""
    sorter, lists = of_length(5, n), drawn(5, n, 100)
    batch = batch_of(sorter, lists)
    with torch.no_grad():
        stream = sorter.model.residuals(batch)[1][1][:, n + 1 :]
    written = torch.tensor([sorted(one) for one in lists])
    left = stream.gather(2, vectors(5).hat_primed.a[written - 1][:, :, None])[:, :, 0][written < written[:, -1:]]
    assert float(left.abs().max()) <= n**-2
    assert float((left <= 0).float().mean()) > 0.5


def test_encodings_survive_and_are_not_read():
    sorter = repaired(5, 20)
    batch, at = batch_of(sorter, drawn(5, 20, 10)), vectors(5)
    with torch.no_grad():
        stream = sorter.model.residuals(batch)[1][1]
        embedded = sorter.model.embedding(batch.tokens)
    for e in (at.e, at.e_primed):
        assert torch.equal(stream[:, :, e.a], embedded[:, :, e.a])
    unread = torch.cat([at.e.a, at.e_primed.a, at.tilde.a, at.tilde_primed.a])
    assert sorter.model.head is not None and not sorter.model.head.weight[:, unread].any()


@pytest.mark.parametrize("n", [3, 5, 10, 50])
def test_the_delimiter_leaks_little(n):
    """Readouts of symbols that are not the minimum: at most 4 / n at tau = 3 ln n, next to nothing with kappa."""
    lists = [one for one in drawn(5, n, 100) + families(5, n) if len(set(one)) > 1]
    smallest = torch.tensor([min(one) for one in lists])[:, None] - 1
    for sorter, most in ((of_length(5, n), 4 / n), (repaired(5, 50), 1e-3)):
        read = sorter.readouts(lists)[:, 0]
        assert float(read.gather(1, smallest).min()) >= 1
        assert float(read.scatter(1, smallest, 0).max()) <= most


def test_scores_overflow_a_plain_exponential():
    sorter, lists = of_length(100, 2), [[100, 1], [2, 1]]
    with torch.no_grad():
        scores = sorter.model.attention(batch_of(sorter, lists), softmax=False)[0]["self"]
    assert scores.max() == pytest.approx(300 * math.log(2), rel=1e-5)
    assert scores.max().exp() == math.inf
    assert 300 * math.log(10) < math.log(sys.float_info.max) < 300 * math.log(11), "float64: from n = 11 on"
    assert all(sorter.sorts(lists))


def test_one_number_needs_no_temperature():
    assert variant(9, 2, gain=2, slope=0.0).answers([[a] for a in range(1, 10)]) == [[a] for a in range(1, 10)]


@pytest.mark.slow
def test_n_may_be_the_current_length():
    """tau = 3 ln T with the tokens T up to now, computed anew for every output."""
    for n in (2, 5, 10, 20, 40):
        lists = families(5, n)
        for written in range(n):
            length = n + 1 + written
            slope = 3 * math.log(length) / math.log(n + 1)
            read = variant(5, n, gain=2 * n, slope=slope).readouts(lists)[:, written]
            assert (read.argmax(dim=1) + 1).tolist() == [sorted(one)[written] for one in lists]


class Normalised(torch.nn.Module):
    """A.7: with every coordinate doubled at the opposite sign the mean is 0, and a row is scaled to length sqrt(d)."""

    def forward(self, x: Tensor) -> Tensor:
        return x * (x.shape[-1] ** 0.5 / x.norm(dim=-1, keepdim=True))


@pytest.mark.parametrize("n", [4, 10, 50])
@pytest.mark.parametrize("q", [5, 30])
def test_layer_normalisation_changes_block_2(q, n):
    lists = [[q] * (n - 2) + [2, 1], *drawn(q, n, 30)]  # ([q] * ..., 2, 1) is the hardest family
    slower, sharp = 4 / (6 * (q + 1)), {"gain": 100, "sharpness": sharpness(50)}
    for sorter, scale, sorted_all in (
        (of_length(q, n), 1.0, False),
        (of_length(q, n), slower, True),
        (variant(q, 50, **sharp), 1.0, True),
    ):
        for block in sorter.model.blocks:
            block.after[-1] = Normalised()
        with torch.no_grad():
            sorter.model.blocks[1].attention.query.weight.mul_(scale)
        assert all(sorter.sorts(lists)) is sorted_all


def test_the_printed_mean_is_none():
    x = torch.tensor([1.0, -1.0, 2.0, 0.0])
    assert float((x - x.abs().sum() / 4).mean()) != 0
    assert float((x - x.mean()).mean()) == 0


def test_ten_epochs_are_longer_than_the_training():
    paper = next(item for item in EXPERIMENTS if item.variant == "160m").specs["paper"]
    epoch = paper.data.examples / paper.train.batch
    assert (epoch, paper.train.steps) == (156_250, 100_000)
    assert paper.train.warmup_steps == 1000


def test_scores_of_a_vocabulary_have_a_bias_of_its_size():
    sorter = repaired(7, 10)
    assert sorter.model.head is not None
    assert sorter.model.head.bias.shape == (len(sorter.data.vocab),) != (sorter.spec.model.width,)
