"""Exact arithmetic on rows of digits, problems, and explicit randomness. Imports torch when it is first used."""
