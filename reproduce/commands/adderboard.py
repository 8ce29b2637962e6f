"""The command adderboard: the community's check of ten-digit addition, on models of this suite or a file."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from reproduce.commands.problem import Model, find, without_runs
from reproduce.pages.terminal import width
from reproduce.runs.catalogue import CATALOGUE
from reproduce.runs.display import counter


def adderboard_command(options: argparse.Namespace) -> int:
    """Judge the named model, or every one that a paper offers for it."""
    from lengen.benchmark import adderboard

    pairs, report = options.pairs or adderboard.PAIRS, counter("sums", sys.stderr)
    if str(options.selector).endswith(".py"):
        without_runs(f"{options.selector} is a file", **_of_a_run(options))
        judged = [adderboard.judge_submission(Path(options.selector), pairs, report)]
    else:
        judged = [adderboard.judge(*model[:3], pairs, report) for model in _models(options)]
    if options.json:
        print(json.dumps([adderboard.plain(result) for result in judged], ensure_ascii=False))
    else:
        texts = [adderboard.text(result, judged[:place], width()) for place, result in enumerate(judged)]
        print("\n\n".join(texts))
    return 0


def _models(options: argparse.Namespace) -> list[Model]:
    """Return the model that a paper constructs at the wanted size, else the newest run with weights."""
    offered = {name: spec for paper in CATALOGUE.papers() for name, spec in CATALOGUE.paper(paper).adders().items()}
    names = list(offered) if options.selector is None else [CATALOGUE.select_one(options.selector).name]
    models = []
    for name in names:
        spec = offered.get(name)
        if spec is not None:
            without_runs(f"{name} is constructed", **_of_a_run(options))
            models.append(Model(spec, None, f"{name}, constructed for two numbers of ten digits", None))
        else:
            models.append(find(CATALOGUE.select_one(name), **_of_a_run(options)))
    return models


def _of_a_run(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options that choose a stored run."""
    return {key: getattr(options, key) for key in ("profile", "seed", "with_overrides")}
