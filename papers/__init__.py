"""One folder per paper: its experiments, its published numbers, its figures. Papers never import each other."""
