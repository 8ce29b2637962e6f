"""Length Generalization on Multi-Digit Integer Addition with Transformers: random spaces, formats and sub-tasks."""
