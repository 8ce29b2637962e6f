"""Draw the problems anew and compare their checksums; with ``--write`` also write the files, with ``--table``
the table of docs/benchmark.md. With folders of submissions: check them, and print their rows of the table."""

import sys
from pathlib import Path

from lengen.benchmark.frozen import checksum, checksums, made, write
from lengen.benchmark.scoring import PredictionError
from lengen.benchmark.table import FOLDER, PAGE, page, row, table_of
from lengen.benchmark.tasks import TASKS

options = [word for word in sys.argv[1:] if word.startswith("--")]
folders = [Path(word) for word in sys.argv[1:] if word not in options]
try:
    if folders:
        print(table_of(row(folder) for folder in folders), end="")
        sys.exit()
    if "--write" in options:
        write()
    if "--table" in options:
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), FOLDER), encoding="utf-8", newline="\n")
except PredictionError as error:
    sys.exit(f"python -m lengen.benchmark: {error}")
wrong = [name for name, task in TASKS.items() if checksum(made(task)) != checksums()[name]]
print(f"differ from the frozen problems: {', '.join(wrong)}" if wrong else f"{len(TASKS)} tasks, all checksums equal")
sys.exit(bool(wrong))
