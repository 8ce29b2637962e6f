"""``python -m reproduce``: see `reproduce.cli`."""

from reproduce.cli import entry

if __name__ == "__main__":
    entry()
