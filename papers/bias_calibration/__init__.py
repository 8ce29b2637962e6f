"""From Interpolation to Extrapolation: Complete Length Generalization for Arithmetic Transformers."""
