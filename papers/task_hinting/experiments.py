"""Every experiment of the paper, grouped by figure or table; plain data, no torch.

Reading order: what data and depth do alone (Figures 3.2 and 3.3) and with hints (3.5), accuracy and edit distance with
repetitions (3.6 to 3.9), other hints (3.11), what the residual stream shows (4.12 to 4.16), tempered softmax (Tables 1
and 2), adding one (Table 3). Equal specifications are one run, stored under the first of their names.
"""

from collections.abc import Mapping

import msgspec

from lengen.config import Carries, Consecutive, Counting, Filling, Learned, NextLarger, Sinusoidal, Task, Tempered
from lengen.config.experiment import PROFILES, Experiment, Figure, constructed, figure_of
from lengen.config.overlay import Changes, overlay
from lengen.config.part import Part
from lengen.config.profiles import ByProfile, at_profiles
from lengen.config.sections import NUMBER_FORMATS
from lengen.config.spec import Spec
from lengen.paper import later
from papers.task_hinting.profiles import ADDING_ONE, BASE, FOUR_TASKS, PROBED, SIZED, SIZES, TWICE
from papers.task_hinting.spec import ProbedSpec, ProbeSpec
from papers.task_hinting.theorem import largest_length, theorem

MINUTES = "minutes more than a run of the whole paper has on two cores: runs when named"
OURS = "not in the paper: runs when named"
BEYOND = "more than the eight core-hours of a night: no headline claim rests on it, runs when named"
HEADLINE = 5
"""Seeds in a night of what a headline claim compares."""


def entry(
    name: str,
    claim: str,
    place: str,
    specs: Mapping[str, Spec],
    *,
    extra: str = "",
    beyond: str = "",
    absent: Mapping[str, str] | None = None,
    night: int = 3,
    ours: str = "",
) -> Experiment:
    """An experiment at every profile, but where ``absent`` says why not.

    ``extra`` says why a run of the whole paper leaves it out at the cpu profile, ``beyond`` why at night, ``night`` how
    many seeds a night has.
    """
    absent = absent or {}
    left_out = {"cpu": extra, "night": beyond}
    return Experiment(
        name=f"task_hinting/{name}",
        claim=claim,
        place=place,
        specs={profile: specs[profile] for profile in PROFILES if profile not in absent},
        absent=absent,
        extra={profile: why for profile, why in left_out.items() if why and profile not in absent},
        seeds=1,
        repeats={"night": night},
        ours=ours,
    )


def setting(*layers: Changes | ByProfile, hints: tuple[type[Task], ...] = ()) -> dict[str, ProbedSpec]:
    """The base of each profile with changes laid over it, and auxiliary tasks over the same trained range."""
    plain = at_profiles(BASE, *layers)
    return {
        profile: overlay(spec, {"data.hints": tuple(_like(spec.data.task, hint) for hint in hints)})
        for profile, spec in plain.items()
    }


def _like(task: Task, kind: type[Task]) -> Task:
    """A task of another kind, with the fields that both have."""
    assert issubclass(kind, Part)
    names = (item.name for item in msgspec.structs.fields(kind))
    return kind(**{name: getattr(task, name) for name in names if hasattr(task, name)})


# ------------------------------------------------------------------ Section 3: data, depth, hints

SUCCESSOR: tuple[type[Task], ...] = (NextLarger,)

FIG32 = tuple(
    entry(
        f"fig3.2/{size}",
        f"trained on {size.upper()} sequences without hints: more data helps at 2.5 times the trained length, not at 5",
        "Figure 3.2, Section 3",
        setting(SIZED[size]),
        extra=MINUTES if size != "160m" else "",
        night=HEADLINE if size == "160m" else 3,
    )
    for size in SIZES
)
DEPTHS = (2, 4, 8, 12)
FIG33 = tuple(
    entry(
        f"fig3.3/depth-{layers}",
        "deeper models do not reach 5 times the trained length",
        "Figure 3.3, Section 3",
        setting(SIZED["1m"], {"model.layers": layers}),
        extra=MINUTES,
        beyond=BEYOND if layers >= 8 else "",
    )
    for layers in DEPTHS
)
FIG35 = tuple(
    entry(
        f"fig3.5/{size}",
        f"trained on {size.upper()} examples, half of them successor hints: more data helps at every length",
        "Figure 3.5, Section 3.1",
        setting(SIZED[size], hints=SUCCESSOR),
        extra=MINUTES,
        night=HEADLINE if size == "160m" else 3,
    )
    for size in SIZES
)
REPEATS: Changes = {"data.task.repeats": 0.1}
"""The modified data set: 10 % of the sequences have non-trivial repetitions (Section 3.1, Appendix B)."""
COUNTS = (1, 2, 3, 4, 5)
"""Tested repetitions: 1 is uniform, r from 2 on rep(i, r)."""
REPEATED = (SIZED["160m"], REPEATS)
TESTED = (*REPEATED, {"test.counts": COUNTS}, PROBED)
"""The data set with repetitions; tested on rep(i, r) and probed."""
KINDS: dict[str, tuple[dict[str, ProbedSpec], str]] = {
    "none": (setting(*TESTED), "without hints accuracy falls sharply with length"),
    "successor": (
        setting(*TESTED, hints=SUCCESSOR),
        "successor hints keep accuracy high and edit distance small far beyond the trained lengths",
    ),
    "count": (setting(*REPEATED, hints=(Counting,)), "count hints make it worse than no hints"),
    "fill": (setting(*REPEATED, hints=(Filling,)), "fill hints help a little"),
    "all": (
        setting(*REPEATED, FOUR_TASKS, hints=(NextLarger, Counting, Filling)),
        "all three hints at once: mixed or negative (Section 7)",
    ),
}


def _repeated(figure: str, kind: str, place: str, claim: str = "") -> Experiment:
    """A figure that looks at the models trained with repetitions."""
    specs, words = KINDS[kind]
    return entry(
        f"{figure}/{kind}",
        claim or words,
        place,
        specs,
        extra=MINUTES if kind in ("fill", "all") else "",
        night=3 if kind == "all" else HEADLINE,
    )


FIG36 = (
    *(_repeated("fig3.6", kind, "Figures 3.6 and 3.7, Section 3.1") for kind in ("none", "successor")),
    entry(
        "fig3.6/successor-equal",
        "with as many updates of the main task as without hints",
        "Figures 3.6 and 3.7, Section 3.1, with 100,000 steps read as those of the main task",
        setting(*TESTED, TWICE, hints=SUCCESSOR),
        extra=MINUTES,
    ),
    entry(
        "fig3.6/none-twice",
        "without hints, with as many updates in all as successor-equal",
        "Figures 3.6 and 3.7, Section 3.1",
        setting(*TESTED, TWICE),
        extra=OURS,
        beyond=BEYOND,
        ours="a control: successor-equal has twice the computation of the model without hints that it is held against",
    ),
)
FIG38 = tuple(
    _repeated("fig3.8", kind, "Figures 3.8 and 3.9, Section 3.1", claim)
    for kind, claim in (
        ("none", "without hints accuracy falls on repeated numbers, too"),
        ("successor", "with hints accuracy and edit distance stay stable on repeated numbers"),
    )
)
FIG311 = tuple(_repeated("fig3.11", kind, "Figure 3.11, Sections 3.1 and 7") for kind in KINDS)

# ------------------------------------------------------------------ Section 4: what the residual stream shows

FIG412, FIG413, FIG414 = (
    (_repeated(figure, "none", f"Figure {figure.removeprefix('fig')}, Section 4", claim),)
    for figure, claim in (
        ("fig4.12", "an input token copies itself in the encoder basis"),
        ("fig4.13", "an output token shows itself and its successor in the decoder basis"),
        ("fig4.14", "the delimiter shows the minimum in the decoder basis"),
    )
)
FIG415, FIG416 = (
    tuple(
        _repeated(figure, kind, f"Figure {figure.removeprefix('fig')}, Section 4", f"{claim}{when}")
        for kind, when in (("none", ""), ("successor", ", more often with hints"))
    )
    for figure, claim in (
        ("fig4.15", "the delimiter finds the minimum after the first attention layer"),
        ("fig4.16", "output tokens show identity and successor after the second attention layer"),
    )
)

# ------------------------------------------------------------------ Section 5: tempered softmax

START = 0.4
"""Initial beta: beta ln n is about 1 at the trained lengths, so that training starts near the standard softmax."""
TEMPERED: Changes = {"model.tempered": Tempered(start=START)}
WITHOUT = "Table 1, Section 5"
OTHER_SOFTMAX = {"night": "no claim of the paper is about it, and the time goes to what has one"}
TABLE1 = (
    entry("table1/standard", "standard softmax, no hints", WITHOUT, setting(SIZED["160m"]), night=HEADLINE),
    entry(
        "table1/tempered", "tempered softmax reaches further", WITHOUT, setting(SIZED["160m"], TEMPERED), night=HEADLINE
    ),
    *(
        entry(
            f"table1/tempered-{size}",
            f"tempered softmax helps with {size.upper()} sequences, too{more}",
            "Section 5",
            setting(SIZED[size], TEMPERED),
            extra=MINUTES,
        )
        for size, more in (("1m", ": 42 % at 5 times the trained length"), ("10m", ""), ("40m", ""))
    ),
    entry(
        "table1/tempered-prompt",
        "n counts the prompt instead of the tokens a query sees",
        WITHOUT,
        setting(SIZED["160m"], {"model.tempered": Tempered(of="prompt", start=START)}),
        extra=OURS,
        absent=OTHER_SOFTMAX,
        ours="the text leaves open what n counts (D9)",
    ),
    entry(
        "table1/one-plus-log",
        "the factor 1 + tau ln n of the authors' later code",
        WITHOUT,
        setting(SIZED["160m"], {"model.tempered": Tempered(form="one_plus_log")}),
        extra=OURS,
        absent=OTHER_SOFTMAX,
        ours="the authors' later code has it (D9)",
    ),
)
TABLE2 = (
    entry(
        "table2/standard",
        "standard softmax, successor hints",
        "Table 2, Section 5",
        setting(SIZED["160m"], hints=SUCCESSOR),
        extra=MINUTES,
        night=HEADLINE,
    ),
    entry(
        "table2/tempered",
        "tempered softmax reaches further with hints, too",
        "Table 2, Section 5",
        setting(SIZED["160m"], TEMPERED, hints=SUCCESSOR),
        extra=MINUTES,
    ),
)

# ------------------------------------------------------------------ Appendix B: position embeddings

POSITIONS: dict[str, tuple[Changes, str]] = {
    "none": ({}, "without position embeddings"),
    "fixed": (
        {"data.position_ids": Consecutive(), "model.encoding": Sinusoidal()},
        "fixed position embeddings do as well as none, or worse",
    ),
    "learned": (
        {"data.position_ids": Consecutive(max_position=256), "model.encoding": Learned()},
        "learned position embeddings do as well as none, or worse",
    ),
}
APPENDIX_B = tuple(
    entry(
        f"appendix-b/{kind}",
        claim,
        "Appendix B",
        setting(SIZED["160m"], changes),
        extra="" if kind == "none" else MINUTES,
        night=HEADLINE if kind == "none" else 3,
    )
    for kind, (changes, claim) in POSITIONS.items()
)

# ------------------------------------------------------------------ Section 6: adding one

TABLE3 = tuple(
    entry(f"table3/{kind}", claim, "Table 3, Section 6", specs, night=HEADLINE)
    for kind, specs, claim in (
        ("standard", setting(SIZED["1m"], ADDING_ONE), "adding one hardly generalizes"),
        ("hinting", setting(SIZED["1m"], ADDING_ONE, hints=(Carries,)), "writing the carries as a hint helps a little"),
        ("tempered", setting(SIZED["1m"], ADDING_ONE, TEMPERED), "tempered softmax helps more"),
    )
)

# ------------------------------------------------------------------ Theorem 5.1: nothing is trained


def _theorem(variant: str, claim: str, *specs: Spec) -> Experiment:
    return constructed(f"task_hinting/thm5.1/{variant}", claim, "Theorem 5.1, Section 5, Appendix A", *specs)


SORTED = (1, 2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 200, 500)
"""The published lengths, and beyond."""
SPARSE = (1, 2, 5, 10, 20, 50, 100)
THM51 = (
    _theorem(
        "construction",
        "a transformer of depth 2 set by hand sorts, and shows minimum, identity and successor as trained ones do",
        theorem(10, 8, (2, 4, 8), examples=8, probe=ProbeSpec(examples=8)),
        theorem(100, 500, SORTED, examples=50, probe=ProbeSpec(examples=50)),
        theorem(100, 500, SORTED, examples=10_000, probe=ProbeSpec(examples=1000)),
    ),
    _theorem(
        "as-printed",
        "the printed weights repeat the minimum for ever",
        theorem(10, 8, (2, 4, 8), examples=8, variant="printed"),
        theorem(100, 100, SPARSE, examples=50, variant="printed"),
        theorem(100, 100, SPARSE, examples=1000, variant="printed"),
    ),
    _theorem(
        "repeats",
        "duplicates are sorted, too",
        theorem(10, 8, (4, 8), (1, 2, 3), examples=8),
        theorem(100, 100, SPARSE[2:], COUNTS, examples=50),
        theorem(100, 100, SPARSE[2:], COUNTS, examples=1000),
    ),
    *(
        _theorem(
            held.name,
            f"exact in {held.name}, within its bound",
            theorem(10, 8, (2, 4, 8), examples=8, precision=precision),
            theorem(30, 32, (1, 2, 4, 8, 16, 32), examples=200, precision=precision),
            theorem(30, 32, (1, 2, 4, 8, 16, 32), examples=10_000, precision=precision),
        )
        for precision, held in NUMBER_FORMATS.items()
    ),
    *(
        _theorem(
            f"bound-{NUMBER_FORMATS[precision].name}",
            f"{NUMBER_FORMATS[precision].bits} bits sort {largest_length(precision)} numbers",
            theorem(5, 8, (2, 8), examples=8, precision=precision),
            *(
                theorem(5, largest_length(precision), (1, largest_length(precision)), examples=n, precision=precision)
                for n in (200, 1000)
            ),
        )
        for precision in ("bf16-true", "32-true")
    ),
)

TRAINED = (FIG36[0], *TABLE1[:2])
"""Without hints: with repetitions, whose operations were probed; standard and tempered softmax."""

EXPERIMENTS: tuple[Experiment, ...] = (
    *FIG32,
    *FIG33,
    *FIG35,
    *FIG36,
    *FIG38,
    *FIG311,
    *FIG412,
    *FIG413,
    *FIG414,
    *FIG415,
    *FIG416,
    *TABLE1,
    *TABLE2,
    *APPENDIX_B,
    *TABLE3,
    *THM51,
)


_figures = later("papers.task_hinting.figures")
"""The drawing functions, loaded when a figure is drawn: matplotlib takes longer than everything here."""
FIGURES: tuple[Figure, ...] = (
    figure_of(
        "fig3.2",
        "Accuracy by length: size of the training set",
        lambda runs, published: _figures().fig3_2(runs, published),
        FIG32,
        published=True,
    ),
    figure_of(
        "fig3.3",
        "Accuracy by length: depth",
        lambda runs, published: _figures().fig3_3(runs, published),
        FIG33,
        published=True,
    ),
    figure_of(
        "fig3.5",
        "Accuracy by length with successor hints: size of the training set",
        lambda runs, published: _figures().fig3_5(runs, published),
        FIG35,
        published=True,
    ),
    figure_of(
        "fig3.6",
        "Accuracy by length, with and without hints",
        lambda runs, published: _figures().fig3_6(runs, published),
        FIG36,
        published=True,
    ),
    figure_of("fig3.7", "Edit distance by length, with and without hints", lambda runs: _figures().fig3_7(runs), FIG36),
    figure_of("fig3.8", "Accuracy on repeated numbers", lambda runs: _figures().fig3_8(runs), FIG38),
    figure_of("fig3.9", "Edit distance on repeated numbers", lambda runs: _figures().fig3_9(runs), FIG38),
    figure_of(
        "fig3.11",
        "Accuracy by length: kinds of hints",
        lambda runs, published: _figures().fig3_11(runs, published),
        FIG311,
        published=True,
    ),
    figure_of("fig4.12", "Projections of an input token", lambda runs: _figures().fig4_12(runs), FIG412, probes=True),
    figure_of("fig4.13", "Projections of an output token", lambda runs: _figures().fig4_13(runs), FIG413, probes=True),
    figure_of("fig4.14", "Projections of the delimiter", lambda runs: _figures().fig4_14(runs), FIG414, probes=True),
    figure_of("fig4.15", "How often the delimiter finds the minimum", lambda runs: _figures().fig4_15(runs), FIG415),
    figure_of(
        "fig4.16", "How often output tokens show identity and successor", lambda runs: _figures().fig4_16(runs), FIG416
    ),
    figure_of(
        "table1",
        "Tempered softmax without hints",
        lambda runs, published: _figures().table1(runs, published),
        TABLE1,
        table=lambda runs: _figures().table_csv(runs),
        published=True,
    ),
    figure_of(
        "table2",
        "Tempered softmax with successor hints",
        lambda runs, published: _figures().table2(runs, published),
        TABLE2,
        table=lambda runs: _figures().table_csv(runs),
        published=True,
    ),
    figure_of(
        "appendix-b",
        "Position embeddings",
        lambda runs: _figures().positions(runs),
        APPENDIX_B,
    ),
    figure_of(
        "table3",
        "Adding one",
        lambda runs, published: _figures().table3(runs, published),
        TABLE3,
        table=lambda runs: _figures().table_csv(runs),
        published=True,
    ),
    figure_of(
        "thm5.1",
        "Theorem 5.1: the construction beside trained models",
        lambda runs: _figures().thm5_1(runs),
        THM51[:2],
        TRAINED,
    ),
    figure_of(
        "thm5.1-formats",
        "Theorem 5.1: numbers sorted, by bits",
        lambda runs: _figures().thm5_1_formats(runs),
        THM51[3:],
    ),
    figure_of(
        "thm5.1-repeats",
        "Theorem 5.1: repeated numbers",
        lambda runs: _figures().thm5_1_repeats(runs),
        THM51[2:3],
        FIG38[:1],
    ),
    figure_of(
        "training", "Loss of main and auxiliary tasks while training", lambda runs: _figures().training(runs), FIG311
    ),
)
