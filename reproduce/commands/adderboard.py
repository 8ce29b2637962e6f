"""The command adderboard: what the community's check of ten-digit addition says of models of this suite.

What enters are parsed options; what leaves is text on stdout and an exit code. It says of every rule whether it is
kept; of the one that position ids made by code may break it says why a person has to decide.
"""

import argparse
import dataclasses
import json
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reproduce.commands import user_file
from reproduce.commands.problem import Model, find, without_runs
from reproduce.pages.terminal import width
from reproduce.runs.catalogue import CATALOGUE, SelectorError
from reproduce.runs.display import counter

if TYPE_CHECKING:
    from lengen.inspection.adderboard import Parameters, Sums
    from lengen.settings.spec import Spec

WIDTH = 100
"""Characters of a line of text at most: longer ones are hard to read."""
LISTED = 3
"""Wrong sums that are printed."""
COUNTED = (
    "kept: one generation loop (lengen.decoding.decoding.write) serves every task, carries no state but the tokens, "
    "and hands the model ids that count tokens, whatever they say"
)
BY_MEANING = (
    "open: one generation loop (lengen.decoding.decoding.write) serves every task and carries no state but the tokens. "
    "But the position ids that it hands the model are made by code that knows what tokens mean: digits of one place "
    "value share an id, so which of them belong together is told to the model, not found by it. The rules allow custom "
    "positional encodings and forbid code that pairs digits by hand. Read strictly, this is such code; that is for the "
    "keepers of the list to decide, and no place in it is claimed here"
)
"""Verdict on rule 4, "the model does the work, not the code", for ids that depend on the meaning of tokens."""


@dataclass(frozen=True)
class Judged:
    """A model and what the check says of it."""

    model: str
    weights: str
    """Origin of the weights: hand-coded, or trained, with the training data."""
    precision: str
    sums: "Sums"
    parameters: "Parameters"
    rules: dict[str, str]
    """Rule of the list -> whether it is kept."""
    qualifies: bool
    """By accuracy, over all of the pairs."""


def adderboard_command(options: argparse.Namespace) -> int:
    """Judge the named model, or every one that a paper offers for it."""
    from lengen.inspection.adderboard import PAIRS

    pairs = options.pairs or PAIRS
    if str(options.selector).endswith(".py"):
        without_runs(f"{options.selector} is a file", **_of_a_run(options))
        judged = [judge_submission(Path(options.selector), pairs)]
    else:
        judged = [judge(model, pairs) for model in _chosen(options)]
    if options.json:
        print(json.dumps([plain(one) for one in judged], ensure_ascii=False))
    else:
        print("\n\n".join(told(one, judged[:place]) for place, one in enumerate(judged)))
    return 0


def _chosen(options: argparse.Namespace) -> list[Model]:
    """Return the model that a paper constructs at the wanted size, if there is one; else the newest run with
    weights."""
    offered = {name: spec for paper in CATALOGUE.papers() for name, spec in CATALOGUE.paper(paper).adders().items()}
    names = list(offered) if options.selector is None else [CATALOGUE.select_one(options.selector).name]
    found = []
    for name in names:
        spec = offered.get(name)
        if spec is not None:
            without_runs(f"{name} is constructed", **_of_a_run(options))
            found.append(Model(spec, None, f"{name}, constructed for two numbers of ten digits", None))
        else:
            experiment = CATALOGUE.select_one(name)
            found.append(find(experiment, options.profile, options.seed, options.with_overrides))
    return found


def _of_a_run(options: argparse.Namespace) -> dict[str, object]:
    """The options that choose a stored run."""
    return {key: getattr(options, key) for key in ("profile", "seed", "with_overrides")}


def judge_submission(path: Path, pairs: int) -> Judged:
    """Judge a file in the form of the list: ``build_model()`` returns a model and its metadata, ``add(model, a, b)`` a
    sum. Raises `SelectorError` for a file that has neither."""
    from lengen.inspection.adderboard import PAIRS, QUALIFIES, counted, summed, tensors

    try:
        module = user_file.loaded(path)
        model, metadata = module.build_model()
        add, declared = module.add, int(metadata.get("params", 0))
    except Exception as error:  # a foreign file may raise anything
        raise SelectorError(
            f"{path}: {type(error).__name__}: {error}; expected build_model() that returns (model, metadata), "
            "params in metadata as a number, and add(model, a, b) that returns their sum"
        ) from None
    sums = summed(lambda a, b: add(model, a, b), pairs, report=counter("sums", sys.stderr))
    parameters = counted(model, declared)
    return Judged(
        model=str(metadata.get("name", path.stem)),
        weights=f"by {metadata.get('author', 'nobody named')}; {metadata.get('params', 'no')} parameters declared",
        precision=next((str(one.dtype).removeprefix("torch.") for one in tensors(model)), "no tensors"),
        sums=sums,
        parameters=parameters,
        rules={"1 to 4": f"for a person to read: {metadata.get('architecture', 'no architecture declared')}"},
        qualifies=pairs == PAIRS and sums.share >= QUALIFIES,
    )


def judge(model: Model, pairs: int) -> Judged:
    """Let a model answer; raises `SelectorError` for one that adds no two numbers."""
    from lengen.data.task_data import TaskData
    from lengen.inspection import adderboard
    from lengen.training.build import load

    spec = model.spec
    data = TaskData(spec, seed=0)
    if not adderboard.adds(data):
        raise SelectorError(f"{model.name} adds no two numbers, its task is {spec.data.task.name}: name one that does")
    module = load(spec, model.weights)
    sums = adderboard.sums(data, module, pairs, report=counter("sums", sys.stderr))
    in_order = module.writes_in_order and module.spec.causal
    return Judged(
        model=model.name,
        weights="hand-coded" if model.weights is None else _trained(spec),
        precision=str(next(module.parameters()).dtype).removeprefix("torch."),
        sums=sums,
        parameters=adderboard.parameters(module),
        rules=_rules(spec, in_order),
        qualifies=pairs == adderboard.PAIRS and sums.share >= adderboard.QUALIFIES,
    )


def _trained(spec: "Spec") -> str:
    from lengen.inspection.adderboard import DIGITS

    longest = spec.data.task.longest
    beyond = f"; none of {DIGITS}, so it is tested beyond its trained range" if longest < DIGITS else ""
    return f"trained on numbers of up to {longest} digits{beyond}"


def _rules(spec: "Spec", in_order: bool) -> dict[str, str]:
    """The four rules of an autoregressive transformer, each with whether this setting keeps it."""
    layers = spec.model.layers
    return {
        "1 self-attention": f"kept: {layers} layer{'s' * (layers != 1)} of {spec.model.heads} heads",
        "2 autoregressive": "kept: each token is read again before the next" if in_order else "broken: written at once",
        "3 forward pass": "kept: tokens and position ids in, logits out",
        "4 no work by code": COUNTED if spec.data.position_ids.COUNTS_TOKENS else BY_MEANING,
    }


def plain(judged: Judged) -> dict[str, object]:
    """Return the result of the check as data for JSON."""
    counts = {name: getattr(judged, name)._asdict() for name in ("sums", "parameters")}
    counts["sums"]["wrong"] = [one.text() for one in judged.sums.wrong[:LISTED]]
    return dataclasses.asdict(judged) | counts


def told(judged: Judged, before: Sequence[Judged] = ()) -> str:
    """Return the result of the check, a line for each point; rules in short if ``before`` has the same text in full."""
    from lengen.inspection.adderboard import EDGES, PAIRS, QUALIFIES, SEED

    sums, parameters = judged.sums, judged.parameters
    verdict = f"{QUALIFIES:.0%} are asked: {'met' if judged.qualifies else 'not met'}"
    if sums.drawn != PAIRS:
        verdict = f"no verdict: {PAIRS:,} pairs are asked"
    zeros = f"{parameters.positions:,} of them encode positions, {parameters.zeros:,} are zero"
    lines = {
        "model": judged.model,
        "weights": judged.weights,
        "precision": judged.precision,
        "edge cases": f"{sums.edges} of {len(EDGES)} right",
        "random pairs": f"{sums.pairs:,} of {sums.drawn:,} right (seed {SEED})",
        "together": f"{100 * sums.share:.2f} %; {verdict}",
        "parameters": f"{parameters.unique:,}, shared ones once; {zeros}",
        **{f"rule {rule}": _unsaid(rule, kept, before) for rule, kept in judged.rules.items()},
    }
    for number, one in enumerate(sums.wrong[:LISTED], 1):
        lines[f"wrong {number}"] = one.text()
    if sums.refused:
        lines["no sum"] = f"{sums.refused}, counted as wrong: {sums.why}"
    left = max(map(len, lines)) + 2
    return "\n".join(
        textwrap.fill(said, min(WIDTH, width()), initial_indent=name.ljust(left), subsequent_indent=" " * left)
        for name, said in lines.items()
    )


def _unsaid(rule: str, kept: str, before: Sequence[Judged]) -> str:
    """Return the text on a rule: its first words alone if a model above has the same in full."""
    said = any(one.rules[rule] == kept for one in before)
    answer, _, words = kept.partition(":")
    return f"{answer}: the same as said above" if said and len(words) > WIDTH else kept
