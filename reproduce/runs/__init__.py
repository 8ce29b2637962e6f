"""From a selector to finished runs: catalogue, plan, executors, display."""
