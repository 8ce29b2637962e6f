"""Callbacks measure; they neither draw nor decide where results are kept."""

from lengen.callbacks.accuracy_grid import Scores, score_cell
from lengen.callbacks.attention_maps import AttentionRecord, keys_holding, measure_attention
from lengen.callbacks.learning_curve import Losses, Track, digit_losses, response_losses
from lengen.callbacks.probes import Probes
from lengen.callbacks.training import (
    CHECKPOINT,
    METRICS,
    DivergedError,
    EarlyStop,
    MetricsFile,
    ResumePoint,
    read_metrics,
)

__all__ = [
    "CHECKPOINT",
    "METRICS",
    "AttentionRecord",
    "DivergedError",
    "EarlyStop",
    "Losses",
    "MetricsFile",
    "Probes",
    "ResumePoint",
    "Scores",
    "Track",
    "digit_losses",
    "keys_holding",
    "measure_attention",
    "read_metrics",
    "response_losses",
    "score_cell",
]
