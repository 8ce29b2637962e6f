"""Numbered deviations of this reproduction from the text of the thesis, each with its reason."""

DEVIATIONS: dict[str, str] = {}
