"""Records of a run, and statistics on them. Does not import torch."""
