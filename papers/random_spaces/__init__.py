"""Length Generalization on Multi-Digit Integer Addition with Transformers (a master thesis): formats and sub-tasks."""
