"""Callbacks for any Trainer: they measure and keep what they found; they do not store it.

They find the data through the Trainer's datamodule (`lengen.data.datamodule.ArithmeticData`) and the model through its
module (`lengen.training.module.SequenceModule`).
"""

from lengen.callbacks.accuracy_grid import AccuracyGrid, Measurement, score_cell
from lengen.callbacks.attention_maps import AttentionMaps, Probes, keys_holding, measure_attention
from lengen.callbacks.checkpoint import CHECKPOINT, ResumePoint
from lengen.callbacks.edit_distance_curve import EditDistanceCurve
from lengen.callbacks.learning_curves import LearningCurves, Losses, digit_losses, response_losses
from lengen.callbacks.loggers import METRICS, VALIDATION, LoggerError, MetricsLogger, extra_loggers, read_metrics
from lengen.callbacks.monitoring import Clock, StopWhenGood, TrainingLoss

__all__ = [
    "CHECKPOINT",
    "METRICS",
    "VALIDATION",
    "AccuracyGrid",
    "AttentionMaps",
    "Clock",
    "EditDistanceCurve",
    "LearningCurves",
    "LoggerError",
    "Losses",
    "Measurement",
    "MetricsLogger",
    "Probes",
    "ResumePoint",
    "StopWhenGood",
    "TrainingLoss",
    "digit_losses",
    "extra_loggers",
    "keys_holding",
    "measure_attention",
    "read_metrics",
    "response_losses",
    "score_cell",
]
