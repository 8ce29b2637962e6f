"""Problems as files that others read: lines, tables, a dataset of the Hub, tasks of lm-evaluation-harness."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lengen.benchmark.problem import SPLITS, Problem, frozen, sum_of
from lengen.benchmark.prompting import examples
from lengen.benchmark.tasks import Task

COLUMNS = ("id", "task", "length", "count", "prompt", "answer", "text", "split")
"""Columns of tables of problems: those that its lines have."""
Lines = Iterable[Mapping[str, Any]]
"""Problems as plain data."""
CITATION = "@misc{lengen, title = {A reproduction suite for length generalization in arithmetic transformers}}"
SHOTS = 8
"""Solved problems for few-shot prompts."""


def _written(path: Path, lines: Iterable[str]) -> list[Path]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(f"{line}\n" for line in lines)
    return [path]


def _jsonl(lines: Lines, folder: Path, name: str) -> list[Path]:
    return _written(folder / f"{name}.jsonl", (json.dumps(line, ensure_ascii=False) for line in lines))


def _txt(lines: Lines, folder: Path, name: str) -> list[Path]:
    return _written(folder / f"{name}.txt", (line.get("text") or line["prompt"] + line["answer"] for line in lines))


def _table(lines: Lines, folder: Path, name: str, ending: str) -> list[Path]:
    import pandas as pd

    frame, path = pd.DataFrame(list(lines)), folder / f"{name}.{ending}"
    frame = frame[[column for column in COLUMNS if column in frame.columns]]
    write = partial(frame.to_csv, lineterminator="\n") if ending == "csv" else frame.to_parquet
    write(path, index=False)
    return [path]


WRITERS: Mapping[str, Callable[[Lines, Path, str], list[Path]]] = {
    "jsonl": _jsonl, "txt": _txt, "csv": partial(_table, ending="csv"), "parquet": partial(_table, ending="parquet"),
}  # fmt: skip
FORMS = Path(__file__).parent / "forms"
"""Texts of what is written beside the problems; names in braces are filled in."""


def _form(file: str, /, **fields: str) -> list[str]:
    """Return the lines of a form; without fields as it stands."""
    text = (FORMS / file).read_text(encoding="utf-8")
    return (text.format(**fields) if fields else text).splitlines()


def _plain(problems: Iterable[Problem]) -> list[dict[str, Any]]:
    return [problem._asdict() for problem in problems]


def dataset_card(name: str, text: str, **more: object) -> str:
    """Return the card of a data set of problems, with more fields in its head."""
    from lengen.huggingface import card

    tasks, tags = ["text-generation"], ["arithmetic", "length-generalization", "benchmark"]
    head = {"license": "mit", "pretty_name": name, "language": ["en"], "task_categories": tasks, "tags": tags}
    return card(head | more, text)


CATEGORIES = {10**4: "1K<n<10K", 10**5: "10K<n<100K", 10**9: "100K<n<1M"}
"""Below how many problems a dataset is of which size, as the Hub calls it."""


def hub(pairs: Sequence[tuple[Task, int]], folder: Path) -> list[Path]:
    """Write a dataset of the Hub: a configuration for each task and size, a file for each split, a card and so on."""
    files: list[Path] = []
    configs, evaluated, total = [], [], 0
    for task, size in pairs:
        name, parts = f"{task.name}-{size}", {"few_shot": examples(task, size, SHOTS)}
        splits = SPLITS if task.chains else SPLITS[:1]
        parts |= {split.replace("-", "_"): frozen(task.name, size, split=split) for split in splits}
        for split, problems in parts.items():
            files += _jsonl(_plain(problems), folder / "data" / name, split)
            total += len(problems)
        paths = [{"split": split, "path": f"data/{name}/{split}.jsonl"} for split in parts]
        configs.append({"config_name": name, "data_files": paths})
        evaluated.append({"id": name.replace("-", "_"), "config": name, "split": "uniform"})
    category = next(name for most, name in CATEGORIES.items() if total < most)
    text = "\n".join(_form("hub.md", citation=CITATION)) + "\n"
    page = dataset_card("lengen-text", text, size_categories=[category], configs=configs)
    (folder / "README.md").write_text(page, encoding="utf-8")
    first = ["name: lengen-text", "description: Arithmetic by length, far beyond the trained range", "tasks:"]
    lines = [*first, *(f"- {json.dumps(entry)}" for entry in evaluated)]
    return [*files, folder / "README.md", *_written(folder / "eval.yaml", lines)]


def harness(pairs: Sequence[tuple[Task, int]], folder: Path) -> list[Path]:
    """Write tasks of lm-evaluation-harness: a task for each pair with a metric a length, a group, a README."""
    files: list[Path] = []
    names = []
    for task, size in pairs:
        problems = frozen(task.name, size)
        names.append(name := f"lengen_{task.name}_{size}")
        files += _jsonl(_plain(problems), folder / "data", name)
        files += _jsonl(_plain(examples(task, size, SHOTS)), folder / "data", f"{name}_few_shot")
        metrics = ["exact_match", *(f"length_{length}" for length in task.lengths(size))]
        entries = [f"  - {{metric: {metric}, aggregation: mean, higher_is_better: true}}" for metric in metrics]
        longest = max(len(problem.answer) for problem in problems) + 16
        sha = sum_of(task.name, size, 2)
        form = _form("task.yaml", name=name, longest=str(longest), metrics="\n".join(entries), sha=sha)
        files += _written(folder / f"{name}.yaml", form)
    described = "\n".join(f"* `{name}`: exact match, and exact match of each length" for name in names)
    forms = {
        "_lengen.yaml": _form("_lengen.yaml"),
        "lengen.yaml": _form("lengen.yaml", tasks="\n".join(f"  - {name}" for name in names)),
        "utils.py": _form("utils.py.txt"),
        "README.md": _form("README.md", tasks=described, citation=CITATION),
    }
    return [*files, *(path for name, lines in forms.items() for path in _written(folder / name, lines))]
