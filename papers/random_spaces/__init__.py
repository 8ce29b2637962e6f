"""Length Generalization on Multi-Digit Integer Addition with Transformers: random spaces, scratchpad, sub-tasks."""
