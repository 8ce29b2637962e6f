"""Problems as files that others read: lines, tables, a dataset of the Hub, tasks of lm-evaluation-harness."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lengen.benchmark.problem import SPLITS, Problem, frozen, held_out, sum_of, training
from lengen.benchmark.tasks import TASKS, Task

COLUMNS = ("id", "task", "length", "count", "prompt", "answer", "text", "split")
"""Columns of tables of problems: those that its lines have."""
Lines = Iterable[Mapping[str, Any]]
"""Problems as plain data."""
CITATION = "@misc{lengen, title = {A reproduction suite for length generalization in arithmetic transformers}}"
TAGS = ["arithmetic", "length-generalization", "benchmark"]
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


WRITERS: Mapping[str, Callable[[Lines, Path, str], list[Path]]] = {
    "jsonl": _jsonl, "txt": _txt, "csv": _csv, "parquet": _parquet,
}  # fmt: skip


def _plain(problems: Iterable[Problem]) -> list[dict[str, Any]]:
    return [problem._asdict() for problem in problems]


def _shots(task: Task, size: int) -> list[Problem]:
    return list(training(task, size, 0, SHOTS, held_out(task.name, size)))


def _size_category(number: int) -> str:
    return next(
        name for most, name in ((10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**9, "100K<n<1M")) if number < most
    )


def hub(pairs: Sequence[tuple[Task, int]], folder: Path) -> list[Path]:
    """Write a dataset of the Hub: a configuration for each task and size, a file for each split, a card and so on."""
    from lengen.huggingface import card

    files: list[Path] = []
    configs, evaluated, total = [], [], 0
    for task, size in pairs:
        name, parts = f"{task.name}-{size}", {"few_shot": _shots(task, size)}
        splits = SPLITS if task.chains else SPLITS[:1]
        parts |= {split.replace("-", "_"): frozen(task.name, size, split=split) for split in splits}
        for split, problems in parts.items():
            files += _jsonl(_plain(problems), folder / "data" / name, split)
            total += len(problems)
        paths = [{"split": split, "path": f"data/{name}/{split}.jsonl"} for split in parts]
        configs.append({"config_name": name, "data_files": paths})
        evaluated.append({"id": name.replace("-", "_"), "config": name, "split": "uniform"})
    head: dict[str, object] = {
        "license": "mit", "pretty_name": "lengen-text", "language": ["en"], "task_categories": ["text-generation"],
        "tags": TAGS, "size_categories": [_size_category(total)], "configs": configs,
    }  # fmt: skip
    (folder / "README.md").write_text(card(head, HUB_CARD), encoding="utf-8")
    first = {"name": "lengen-text", "description": "Arithmetic by length, far beyond the trained range"}
    lines = [f"{key}: {value}" for key, value in first.items()] + ["tasks:"]
    lines += [f"- {json.dumps(entry)}" for entry in evaluated]
    return [*files, folder / "README.md", *_written(folder / "eval.yaml", lines)]


HUB_CARD = f"""\
# lengen-text

Problems of arithmetic for length generalization, written by `lengen export --hub`. Protocol `lengen-text/2`: a
configuration is a task and the longest trained length, as `addition-6`; its split `uniform` goes from a quarter of that
length to a hundred times it, or to 1,000 symbols. `carry_quarter`, `carry_half` and `carry_all` hold chains of carries,
`few_shot` examples that are not tested.

    from datasets import load_dataset
    problems = load_dataset("PATH_OF_THIS_DATASET", "addition-6", split="uniform")

`prompt` and `answer` are plain text. A model answers each prompt; `lengen score addition predictions.jsonl --size 6`
gives reach and area.

## Citation

    {CITATION}
"""


def harness(pairs: Sequence[tuple[Task, int]], folder: Path) -> list[Path]:
    """Write tasks of lm-evaluation-harness: a task for each pair with a metric a length, a group, a README."""
    files: list[Path] = []
    names = []
    for task, size in pairs:
        problems = frozen(task.name, size)
        names.append(name := f"lengen_{task.name}_{size}")
        files += _jsonl(_plain(problems), folder / "data", name)
        files += _jsonl(_plain(_shots(task, size)), folder / "data", f"{name}_few_shot")
        metrics = ["exact_match", *(f"length_{length}" for length in task.lengths(size))]
        entries = [f"  - {{metric: {metric}, aggregation: mean, higher_is_better: true}}" for metric in metrics]
        longest = max(len(problem.answer) for problem in problems) + 16
        sha = sum_of(task.name, size, 2)
        text = HARNESS_TASK.format(name=name, longest=longest, metrics="\n".join(entries), sha=sha)
        files += _written(folder / f"{name}.yaml", [text.rstrip("\n")])
    listed = "\n".join(f"  - {name}" for name in names)
    files += _written(folder / "_lengen.yaml", [HARNESS_BASE.rstrip("\n")])
    files += _written(folder / "lengen.yaml", [HARNESS_GROUP.format(tasks=listed).rstrip("\n")])
    files += _written(folder / "utils.py", [HARNESS_CODE.rstrip("\n")])
    tasks = "\n".join(f"* `{name}`: exact match, and exact match of each length" for name in names)
    return [
        *files,
        *_written(folder / "README.md", [HARNESS_README.format(tasks=tasks, citation=CITATION).rstrip("\n")]),
    ]


HARNESS_BASE = """\
tag: lengen_text
custom_dataset: !function utils.load
output_type: generate_until
test_split: test
fewshot_split: few_shot
doc_to_text: "{{prompt}}"
doc_to_target: "{{answer}}"
target_delimiter: ""
fewshot_delimiter: "\\n"
process_results: !function utils.process_results
"""
HARNESS_TASK = """\
include: _lengen.yaml
task: {name}
generation_kwargs: {{until: ["\\n\\n"], do_sample: false, max_gen_toks: {longest}}}
metric_list:
{metrics}
metadata: {{version: 2.0, data: {name}, sha256: {sha}}}
"""
HARNESS_GROUP = """\
group: lengen
task:
{tasks}
aggregate_metric_list:
  - {{metric: exact_match, aggregation: mean, weight_by_size: false}}
metadata: {{version: 2.0}}
"""
HARNESS_CODE = '''\
"""Data and scores of the lengen tasks, as protocol lengen-text/2 says."""

from pathlib import Path

from datasets import load_dataset


def load(data, **_):
    folder = Path(__file__).parent / "data"
    names = {"test": f"{data}.jsonl", "few_shot": f"{data}_few_shot.jsonl"}
    return load_dataset("json", data_files={split: str(folder / name) for split, name in names.items()})


def cleaned(text, task):
    if task in ("sorting", "max"):
        return " ".join(text.replace(",", " ").split())
    text = "".join(text.split())
    return text if task in ("parity", "copy", "reverse") else text.lstrip("0") or "0" * bool(text)


def process_results(doc, results):
    line = next((line for line in results[0].split("\\n") if line.strip()), "").split("$")[0]
    right = float(cleaned(line, doc["task"]) == doc["answer"])
    return {"exact_match": right, f"length_{max(doc['length'], doc['count'])}": right}
'''
HARNESS_README = """\
# lengen

### Paper

Arithmetic by length: exact match far beyond the trained range, protocol `lengen-text/2`.

### Citation

    {citation}

### Groups, Tags, and Tasks

#### Groups

* `lengen`: all tasks below

#### Tags

* `lengen_text`: all tasks below

#### Tasks

{tasks}

Reach and area need all lengths: `lengen score TASK --size N --lm-eval samples_*.jsonl` reads what `--log_samples`
wrote.

### Checklist

* [x] Is the task an existing benchmark in the literature? A new one; its page has the protocol.
* [x] Is a version of it frozen? The SHA-256 of its problems stands in the metadata.

### Changelog

* version 2.0: protocol `lengen-text/2`
"""


def pairs_of(name: str, size: int | None) -> list[tuple[Task, int]]:
    """Return tasks and sizes: of one task or "all", of one size or all that the task has."""
    tasks = TASKS.values() if name == "all" else [TASKS[name]]
    return [(task, one) for task in tasks for one in task.sizes() if size in (None, one)]
