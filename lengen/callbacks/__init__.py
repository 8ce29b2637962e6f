"""Callbacks for any Trainer: they measure and keep what they found; they do not store it.

They find the data through the Trainer's datamodule (`lengen.data.datamodule.ArithmeticData`) and the model through its
module (`lengen.training.module.SequenceModule`).
"""
