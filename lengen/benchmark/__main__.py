"""Draw the problems anew and compare their checksums; or check folders of submissions, and print their rows."""

import argparse
import sys
from pathlib import Path

from lengen.benchmark.problem import checksum, made, sum_of, write
from lengen.benchmark.scoring import PredictionError
from lengen.benchmark.submission import FOLDER, PAGE, eval_results, page, row, table_of
from lengen.benchmark.tasks import SINCE_2, TASKS

parser = argparse.ArgumentParser("python -m lengen.benchmark", description=__doc__, allow_abbrev=False)
parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="a submission")
parser.add_argument("--write", action="store_true", help="write the files of problems, too")
parser.add_argument("--table", action="store_true", help="write the table of docs/benchmark.md, too")
parser.add_argument("--eval-results", metavar="DATASET", help="print the rows for .eval_results of the Hub instead")
options = parser.parse_args()
try:
    if options.eval_results:
        print("".join(eval_results(folder, options.eval_results) for folder in options.folders), end="")
        sys.exit()
    if options.folders:
        print(table_of(row(folder) for folder in options.folders), end="")
        sys.exit()
    if options.write:
        write()
    if options.table:
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), FOLDER), encoding="utf-8", newline="\n")
except PredictionError as error:
    sys.exit(f"python -m lengen.benchmark: {error}")
drawn = [(1, name, 0) for name in TASKS if name not in SINCE_2]
drawn += [(2, name, size) for name, task in TASKS.items() for size in task.sizes()]
sums = (
    (f"{name}/{size}", checksum(made(TASKS[name], size)), sum_of(name, size, version)) for version, name, size in drawn
)
wrong = [name for name, now, frozen in sums if now != frozen]
print(f"differ from the frozen problems: {', '.join(wrong)}" if wrong else f"{len(TASKS)} tasks, all checksums equal")
sys.exit(bool(wrong))
