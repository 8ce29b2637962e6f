"""Callbacks for any Trainer: they measure and keep what they found; they do not store it.

They find the data through the Trainer's datamodule (`lengen.data.datamodule.ArithmeticData`) and the model through its
module (`lengen.training.module.SequenceModule`).
"""

from lengen.callbacks.accuracy_grid import AccuracyGrid
from lengen.callbacks.attention_maps import AttentionMaps, keys_holding, measure_attention
from lengen.callbacks.checkpoint import CHECKPOINT, ResumePoint
from lengen.callbacks.clock import Clock
from lengen.callbacks.early_stopping import StopWhenGood
from lengen.callbacks.edit_distance_curve import EditDistanceCurve
from lengen.callbacks.extra_loggers import LoggerError, extra_loggers
from lengen.callbacks.learning_curves import LearningCurves, Losses, digit_losses, response_losses
from lengen.callbacks.measurement import Measurement
from lengen.callbacks.metrics_logger import METRICS, VALIDATION, MetricsLogger, read_metrics
from lengen.callbacks.probes import Probes
from lengen.callbacks.scoring import score_cell
from lengen.callbacks.training_loss import TrainingLoss

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
