"""Every experiment of the position-coupling paper: declared whole, built, and stepped twice."""

from hypothesis import given, settings
from hypothesis import strategies as st

from lengen.settings.changes import overlay
from lengen.settings.model import NoEncoding
from lengen.solve import encode
from lengen.tasks.addition import Addition
from papers.coupling.experiments import EXPERIMENTS, FIGURES
from reproduce.catalogue import CATALOGUE
from reproduce.commands.run import suite
from reproduce.comparison.values import values

NAMES = {experiment.name: experiment for experiment in EXPERIMENTS}


def test_names_are_unique_and_every_published_figure_has_its_experiments() -> None:
    assert len(NAMES) == len(EXPERIMENTS)
    figures = {experiment.figure for experiment in EXPERIMENTS}
    assert figures == {f"fig{n}" for n in (1, 3, 5, 6, 7, *range(9, 22))} | {
        "fig1-10x10",
        "fig9-10x10",
        "thm4.1",
        "published",
    }
    rows = {f"fig{n}" for n in range(16, 22)}  # one picture shows them all
    assert {figure.name for figure in FIGURES} == figures - rows | {"fig16_21", "thm4.1-formats", "thm4.1-attention"}
    assert {name for figure in FIGURES for name in figure.reads} == set(NAMES)


def test_the_published_grids_and_sizes_are_those_of_the_tables() -> None:
    addition, parity, product = (
        NAMES[f"coupling/{name}/coupling-scratchpad"].specs["paper"] for name in ("fig1", "fig3", "fig9")
    )
    assert (len(addition.test.lengths), len(addition.test.counts), addition.test.examples) == (30, 29, 1000)
    assert (addition.data.task, addition.data.examples) == (Addition(digits=10, operands=10), 500_000)
    assert (parity.test.lengths, parity.test.examples, parity.data.examples) == (
        tuple(range(5, 101, 5)),
        10_000,
        10_000,
    )
    assert (len(product.test.lengths), len(product.test.counts)) == (30, 30)
    assert [spec.data.position_ids.sizes for spec in (parity, addition, product)] == [(101,), (40, 40), (64, 32, 64)]


def test_encode_prints_figures_2_4_and_8b() -> None:
    parity = encode(NAMES["coupling/fig3/coupling-scratchpad"].specs["paper"], ["0101"])
    assert ("".join(parity["tokens"]), parity["position_ids"]) == ("$0101=0110$", [[0, 2, 3, 4, 5, 1, 2, 3, 4, 5, 0]])
    addition = encode(NAMES["coupling/fig1/coupling-scratchpad"].specs["paper"], ["57", "48", "96"])
    assert "".join(addition["tokens"]) == "$057+048+096=000>750>501>102$"
    assert sum(addition["loss"]) == len("000>750>501>102$")
    product = encode(NAMES["coupling/fig9/coupling-scratchpad"].specs["paper"], ["37", "925"])
    assert "".join(product["tokens"]) == "$37*925=581+470+333=58100>52900>52243$"
    printed = "000000123423453456123456123456123456"  # PosID3 of Figure 8b
    assert "".join(map(str, product["position_ids"][2])) == f"0{printed}0"


def test_a_scratchpad_may_start_with_the_first_operand() -> None:
    """Footnote 2; numbers of the response keep the order of the operands that they come from."""
    written = encode(NAMES["coupling/fig6/first-operand"].specs["paper"], ["57", "48", "96"])
    assert "".join(written["tokens"]) == "$057+048+096=750>501>102$"
    assert "".join(map(str, written["position_ids"][1])) == "0111122223331111222233330"


@given(st.lists(st.integers(0, 999), min_size=2, max_size=6))
@settings(max_examples=25, deadline=None)
def test_a_scratchpad_from_the_first_operand_is_that_from_zeros_without_its_first_number(operands: list[int]) -> None:
    written = [str(operand) for operand in operands]
    spec = NAMES["coupling/fig6/first-operand"].specs["night"]
    assert overlay(spec, {"data.task.from_zero": True}) == NAMES["coupling/fig6/padding"].specs["night"]
    first, zeros = (
        "".join(encode(one, written)["tokens"]) for one in (spec, overlay(spec, {"data.task.from_zero": True}))
    )
    query, _, response = zeros.partition("=")
    assert first == f"{query}={response.partition('>')[2]}"
    length, count = max(map(len, written)), len(written)
    assert sum(spec.data.tokens(length, count)) == len(first)


def test_the_best_published_number_is_of_two_layers_with_two_heads() -> None:
    entries = {value.id: value for value in values("coupling")}
    for name, layers, heads in (("addition-90", 2, 2), ("addition-67.8", 6, 8)):
        (experiment,) = entries[name].experiments
        model = NAMES[experiment].specs["paper"].model
        assert (model.layers, model.heads, NAMES[experiment].seeds) == (layers, heads, 6)
    assert entries["addition-90"].published == 90 and entries["addition-67.8"].published == 67.8
    shown = NAMES["coupling/fig1/coupling-scratchpad"]
    assert (shown.specs["paper"].model.layers, shown.specs["paper"].model.heads, shown.seeds) == (6, 8, 4)


def test_two_cores_test_the_published_multiples_of_the_trained_range() -> None:
    times = {"fig1": 3, "fig3": 5, "fig5": 3, "fig9": 3}
    for experiment in EXPERIMENTS:
        for profile in {"cpu", "night", "paper"} & {*experiment.specs}:
            spec = experiment.specs[profile]
            if experiment.figure in times and experiment.variant not in ("trained-7", "trained-13"):
                assert max(spec.test.lengths) == times[experiment.figure] * spec.data.task.longest
                assert max(spec.test.counts) in (1, times[experiment.figure] * spec.data.task.most)


def test_methods_that_are_compared_share_their_size() -> None:
    for figure in ("fig1", "fig3", "fig9"):
        for profile in ("cpu", "night", "paper"):
            models = {
                overlay(item.specs[profile], {"model.encoding": NoEncoding()}).model
                for item in EXPERIMENTS
                if item.figure == figure
            }
            assert len(models) == 1


def test_a_run_of_the_whole_paper_leaves_out_what_is_extra_there_and_naming_it_runs_it() -> None:
    chosen = CATALOGUE.select("coupling")
    kept, left_out = suite(chosen, "coupling", "cpu")
    assert "coupling/fig1/coupling-scratchpad" in [item.name for item in kept]
    assert "coupling/fig13/20k" in [item.name for item in left_out]
    assert suite(chosen, "coupling", "smoke") == (list(chosen), [])
    named = CATALOGUE.select("coupling/fig13")
    assert suite(named, "coupling/fig13", "cpu") == (list(named), [])
    both = CATALOGUE.select("coupling task_hinting/fig3.3")
    assert suite(both, "coupling task_hinting/fig3.3", "cpu")[0] == [*kept, *CATALOGUE.select("task_hinting/fig3.3")]
