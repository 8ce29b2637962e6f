"""Answers of a model, written token by token, and its attention on average."""
