"""What every declared experiment trains, validates and tests on, as hashes: two files that do not change by themselves.

``python -m tests.golden.capture`` writes both, ``--hashes`` the second alone:

- batches.json: "experiment|profile" to five hashes: of the first training batches, of what validates, of the corners of
  the test grid, of one problem as ``encode`` shows it, and of the vocabulary. Batches and training sets are cut so that
  all are drawn in minutes (`small`).
- hashes.json: "experiment|profile" to the hash of the setting, by which stored runs are found.

Most were written before settings had parts, from the code that trained the stored runs. Change an entry only with the
setting that it is of; a new experiment gets entries.
"""

import argparse
import hashlib
import json
from pathlib import Path

import torch

from lengen import Spec
from lengen.data.batch_and_random_spaces import Batch
from lengen.data.task_data import TaskData
from lengen.settings.spec import replace
from lengen.solve import encode
from reproduce.catalogue import CATALOGUE

HERE = Path(__file__).parent
BATCHES, HASHES = HERE / "batches.json", HERE / "hashes.json"
PARTS = ("train", "validation", "test", "encode", "vocabulary")
PROBLEMS = {
    "addition": ["57", "48"], "pair_addition": ["57", "48"], "multiplication": ["37", "925"], "parity": ["0101"],
    "two_operand_addition": ["123", "456"], "sorting": ["2", "1", "2"], "increment": ["129"], "successor": ["12"],
    "n_by_one": ["12", "7"], "running_xor": ["0110"], "listops_sm": ["123"], "listops_max": ["123"],
    "listops_min": ["123"], "listops": ["[MAX", "2", "[MIN", "4", "7", "]", "0", "]"], "copy": ["201"],
    "reverse": ["201"],
}  # fmt: skip
"""What is encoded, by task."""


def declared() -> dict[str, Spec]:
    """Settings by "experiment|profile"."""
    found = {}
    for experiment in CATALOGUE.experiments():
        for profile, spec in experiment.specs.items():
            found[f"{experiment.name}|{profile}"] = spec
    return found


def small(spec: Spec) -> Spec:
    """The same with at most 4 batches of 16 drawn together and 20,000 stored examples."""
    batch, bucket = min(spec.train.batch, 16), min(spec.train.bucket, 4)
    examples = min(spec.data.examples, 20_000)
    if examples and spec.train.one_length:
        examples = max(examples, batch * bucket * (1 + len(spec.data.hints)))
    return replace(spec, train={"batch": batch, "bucket": bucket}, data={"examples": examples})


def captured(spec: Spec) -> str:
    """Hashes of the `PARTS` of a setting, separated by spaces."""
    data = TaskData(small(spec), 0)
    train = [of_batch(data.batch(step)) for step in range(6 * len(data.streams))]
    test = spec.test
    lengths, counts = {min(test.lengths), max(test.lengths)}, {min(test.counts), max(test.counts)}
    cells = sorted((length, count) for length in lengths for count in counts)
    tested = {f"{length},{count}": of_batch(data.writer.write(data.test(length, count, 5))) for length, count in cells}
    try:
        shown = of_text(json.dumps(encode(spec, PROBLEMS[spec.data.task.kind])))
    except ValueError as error:
        shown = type(error).__name__
    symbols = data.vocab.symbols
    vocabulary = symbols if isinstance(symbols, str) else (" " if data.vocab.separator else "").join(symbols)
    parts = (json.dumps(train), of_batch(data.validation()), json.dumps(tested, sort_keys=True), shown, vocabulary)
    return " ".join(of_text(part)[:8] for part in parts)


def of_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def of_batch(batch: Batch) -> str:
    """Hash of everything that a batch holds."""
    source = batch.source
    held = [batch.tokens, batch.ids, batch.loss, batch.scale]
    held += [source.tokens, source.ids] if source is not None else [None, None]
    found = hashlib.sha256()
    for value in held:
        if value is None:
            found.update(b"none")
        else:
            found.update(str(tuple(value.shape)).encode())
            whole = value if value.is_floating_point() else value.to(torch.int64)
            found.update(whole.contiguous().numpy().tobytes())
    found.update(str(batch.output).encode())
    return found.hexdigest()[:16]


def save(path: Path, entries: dict[str, str]) -> None:
    path.write_text(json.dumps(entries, indent=0, sort_keys=True) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description="Write what experiments train and test on as hashes.")
    parser.add_argument("--hashes", action="store_true", help="write the hashes of settings alone")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    settings = declared()
    save(HASHES, {name: spec.hash() for name, spec in settings.items()})
    if not asked.hashes:
        done = {spec.hash(): spec for spec in settings.values()}
        entries = {key: captured(spec) for key, spec in done.items()}
        save(BATCHES, {name: entries[spec.hash()] for name, spec in settings.items()})


if __name__ == "__main__":
    main()
