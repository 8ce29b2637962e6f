"""Model cards of committed weights.

The form is Hugging Face's: a head of YAML, then Markdown. One card for each experiment with committed weights; its
numbers come from the runs that hold them.
"""

from collections.abc import Sequence
from pathlib import Path

from lengen.huggingface import card
from lengen.results.records import Run
from reproduce.catalogue import CATALOGUE
from reproduce.pages.listing import fields
from reproduce.pages.overview_picture import Facts
from reproduce.pages.sentences import grouped, table
from reproduce.runs import costs
from reproduce.runs.costs import accuracies
from reproduce.store.run_folder import WEIGHTS

CARD_NAME = "README.md"
SECTIONS = ("data", "model", "train")
"""Sections of a setting that a card shows."""
WEIGHTS_HEAD = ("weights", "in the trained range", "outside", "updates", "training", "commit")
CARD = Path(__file__).with_name("card.md").read_text(encoding="utf-8")


def cards(facts: Facts) -> dict[Path, str]:
    """Return the card of every experiment with weights, by the README.md in its folder."""
    runs = (facts.reference.load(run) for name in facts.runs for run in facts.reference.headers(name, holding=WEIGHTS))
    by_experiment = grouped(runs, lambda run: run.experiment)
    return {facts.reference.path / name / CARD_NAME: _card(name, some) for name, some in by_experiment.items()}


def written(reference: Path) -> list[Path]:
    """Return the cards in a store: of paper, figure and variant."""
    return sorted(reference.glob(f"*/*/*/{CARD_NAME}"))


def _card(name: str, runs: Sequence[Run]) -> str:
    experiment = CATALOGUE.select_one(name)
    paper = CATALOGUE.paper(experiment.paper)
    head: dict[str, object] = {
        "license": "mit",
        "library_name": "lengen",
        "tags": ["arithmetic", "length-generalization", "safetensors", *([f"arxiv:{paper.arxiv}"] * bool(paper.arxiv))],
        "metrics": ["exact_match"],
    }
    shown = runs[-1]
    sizes = " or ".join(sorted({f"{costs.number(run, 'parameters'):,}" for run in runs}))
    depth = "/".join([".."] * name.count("/"))
    text = CARD.format(
        experiment=experiment,
        paper=paper,
        run=shown,
        sizes=sizes,
        task=shown.spec.data.task.name,
        comparison=f"{depth}/comparison.md",
        weights=table(WEIGHTS_HEAD, map(_line, runs)),
        setting=table(("field", "value"), _setting(shown)),
    )
    return card(head, text)


def _line(run: Run) -> list[str]:
    inside, outside = accuracies(run)
    where = f"{run.profile}/seed-{run.seed}/{WEIGHTS}"
    steps = run.metrics[-1][0] if run.metrics else 0
    minutes = f"{costs.training(run) / 60:.1f} min, {run.info['device']}"
    return [f"[{where}]({where})", inside, outside, f"{steps:,}", minutes, str(run.info["commit"])[:7]]


def _setting(run: Run) -> list[tuple[str, str]]:
    rows = [row for section in SECTIONS for row in fields(section, [run.info["spec"][section]])]
    return [(f"`{path}`", value) for path, value in rows if value]
