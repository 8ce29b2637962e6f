"""Improving Length-Generalization in Transformers via Task Hinting (Awasthi and Gupta, 2023)."""
