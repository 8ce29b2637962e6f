"""The conductor: lists, plans, runs, stores, draws and compares experiments; no model in it.

The way of a run: `cli` -> `runs.catalogue` (which experiments) -> `runs.perform` (which jobs) -> `runs.executors`
(where they run) -> `Spec.run` -> `store` (what they leave) -> `output.figures`, `comparison` (what is read from it).
"""
