"""The wheel holds one package: there `papers` and `reproduce` lie in `lengen`, and its sources call them so.

A file ``reproduce.py`` or a folder ``papers`` of a user then hides nothing. An editable install keeps the folders of
the repository; see `lengen.program` for both. Everything else stands in pyproject.toml.
"""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

INSIDE = ("papers", "reproduce")
NAME = re.compile(r"(?<![\w./-])(?=(?:papers|reproduce)(?:\.[a-z_]| import\b))|(?<=-m )(?=reproduce\b)")
"""Places where a source names one of the two packages: an import, a dotted name, ``-m reproduce``."""
ARGUMENT = re.compile(r'(?<="-m", ")(?=reproduce")')


def renamed(source: str) -> str:
    """A source of the repository as it stands in the wheel: ``from papers import found`` becomes ``from lengen.papers``
    and so on."""
    return ARGUMENT.sub("lengen.", NAME.sub("lengen.", source))


class Build(build_py):
    """Moves the two packages into `lengen` and renames them in every source, unless the install is editable."""

    def run(self) -> None:
        if not self.editable_mode:
            shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()
        if self.editable_mode:
            return
        built = Path(self.build_lib)
        for name in INSIDE:
            (built / name).rename(built / "lengen" / name)
        for path in built.rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            if (other := renamed(text)) != text:
                path.write_text(other, encoding="utf-8", newline="\n")


class Suite(Distribution):
    """A distribution with one top-level package."""

    def iter_distribution_names(self) -> Iterator[str]:
        return (name for name in super().iter_distribution_names() if name.partition(".")[0] not in INSIDE)


if __name__ == "__main__":
    setup(distclass=Suite, cmdclass={"build_py": Build})
