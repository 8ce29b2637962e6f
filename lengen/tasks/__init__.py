"""Tasks: one class each, its setting and its mathematics. Does not import torch before it is used."""

from lengen.part import load_files

load_files(__name__, __path__)
