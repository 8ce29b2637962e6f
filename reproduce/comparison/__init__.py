"""Published numbers and claims against stored runs."""
