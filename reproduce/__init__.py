"""The conductor: lists, plans, runs, stores, draws and compares experiments; no model in it.

The way of a run: `cli` -> `catalogue` (which experiments) -> `runner` (which jobs) -> `executors` (where they run)
-> `lengen.training.run` -> `store` (what they leave) -> `figures`, `compare` (what is read from it).
"""
