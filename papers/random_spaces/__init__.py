"""Length Generalization on Multi-Digit Integer Addition with Transformers (Ibrahimli, master thesis, 2024)."""
