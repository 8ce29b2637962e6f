"""Counts of one test cell: how a model's responses are scored, teacher-forced, free-running or sampled."""

import torch

from lengen.data.writer import Writer
from lengen.decoding.decoding import at_once, generate, go_on, read, sampled, true_responses
from lengen.digits.problems import Problems
from lengen.metrics import count
from lengen.models import Transformer
from lengen.results.records import Counts


def score_cell(model: Transformer, writer: Writer, problems: Problems, free_running: bool) -> dict[str, Counts]:
    """Return counts of one test cell, by mode.

    Exact match is the same in both modes (see `lengen.decoding.decoding`). The final answer is not: teacher-forced, the
    true scratchpad stands in the context; free-running, the model's own does. Only examples that fail are decoded.
    """
    totals: dict[str, Counts] = {}
    for part in problems.parts(at_once(writer, problems, model)):
        for mode, score in _score(model, writer, part, free_running).items():
            totals[mode] = totals[mode] + score if mode in totals else score
    return totals


def score_sampled(model: Transformer, writer: Writer, problems: Problems, stream: torch.Generator) -> Counts:
    """Return counts of one test cell whose responses are sampled at temperature 1.

    Table 4.3 of "Length Generalization on Multi-Digit Integer Addition with Transformers" was measured so. The expected
    share of exact matches is the mean of exp(-loss of the whole response).
    """
    written = generate(model, writer, problems, choose=sampled(stream))
    reference = true_responses(writer.write(problems))
    return count(written, reference, writer.format, writer.vocab, own_text=True)


def _score(model: Transformer, writer: Writer, problems: Problems, free_running: bool) -> dict[str, Counts]:
    reading, way = read(model, writer, problems), (writer.format, writer.vocab)
    verified = reading.verified
    scores = {"teacher_forced": count(verified.predicted, verified.reference, *way, own_text=False)}
    if free_running:
        failed = ~verified.correct
        written = verified.reference.clone()
        if bool(failed.any()):
            own = go_on(model, writer, problems.select(failed.nonzero()[:, 0]), reading.select(failed))
            written = torch.nn.functional.pad(written, (0, max(0, own.shape[1] - written.shape[1])))
            written[failed] = torch.nn.functional.pad(own, (0, written.shape[1] - own.shape[1]))
        scores["free_running"] = count(written, verified.reference, *way, own_text=True)
    return scores
