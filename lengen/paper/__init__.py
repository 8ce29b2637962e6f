"""Declarations of a paper: its object, experiments and profiles. Does not import torch."""
