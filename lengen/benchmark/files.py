"""Problems as files that others read: JSON lines, text, tables, and tasks of the evaluation harness."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

COLUMNS = ("id", "task", "length", "count", "prompt", "answer", "text", "split")
"""Columns of tables of problems: those that its lines have."""
Lines = Iterable[Mapping[str, Any]]
"""Problems as plain data."""


def _jsonl(lines: Lines, folder: Path, name: str) -> list[Path]:
    return _written(folder / f"{name}.jsonl", (json.dumps(line, ensure_ascii=False) for line in lines))


def _txt(lines: Lines, folder: Path, name: str) -> list[Path]:
    return _written(folder / f"{name}.txt", (line.get("text") or line["prompt"] + line["answer"] for line in lines))


def _written(path: Path, lines: Iterable[str]) -> list[Path]:
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(f"{line}\n" for line in lines)
    return [path]


def _csv(lines: Lines, folder: Path, name: str) -> list[Path]:
    path = folder / f"{name}.csv"
    _table(lines).to_csv(path, index=False, lineterminator="\n")
    return [path]


def _parquet(lines: Lines, folder: Path, name: str) -> list[Path]:
    path = folder / f"{name}.parquet"
    _table(lines).to_parquet(path, index=False)
    return [path]


def _table(lines: Lines) -> Any:
    import pandas as pd

    frame = pd.DataFrame(list(lines))
    return frame[[column for column in COLUMNS if column in frame.columns]]


def _lm_eval(lines: Lines, folder: Path, name: str) -> list[Path]:
    """Return a file of problems and a task of the evaluation harness for every length."""
    by: dict[int, list[Mapping[str, Any]]] = {}
    for line in lines:
        by.setdefault(max(line["length"], line["count"]), []).append(line)
    ignored = json.dumps(_ignored([line["answer"] for some in by.values() for line in some]))
    written: list[Path] = []
    for length, some in sorted(by.items()):
        (data,) = _jsonl(some, folder, f"{name}-{length:03}")
        task = folder / f"lengen_{name}_{length:03}.yaml".replace("-", "_")
        text = HARNESS.format(task=task.stem, data=data.resolve().as_posix(), ignored=ignored)
        task.write_text(text, encoding="utf-8")
        written += [data, task]
    return written


def _ignored(answers: Sequence[str]) -> list[str]:
    """Return patterns of what means nothing in answers: blanks but between numbers, leading zeros but of strings."""
    blanks = "^\\s+|[\\s$]+$" if any(" " in answer for answer in answers) else "[\\s$]"
    strings = any(len(answer) > 1 and answer.startswith("0") for answer in answers)
    return [blanks] if strings else [blanks, "^0+(?=[0-9])"]


HARNESS = """\
task: {task}
dataset_path: json
dataset_kwargs: {{data_files: {{test: "{data}"}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{prompt}}}}"
doc_to_target: "{{{{answer}}}}"
target_delimiter: ""
generation_kwargs: {{until: ["\\n"], do_sample: false}}
metric_list:
  - {{metric: exact_match, aggregation: mean, higher_is_better: true, regexes_to_ignore: {ignored}}}
metadata: {{version: 1.0}}
"""
WRITERS: Mapping[str, Callable[[Lines, Path, str], list[Path]]] = {
    "jsonl": _jsonl, "txt": _txt, "csv": _csv, "parquet": _parquet, "lm-eval": _lm_eval,
}  # fmt: skip
