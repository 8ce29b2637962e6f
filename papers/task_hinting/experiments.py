"""Every experiment of the paper as a table, and its figures; plain data, no torch.

Reading order: what data and depth do alone (Figures 3.2 and 3.3) and with hints (3.5), accuracy and edit distance with
repetitions (3.6 to 3.9), other hints (3.11), what the residual stream shows (4.12 to 4.16), tempered softmax (Tables 1
and 2), adding one (Table 3). Equal specifications are one run, stored under the first of their names.
"""

from functools import partial
from typing import Any

from lengen.experiment import (
    CURVES,
    TRAINING,
    Axis,
    AxisValue,
    Experiment,
    Figure,
    Layer,
    axis,
    constructed,
    figure_of,
    rows_of,
)
from lengen.part import Part
from lengen.position_ids.sequence_places import Consecutive
from lengen.settings.changes import Changes, overlay
from lengen.settings.model import Learned, Sinusoidal, Tempered
from lengen.settings.sections import NUMBER_FORMATS
from lengen.settings.spec import Spec
from lengen.tasks.base import Task
from lengen.tasks.increment import Carries
from lengen.tasks.missing_repeats import Filling
from lengen.tasks.rarer_number import Counting
from lengen.tasks.sorting import NextLarger
from papers.task_hinting.profiles import (
    ADDING_ONE,
    AT_LENGTHS,
    BASE,
    FOUR_TASKS,
    HINTED_AT_LENGTHS,
    PROBED,
    SIZED,
    SIZES,
    ProbeSpec,
    twice,
)
from papers.task_hinting.theorem_spec import largest_length, theorem

HEADLINE = 5
"""Seeds in a night of what a headline claim compares."""
MINUTES = {"minutes": "*"}
OURS = {"cpu": MINUTES, "night": {"hours": "*"}, "paper": {"ours": "*"}}


row = rows_of("task_hinting", base=BASE)


def hinted(*hints: type[Task]) -> Layer:
    """Return the change that adds auxiliary tasks over the same trained range."""
    return lambda spec: {"data.hints": tuple(_like(spec.data.task, hint) for hint in hints)}


def _like(task: Task, kind: type[Task]) -> Task:
    """Return a task of another kind, with the fields that both have."""
    assert issubclass(kind, Part)
    return kind(**{name: getattr(task, name) for name in kind.__struct_fields__ if hasattr(task, name)})


# ------------------------------------------------------------------ Section 3: data, depth, hints

SUCCESSOR = hinted(NextLarger)
DATA = axis("examples", {size: ("{data.examples} examples", SIZED[size]) for size in SIZES})


FIG32 = row(
    "fig3.2", "Figure 3.2, Section 3", layers=(AT_LENGTHS,), axes=(DATA,), night=HEADLINE,
    skip={"cpu": {"minutes": "1m 10m 40m"}},
    says=lambda size: f"trained on {size.upper()} sequences without hints: more data helps at 2.5 times the trained "
    "length, not at 5",
)  # fmt: skip
FIG33 = row(
    "fig3.3", "Figure 3.3, Section 3", says="deeper models do not reach 5 times the trained length", named="depth-{}",
    layers=(SIZED["1m"], AT_LENGTHS), axes=(axis("layers", (2, 4, 8, 12), "model.layers", "layers"),),
    night=HEADLINE, skip={"cpu": MINUTES},
)  # fmt: skip
FIG35 = row(
    "fig3.5", "Figure 3.5, Section 3.1", layers=(HINTED_AT_LENGTHS,), axes=(DATA,), derived=(SUCCESSOR,),
    night=HEADLINE, skip={"cpu": MINUTES},
    says=lambda size: f"trained on {size.upper()} examples, half of them successor hints: more data helps at every "
    "length",
)  # fmt: skip
REPEATS: Changes = {"data.task.repeats": 0.1}
"""The modified data set: 10 % of the sequences have non-trivial repetitions (Section 3.1, Appendix B)."""
COUNTS = (1, 2, 3, 4, 5)
"""Tested repetitions: 1 is uniform, r from 2 on rep(i, r)."""
REPEATED: tuple[Layer, ...] = (SIZED["160m"], REPEATS)
TESTED: tuple[Layer, ...] = (*REPEATED, {"test.counts": COUNTS}, PROBED)
"""The data set with repetitions; tested on rep(i, r) and probed."""
KINDS: dict[str, tuple[str, str, tuple[Layer, ...]]] = {
    "none": ("no hints", "without hints accuracy falls sharply with length", TESTED),
    "successor": (
        "successor hints",
        "successor hints keep accuracy high and edit distance small far beyond the trained lengths",
        (*TESTED, SUCCESSOR),
    ),
    "count": ("count hints", "count hints make it worse than no hints", (*REPEATED, hinted(Counting))),
    "fill": ("fill hints", "fill hints help a little", (*REPEATED, hinted(Filling))),
    "all": (
        "all hints",
        "all three hints at once: mixed or negative (Section 7)",
        (*REPEATED, FOUR_TASKS, hinted(NextLarger, Counting, Filling)),
    ),
}
"""Label, claim and changes."""


def hints(*kinds: str) -> Axis:
    """Return the axis of these hints."""
    return axis("hints", {kind: AxisValue(KINDS[kind][0], KINDS[kind][2]) for kind in kinds})


def _repeated(figure: str, place: str, *kinds: str, says: Any = lambda kind: KINDS[kind][1]) -> tuple[Experiment, ...]:
    """Return the experiments of a figure on the models trained with repetitions."""
    return row(
        figure, place, axes=(hints(*kinds),), says=says, night=HEADLINE,
        skip={"cpu": {"minutes": "fill all"}, "night": {"hours": "all"}}, layers=(HINTED_AT_LENGTHS,),
    )  # fmt: skip


FIG36 = (
    *_repeated("fig3.6", "Figures 3.6 and 3.7, Section 3.1", "none", "successor"),
    *row(
        "fig3.6", "Figures 3.6 and 3.7, Section 3.1, with 100,000 steps read as those of the main task",
        says="with as many updates of the main task as without hints",
        skip={"cpu": MINUTES, "night": {"hours": "*"}}, layers=(HINTED_AT_LENGTHS,),
        axes=(axis("hints", {"successor-equal": ("successor hints, 2 × steps", *TESTED, twice, SUCCESSOR)}),),
    ),
    *row(
        "fig3.6", "Figures 3.6 and 3.7, Section 3.1",
        says="without hints, with as many updates in all as successor-equal",
        axes=(axis("hints", {"none-twice": ("no hints, 2 × steps", *TESTED, twice)}),),
        skip={"cpu": {"ours": "*"}, "night": {"hours": "*"}}, layers=(HINTED_AT_LENGTHS,),
        ours={
            "none-twice": "a control: successor-equal has twice the computation of the model without hints that it is "
            "held against"
        },
    ),
)  # fmt: skip
FIG38 = _repeated(
    "fig3.8", "Figures 3.8 and 3.9, Section 3.1", "none", "successor",
    says={
        "none": "without hints accuracy falls on repeated numbers, too",
        "successor": "with hints accuracy and edit distance stay stable on repeated numbers",
    }.__getitem__,
)  # fmt: skip
FIG311 = _repeated("fig3.11", "Figure 3.11, Sections 3.1 and 7", *KINDS)


def of_copies(spec: Spec) -> Changes:
    """Return the change to the hint in which a number with copies is followed by itself (D3)."""
    hint = _like(spec.data.task, NextLarger)
    assert isinstance(hint, NextLarger)
    return {"data.hints": (overlay(hint, {"copies": True}),)}


def _slower(divisor: int) -> Layer:
    return lambda spec: {"train.lr": spec.train.lr / divisor}


READINGS: dict[str, tuple[Any, ...]] = {
    "none": ("no hints",), "larger": ("next larger", SUCCESSOR), "copies": ("with copies", of_copies),
    "copies-equal": ("with copies, 2 × steps", of_copies, twice), "none-third": ("no hints, rate / 3", _slower(3)),
    "copies-third": ("with copies, rate / 3", of_copies, _slower(3)),
    "none-tenth": ("no hints, rate / 10", _slower(10)),
    "copies-tenth": ("with copies, rate / 10", of_copies, _slower(10)),
}  # fmt: skip
COPIES = row(
    "copies", "Section 3.1, on shorter problems, with both readings of the successor", layers=REPEATED,
    axes=(axis("hints", READINGS),), night=HEADLINE, skip=OURS,
    says=lambda kind: "without hints accuracy falls sharply with length" if kind.startswith("none")
    else "successor hints keep accuracy high far beyond the trained lengths",
)  # fmt: skip

# ------------------------------------------------------------------ Section 4: what the residual stream shows


def _shows(number: str, claim: str, *kinds: str) -> tuple[Experiment, ...]:
    more = {"none": "", "successor": ", more often with hints"}
    place = f"Figure {number}, Section 4"
    return _repeated(f"fig{number}", place, *kinds, says=lambda kind: f"{claim}{more[kind]}")


FIG412 = _shows("4.12", "an input token copies itself in the encoder basis", "none")
FIG413 = _shows("4.13", "an output token shows itself and its successor in the decoder basis", "none")
FIG414 = _shows("4.14", "the delimiter shows the minimum in the decoder basis", "none")
FIG415 = _shows("4.15", "the delimiter finds the minimum after the first attention layer", "none", "successor")
FIG416 = _shows(
    "4.16", "output tokens show identity and successor after the second attention layer", "none", "successor"
)

# ------------------------------------------------------------------ Section 5: tempered softmax

START = 0.4
"""Initial beta: beta ln n is about 1 at the trained lengths, so that training starts near the standard softmax."""
TEMPERED: Changes = {"model.tempered": Tempered(start=START)}
SOFTMAX: dict[str, tuple[Any, ...]] = {"standard": ("standard softmax",), "tempered": ("tempered softmax", TEMPERED)}
LARGEST: tuple[Layer, ...] = (SIZED["160m"],)
SMALLER_SETS = ("1m", "10m", "40m")
TABLE1 = (
    *row(
        "table1", "Table 1, Section 5", layers=(*LARGEST, AT_LENGTHS), axes=(axis("softmax", SOFTMAX),),
        night=HEADLINE,
        says={"standard": "standard softmax, no hints", "tempered": "tempered softmax reaches further"}.__getitem__,
    ),
    *row(
        "table1", "Section 5", layers=(TEMPERED, AT_LENGTHS), named="tempered-{}", night=HEADLINE,
        skip={"cpu": MINUTES, "night": {"hours": "tempered-10m tempered-40m"}},
        axes=(
            axis("softmax", {size: ("tempered, {data.examples} examples", SIZED[size]) for size in SMALLER_SETS}),
        ),
        says=lambda size: f"tempered softmax helps with {size.upper()} sequences, too"
        f"{': 42 % at 5 times the trained length' * (size == '1m')}",
    ),
    *row(
        "table1", "Table 1, Section 5", layers=(*LARGEST, AT_LENGTHS),
        skip={"cpu": {"ours": "*"}, "night": {"unread": "*"}},
        axes=(
            axis(
                "softmax",
                {
                    "tempered-prompt": ("n of the prompt", {"model.tempered": Tempered(of="prompt", start=START)}),
                    "one-plus-log": ("1 + τ ln n", {"model.tempered": Tempered(form="one_plus_log")}),
                },
            ),
        ),
        says={
            "tempered-prompt": "n counts the prompt instead of the tokens a query sees",
            "one-plus-log": "the factor 1 + tau ln n of the authors' later code",
        }.__getitem__,
        ours={
            "tempered-prompt": "the text leaves open what n counts (D9)",
            "one-plus-log": "the authors' later code has it (D9)",
        },
    ),
)  # fmt: skip
FROM_ONE: Changes = {"model.tempered": Tempered(start=1.0)}
TABLE1_128 = row(
    "table1-128", "Table 1, Section 5, in the model and with the updates of Table 2",
    layers=(*LARGEST, HINTED_AT_LENGTHS), night=HEADLINE,
    skip={"cpu": MINUTES, "night": {"hours": "tempered-from-1"}, "paper": {"ours": "tempered-from-1"}},
    axes=(axis("softmax", {**SOFTMAX, "tempered-from-1": ("tempered softmax, b from 1", FROM_ONE)}),),
    says={
        "standard": "standard softmax, no hints", "tempered": "tempered softmax reaches further",
        "tempered-from-1": "tempered softmax reaches further, with a factor that begins at 1 (D9)",
    }.__getitem__,
)  # fmt: skip
TABLE2 = row(
    "table2", "Table 2, Section 5", layers=(*LARGEST, HINTED_AT_LENGTHS), axes=(axis("softmax", SOFTMAX),),
    derived=(SUCCESSOR,), night=HEADLINE, skip={"cpu": MINUTES},
    says={
        "standard": "standard softmax, successor hints",
        "tempered": "tempered softmax reaches further with hints, too",
    }.__getitem__,
)  # fmt: skip

# ------------------------------------------------------------------ Appendix B: position embeddings

FIXED: Changes = {"data.position_ids": Consecutive(), "model.encoding": Sinusoidal()}
TABLED: Changes = {"data.position_ids": Consecutive(max_position=256), "model.encoding": Learned()}
POSITIONS: dict[str, tuple[Any, ...]] = {
    "none": ("no positions",), "fixed": ("sinusoids", FIXED), "learned": ("learned positions", TABLED),
}  # fmt: skip
APPENDIX_B = row(
    "appendix-b", "Appendix B", layers=(*LARGEST, AT_LENGTHS), axes=(axis("positions", POSITIONS),),
    night=HEADLINE, skip={"cpu": MINUTES},
    says=lambda kind: "without position embeddings" if kind == "none"
    else f"{kind} position embeddings do as well as none, or worse",
)  # fmt: skip

# ------------------------------------------------------------------ Section 6: adding one

ADDED: dict[str, tuple[Any, ...]] = {
    "standard": ("standard softmax",), "hinting": ("carry hints", hinted(Carries)),
    "tempered": ("tempered softmax", TEMPERED),
}  # fmt: skip
TABLE3 = row(
    "table3", "Table 3, Section 6", layers=(SIZED["1m"], ADDING_ONE), axes=(axis("method", ADDED),),
    night=HEADLINE, skip={"cpu": {"minutes": "hinting"}},
    says={
        "standard": "adding one hardly generalizes",
        "hinting": "writing the carries as a hint helps a little",
        "tempered": "tempered softmax helps more",
    }.__getitem__,
)  # fmt: skip

# ------------------------------------------------------------------ Theorem 5.1: nothing is trained

_theorem = partial(constructed, "task_hinting/thm5.1", "Theorem 5.1, Section 5, Appendix A")
SORTED = (1, 2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 200, 500)
"""The published lengths, and beyond."""
SPARSE = (1, 2, 5, 10, 20, 50, 100)
THM51 = (
    _theorem(
        "construction", "a transformer of depth 2 set by hand sorts, and shows minimum, identity and successor as "
        "trained ones do", "constructed",
        theorem(10, 8, (2, 4, 8), examples=8, probe=ProbeSpec(examples=8)),
        theorem(100, 500, SORTED, examples=50, probe=ProbeSpec(examples=50)),
        theorem(100, 500, SORTED, examples=10_000, probe=ProbeSpec(examples=1000)),
    ),
    _theorem(
        "as-printed", "the printed weights repeat the minimum for ever", "as printed",
        theorem(10, 8, (2, 4, 8), examples=8, variant="printed"),
        theorem(100, 100, SPARSE, examples=50, variant="printed"),
        theorem(100, 100, SPARSE, examples=1000, variant="printed"),
    ),
    _theorem(
        "repeats", "duplicates are sorted, too", "constructed",
        theorem(10, 8, (4, 8), (1, 2, 3), examples=8),
        theorem(100, 100, SPARSE[2:], COUNTS, examples=50),
        theorem(100, 100, SPARSE[2:], COUNTS, examples=1000),
    ),
    *(
        _theorem(
            held.name, f"exact in {held.name}, within its bound", held.name,
            theorem(10, 8, (2, 4, 8), examples=8, precision=precision),
            theorem(30, 32, (1, 2, 4, 8, 16, 32), examples=200, precision=precision),
            theorem(30, 32, (1, 2, 4, 8, 16, 32), examples=10_000, precision=precision),
        )
        for precision, held in NUMBER_FORMATS.items()
    ),
    *(
        _theorem(
            f"bound-{held.name}", f"{held.bits} bits sort {longest} numbers", f"{held.name} at its bound",
            theorem(5, 8, (2, 8), examples=8, precision=precision),
            *(theorem(5, longest, (1, longest), examples=n, precision=precision) for n in (200, 1000)),
        )
        for precision in ("bf16-true", "32-true")
        for held, longest in ((NUMBER_FORMATS[precision], largest_length(precision)),)
    ),
)  # fmt: skip

EXPERIMENTS: tuple[Experiment, ...] = (
    *FIG32, *FIG33, *TABLE2, *FIG35, *FIG36, *FIG38, *FIG311, *COPIES, *FIG412, *FIG413, *FIG414, *FIG415, *FIG416,
    *TABLE1, *TABLE1_128, *APPENDIX_B, *TABLE3, *THM51,
)  # fmt: skip

TRAINED = (FIG36[0],)
"""Without hints, with repetitions: its operations were probed."""
OWN = "papers.task_hinting.special_plots"
SMALLER = "Published: 1M, 10M, 40M and 160M examples."
FRAME = "Black frame: the panel in which the paper reads the operation. Right of the numbers: other symbols."
SHOWN = ("exact", "hits.copy", "hits.minimum", "hits.identity_successor")
FIGURES: tuple[Figure, ...] = (
    figure_of("fig3.2", "Training-set size, no hints", CURVES, FIG32, ordered=True, caption=SMALLER),
    figure_of("fig3.3", "Depth, no hints", CURVES, FIG33, ordered=True),
    figure_of("fig3.5", "Training-set size, successor hints", CURVES, FIG35, ordered=True, caption=SMALLER),
    figure_of("fig3.6", "Exact match with and without hints", CURVES, FIG36),
    figure_of("fig3.7", "Edit distance with and without hints", CURVES, FIG36, measures=("edits",)),
    figure_of(
        "fig3.8", "Exact match on repeated numbers", CURVES, FIG38, panels="count", across=4,
        caption="r: every number appears r times.",
    ),
    figure_of(
        "fig3.9", "Edit distance on repeated numbers", CURVES, FIG38, panels="count", measures=("edits",), across=4,
        caption="r: every number appears r times.",
    ),
    figure_of("copies", "Two readings of the successor hint", CURVES, COPIES, ordered=True),
    figure_of("fig3.11", "Exact match by kind of hint", CURVES, FIG311),
    *(
        figure_of(name, title, f"{OWN}:projections", drawn, probes=True, caption=FRAME, seeds="one")
        for name, title, drawn in (
            ("fig4.12", "Projections of an input token", FIG412),
            ("fig4.13", "Projections of an output token", FIG413),
            ("fig4.14", "Projections of the delimiter", FIG414),
        )
    ),
    figure_of(
        "fig4.15", "The delimiter finds the minimum", CURVES, FIG415, measures=("hits.minimum", "hits.guessed"),
        caption="Left: how often the delimiter shows the minimum. Right: how often it is 1, as a guess would say.",
    ),
    figure_of(
        "fig4.16", "Output tokens show identity and successor", CURVES, FIG416, measures=("hits.identity_successor",)
    ),
    figure_of("table1-128", "Tempered softmax without hints, wider model", CURVES, TABLE1_128),
    figure_of("table1", "Tempered softmax without hints", CURVES, TABLE1, csv=f"{OWN}:table_csv"),
    figure_of("table2", "Tempered softmax with successor hints", CURVES, TABLE2, csv=f"{OWN}:table_csv"),
    figure_of("appendix-b", "Position embeddings", CURVES, APPENDIX_B),
    figure_of("table3", "Adding one", CURVES, TABLE3, csv=f"{OWN}:table_csv"),
    figure_of("thm5.1", "The construction beside trained models", CURVES, THM51[:2], TRAINED, measures=SHOWN,
              log=True, png=True),
    figure_of(
        "thm5.1-formats", "Numbers sorted, by bits", f"{OWN}:formats", THM51[3:],
        caption="Points: the longest tested input of which 99 % are sorted; of numbers 1 to 30 no more than 32 "
        "were tested. Dashed: bound of the derivation.",
    ),
    figure_of(
        "thm5.1-repeats", "The construction on repeated numbers", CURVES, THM51[2:3], FIG38[:1], panels="count",
        log=True, fewest=1, caption="r: every number appears r times.",
    ),
    figure_of(
        "training", "Training of main and auxiliary tasks", TRAINING, FIG311, smooth=7,
        families={"val_exact_match": "Validation exact match", "train_loss": "Training loss (nats)"},
        shares=("val_exact_match",), names={"": "sorting"},
    ),
)  # fmt: skip
