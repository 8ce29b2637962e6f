"""Draw the problems anew and compare their checksums; with ``--write`` also write the files, with ``--table``
the table of docs/benchmark.md."""

import sys

from lengen.benchmark.frozen import checksum, checksums, made, write
from lengen.benchmark.table import FOLDER, PAGE, page
from lengen.benchmark.tasks import TASKS

if "--write" in sys.argv[1:]:
    write()
if "--table" in sys.argv[1:]:
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), FOLDER), encoding="utf-8", newline="\n")
wrong = [name for name, task in TASKS.items() if checksum(made(task)) != checksums()[name]]
print(f"differ from the frozen problems: {', '.join(wrong)}" if wrong else f"{len(TASKS)} tasks, all checksums equal")
sys.exit(bool(wrong))
