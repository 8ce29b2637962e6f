"""Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count: multi-level position coupling."""
