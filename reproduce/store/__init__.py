"""Finished runs on disk: versioned, atomic, checked."""
