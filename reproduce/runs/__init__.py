"""From a selector to finished runs: catalogue, plan, the worker and where it works, display."""
