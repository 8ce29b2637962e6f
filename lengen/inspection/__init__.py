"""One problem as a model sees it, solves it and represents it."""
