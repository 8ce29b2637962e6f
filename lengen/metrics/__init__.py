"""Metrics: a pure function each, and a torchmetrics class that keeps its counts."""

from lengen.metrics.edit_distance import EditDistance, edit_distances
from lengen.metrics.exact_match import AnswerMatch, ExactMatch, answer_match, exact_match

__all__ = ["AnswerMatch", "EditDistance", "ExactMatch", "answer_match", "edit_distances", "exact_match"]
