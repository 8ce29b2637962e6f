"""Schemes of position ids: one file each. Does not import torch before ids are drawn."""

from lengen.part import load_files

load_files(__name__, __path__)
