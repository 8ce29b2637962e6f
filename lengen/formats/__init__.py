"""Formats: the order of symbols on a line, padding, reversal and scratchpads; one file each. Does not import torch."""

from lengen.part import load_files

load_files(__name__, __path__)
