"""Sections of a setting, their rules, and changes to them. Does not import torch."""
