"""``python -m lengen``: the program, see `lengen.program`."""

from lengen.program import entry

if __name__ == "__main__":
    entry()
