"""Callbacks measure; they neither draw nor decide where results are kept."""

from lengen.callbacks.attention import AttentionRecord, keys_holding, measure_attention
from lengen.callbacks.probes import Probes
from lengen.callbacks.scores import Scores, score_cell
from lengen.callbacks.track import Losses, Track, digit_losses, response_losses
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
