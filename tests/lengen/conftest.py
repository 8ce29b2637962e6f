"""One thread and repeatable hypothesis: these tests give the same verdict on every run."""

import torch
from hypothesis import settings

torch.set_num_threads(1)
settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=40, database=None)
settings.load_profile("repeatable")
