"""``python -m reproduce.publication``: write what makes the suite citable anew, without promoting anything."""

import sys

from reproduce.publication import write
from reproduce.store.files import readable
from reproduce.store.provenance import checkout


def main() -> int:
    """Write the files that are not as they should be, and print them."""
    repository = checkout()
    if repository is None:
        print("python -m reproduce.publication needs a checkout of the repository: run it in a clone", file=sys.stderr)
        return 2
    for path in write(repository):
        print(readable(path))
    return 0


if __name__ == "__main__":
    sys.exit(main())
