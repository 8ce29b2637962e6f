"""Pictures are drawn once, for the profiles that have runs."""

import dataclasses
import os
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from matplotlib.figure import Figure as Drawing

from lengen import plotting
from lengen.experiment import Figure, figure_of
from reproduce import figures
from reproduce.catalogue import CATALOGUE
from reproduce.cli import main
from reproduce.store import checkout
from reproduce.store.store import LocalStore
from tests.fixtures import toy_paper as fakes
from tests.fixtures.drawings import experiment
from tests.fixtures.drawings import figures as constructed
from tests.fixtures.toy_paper import BLANK

ROOT = Path(__file__).resolve().parents[2]


def draw_in_another_process(home: Path, **environment: str) -> str:
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("MPL", "LC_", "XDG_"))}
    command = [sys.executable, "-m", "tests.fixtures.drawings"]
    everything = inherited | {"HOME": str(home), "PYTHONPATH": str(ROOT)} | environment
    return subprocess.run(command, cwd=home, env=everything, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_two_processes_draw_the_same_bytes_and_neither_imports_torch(tmp_path):
    plain, odd = tmp_path / "plain", tmp_path / "odd"
    settings = "font.size: 30\nfont.family: serif\nsvg.fonttype: none\naxes.facecolor: red\nsavefig.dpi: 300\n"
    for folder in (plain, odd, odd / ".config" / "matplotlib"):
        folder.mkdir(parents=True, exist_ok=True)
    (odd / "matplotlibrc").write_text(settings)
    (odd / ".config" / "matplotlib" / "matplotlibrc").write_text(settings)
    first = draw_in_another_process(plain, PYTHONHASHSEED="1", HOME=os.environ.get("HOME", str(plain)))
    second = draw_in_another_process(odd, PYTHONHASHSEED="2", MPLBACKEND="svg", LC_ALL="C", TZ="Asia/Tokyo")
    assert first == second
    *digests, torch = first.split("\n")[:-1]
    assert len(set(digests)) == 6 and torch == "False"


@pytest.fixture
def toy(monkeypatch, tmp_path):
    """Figures fig3, fig5, fig7 declared with the constructed runs; ``runs`` says what the store holds."""
    declared = constructed()
    held = {name: some for _, runs in declared for name, some in runs.items()}
    experiments = tuple(experiment(name) for _, runs in declared for name in runs)
    profiles = {"cpu"}

    def declared_runs(store, experiment, profile):
        return held[experiment.name] if profile in profiles else []

    monkeypatch.setattr(CATALOGUE, "experiments", lambda paper: experiments)
    monkeypatch.setattr(CATALOGUE, "figures", lambda paper: tuple(figure for figure, _ in declared))
    monkeypatch.setattr(CATALOGUE, "declared_runs", declared_runs)
    monkeypatch.setattr(figures, "published", lambda paper, profile: {})
    return LocalStore(tmp_path), profiles, held


def names(paths):
    return [path.name for path in paths]


def test_draw_writes_both_formats_without_a_date_for_each_profile_with_runs_but_smoke(toy):
    store, profiles, _ = toy
    profiles.add("smoke")
    paths = figures.draw("coupling", store, ["fig5", "fig3"])
    assert names(paths) == ["fig3-cpu.png", "fig3-cpu.svg", "fig5-cpu.png", "fig5-cpu.svg"]
    assert {path.parent for path in paths} == {store.path / "coupling" / "figures"}
    assert paths[0].read_bytes().startswith(b"\x89PNG") and paths[1].read_bytes().startswith(b"<?xml")
    for path in figures.draw("coupling", store, ["fig5"]):
        content = path.read_bytes()
        assert not any(word in content for word in (b"<metadata", b"<dc:", b"tEXt", b"tIME", b"Software"))


def test_committed_results_have_one_picture_of_a_figure_at_the_largest_profile_that_fills_it(toy, monkeypatch):
    store, _, held = toy
    both = [dataclasses.replace(item, specs={"cpu": None, "night": None}) for item in CATALOGUE.experiments("coupling")]
    monkeypatch.setattr(CATALOGUE, "experiments", lambda paper: tuple(both))
    lacking = next(figure for figure in CATALOGUE.figures("coupling") if figure.name == "fig5").reads[0]

    def declared_runs(store, item, profile):
        return held[item.name] if profile == "cpu" or (profile == "night" and item.name != lacking) else []

    monkeypatch.setattr(CATALOGUE, "declared_runs", declared_runs)
    reference = LocalStore(store.root, "reference")
    wanted = ["fig3", "fig5"]
    assert names(sheet.stem for sheet in figures.sheets("coupling", reference, wanted)) == ["fig3-night", "fig5-cpu"]
    everywhere = names(sheet.stem for sheet in figures.sheets("coupling", store, wanted))
    assert everywhere == ["fig3-cpu", "fig3-night", "fig5-cpu", "fig5-night"]


def test_smoke_is_drawn_where_nothing_else_ran_and_nothing_where_nothing_ran(toy):
    store, profiles, held = toy
    profiles.symmetric_difference_update({"cpu", "smoke"})
    assert names(figures.draw("coupling", store, ["fig5"])) == ["fig5-smoke.png", "fig5-smoke.svg"]
    held.update({name: [] for name in held})
    assert figures.draw("coupling", store) == []


def test_a_figure_is_not_drawn_where_only_what_it_is_compared_with_ran(toy, monkeypatch):
    store, _, held = toy
    own = "coupling/fig6/no-padding"
    widths = next(dataclasses.replace(figure, name="widths") for figure, _ in constructed() if figure.name == "fig5")
    fig6 = dataclasses.replace(widths, name="fig6", experiments=(*widths.experiments, experiment(own)))
    monkeypatch.setattr(CATALOGUE, "figures", lambda paper: (fig6, widths))
    experiments = CATALOGUE.experiments("coupling")
    monkeypatch.setattr(CATALOGUE, "experiments", lambda paper: (*experiments, experiment(own)))
    held[own] = []
    assert names(figures.draw("coupling", store)) == ["widths-cpu.png", "widths-cpu.svg"]
    held[own] = held["coupling/fig5/trained-7"]
    assert [sheet.stem.name for sheet in figures.sheets("coupling", store)] == ["fig6-cpu", "widths-cpu"]


def test_a_figure_that_reads_no_run_is_drawn_beside_others_and_never_alone(toy, monkeypatch):
    store, profiles, held = toy
    declared = (*(figure for figure, _ in constructed()), Figure(name="fig10_11", title="patterns", how=BLANK))
    monkeypatch.setattr(CATALOGUE, "figures", lambda paper: declared)
    profiles.add("smoke")
    assert names(figures.draw("coupling", store, ["fig10_11"])) == ["fig10_11-cpu.png", "fig10_11-cpu.svg"]
    for name in held:
        held[name] = []
    assert figures.draw("coupling", store) == []


@pytest.mark.parametrize(("name", "title"), [
    ("fig3", "Figure 3: t"), ("table2", "Table 2: t"), ("fig10_11", "Figures 10 and 11: t"),
    ("fig16_21", "Figures 16 to 21: t"), ("fig4.7_4.8", "Figures 4.7 and 4.8: t"), ("figB.1", "Figure B.1: t"),
    ("figures", "t"),
])  # fmt: skip
def test_a_figure_is_called_as_in_the_paper(name, title, monkeypatch):
    drawing = Drawing()
    monkeypatch.setattr(fakes, "blank", lambda *_: drawing)
    made = figures.render(Figure(name=name, title="t", how=BLANK, caption="What is drawn."), {})
    assert drawing.get_suptitle() == title and plotting.said(made["svg"]) == f"{title}. What is drawn."


def test_a_figure_with_a_table_writes_it_beside_the_pictures_and_only_when_it_changed(toy, monkeypatch):
    store, *_ = toy
    (figure, runs), *_ = constructed()
    seeds = ["each"]

    def seeds_csv(runs):
        return f"seeds\n{sum(map(len, runs.values())) if seeds else 0}\n"

    monkeypatch.setattr(fakes, "blank", seeds_csv)
    monkeypatch.setattr(CATALOGUE, "figures", lambda paper: (dataclasses.replace(figure, csv=BLANK),))
    table, *pictures = figures.draw("coupling", store)
    assert names([table, *pictures]) == ["fig3-cpu.csv", "fig3-cpu.png", "fig3-cpu.svg"]
    assert table.read_text() == f"seeds\n{sum(map(len, runs.values()))}\n"
    before = table.stat().st_mtime_ns
    figures.draw("coupling", store)
    assert table.stat().st_mtime_ns == before
    seeds.clear()
    figures.draw("coupling", store)
    assert table.read_text() == "seeds\n0\n"


def test_of_committed_results_a_picture_has_a_png_only_if_its_figure_says_so(toy, monkeypatch):
    store, _, _ = toy
    declared = CATALOGUE.figures("coupling")
    monkeypatch.setattr(
        CATALOGUE, "figures", lambda paper: [dataclasses.replace(item, png=item.name == "fig3") for item in declared]
    )
    drawn = figures.draw("coupling", LocalStore(store.root, "reference"), ["fig3", "fig5"])
    assert names(drawn) == ["fig3-cpu.png", "fig3-cpu.svg", "fig5-cpu.svg"]


@pytest.mark.parametrize("repository", [True, False])
def test_nothing_is_deleted_that_was_not_drawn_here(toy, monkeypatch, repository):
    """Results in a copy, which no page stands beside: foreign pictures, tables and notes stay what they are."""
    store, *_ = toy
    monkeypatch.setattr(figures, "render", lambda figure, runs, kinds, behind: {kind: kind.encode() for kind in kinds})
    monkeypatch.setattr(figures, "checkout", lambda: store.root if repository else None)
    reference = LocalStore(store.root / "copy", "reference")
    folder = reference.path / "coupling" / "figures"
    folder.mkdir(parents=True)
    names = ("fig5-cpu.png", "mine.png", "my-talk-paper.png", "notes.txt", "fig5-cpu.pdf", "fig5.csv")
    foreign = [folder / name for name in names]
    for path in foreign:
        path.write_bytes(b"of somebody")
    drawn = figures.draw("coupling", reference, ["fig3", "fig5"])
    figures.sweep("coupling", reference, drawn)
    assert [path.name for path in foreign if path not in drawn and path.read_bytes() != b"of somebody"] == []


def test_a_figure_is_given_the_published_values(monkeypatch):
    given = []
    name = "coupling/fig3/coupling-scratchpad"

    def drawn(picture, runs, published):
        given.append(published)
        return Drawing()

    monkeypatch.setattr(fakes, "blank", drawn)
    figure = figure_of("fig3", "t", BLANK, [experiment(name)])
    figures.render(figure, {name: []})
    (published,) = given
    first, *_ = published[name]
    assert (first.value, first.relation, first.lengths, first.trained) == (1.0, "=", (5, 100), (20, 1))


def test_published_values_go_to_experiments_with_the_same_runs_and_png_files_to_figures_that_ask():
    """The calibration by the text is the published one at its size; Table 1 and 160M examples are one such run."""
    abc, text = "bias_calibration/table1/successor-abc", "bias_calibration/calibration/successor-text"
    night, paper = (figures.published("bias_calibration", profile) for profile in ("night", "paper"))
    assert len(night[abc]) == 5 and text not in night and paper[text] == paper[abc], "Table 1"
    assert len(night[abc.replace("table1", "fig1")]) == 50, "the curve"
    vanilla = {value.value for value in night["bias_calibration/table3/successor-vanilla"]}
    assert vanilla == {0.0, 1.0}, "printed twice, and the same model as published"
    hints = figures.published("task_hinting", "paper")
    assert {value.value for value in hints["task_hinting/fig3.2/160m"]} >= {0.89, 0.01}
    assert figures.published("unknown", "night") == {}
    there = {path.stem.rpartition("-")[0] for path in ROOT.glob("results/reference/*/figures/*.png")}
    assert there == {figure.name for paper in CATALOGUE.papers() for figure in CATALOGUE.figures(paper) if figure.png}


def finished(run, made="a"):
    """A constructed run as the store reads it: run.json names the sums of its files."""
    return dataclasses.replace(run, info={**run.info, "files": {"scores.csv": made}})


@pytest.fixture
def sheet(tmp_path, monkeypatch):
    """One figure of finished runs, drawn once by a stand-in, and what was drawn as ``times``."""
    figure, runs = constructed()[0]
    runs = {name: [finished(run) for run in some] for name, some in runs.items()}
    source = LocalStore(tmp_path)
    made = figures.Sheet(source.path / "toy" / "figures" / "fig3-cpu", figure, runs)
    times = []

    def render(figure, runs, kinds, behind):
        times.append((figure, runs, kinds))
        return {kind: f"{kind} of {figure.title}".encode() for kind in kinds}

    monkeypatch.setattr(figures, "render", render)
    ((svg, png),) = figures.write([made], tmp_path)
    assert len(times) == 1 and svg.suffix == ".svg" and png.suffix == ".png"
    times.clear()
    return made, tmp_path, times


def test_what_is_drawn_is_not_drawn_again(sheet):
    made, root, times = sheet
    told = []
    assert figures.write([made], root, tell=lambda *of: told.append(of)) == [made.files()]
    assert times == [] and told == []


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe"])
def test_notes_that_were_damaged_are_written_anew(sheet, content):
    made, root, times = sheet
    notes = root / "local" / "drawn.json"
    before = notes.read_bytes()
    notes.write_bytes(content)
    figures.write([made], root)
    assert len(times) == 1 and notes.read_bytes() == before


@pytest.mark.parametrize("kind", figures.KINDS)
def test_a_picture_that_was_touched_or_removed_is_drawn_again(sheet, kind):
    made, root, times = sheet
    path = made.file(kind)
    content = path.read_bytes()
    for spoil in (lambda: path.write_bytes(content + b" "), path.unlink):
        spoil()
        figures.write([made], root)
        assert path.read_bytes() == content
    assert len(times) == 2


@pytest.mark.parametrize("change", ["files", "info", "title", "fewer", "program", "notes"])
def test_a_picture_is_drawn_again_when_anything_it_is_made_of_is_another(sheet, change, monkeypatch):
    made, root, times = sheet
    name, *_ = made.runs
    first, *others = made.runs[name]
    match change:
        case "files":
            made = made._replace(runs=made.runs | {name: [finished(first, "b"), *others]})
        case "info":
            first = dataclasses.replace(first, info={**first.info, "notes": ["n"]})
            made = made._replace(runs=made.runs | {name: [first, *others]})
        case "title":
            made = made._replace(figure=dataclasses.replace(made.figure, title="another"))
        case "fewer":
            made = made._replace(runs=made.runs | {name: others})
        case "program":
            monkeypatch.setattr(figures, "_program", lambda: "changed")
        case "notes":
            (root / "local" / "drawn.json").write_text("{")
    figures.write([made], root)
    assert len(times) == 1


def test_what_is_not_known_to_lie_in_a_file_is_always_drawn(sheet):
    made, root, times = sheet
    unread = {
        name: [dataclasses.replace(run, info={**run.info, "files": {}}) for run in some]
        for name, some in made.runs.items()
    }
    mine = dataclasses.replace(made.figure, how=BLANK)
    assert figures.sum_of(made.figure, made.runs) is not None
    for other in (made._replace(runs=unread), made._replace(figure=mine)):
        assert figures.sum_of(other.figure, other.runs) is None
        for _ in range(2):
            times.clear()
            figures.write([other], root)
            assert len(times) == 1


@pytest.mark.slow
def test_a_picture_is_the_same_whether_drawn_alone_or_beside_the_other():
    for figure, runs in constructed():
        both = figures.render(figure, runs)
        assert both == figures.render(figure, runs, ["svg"]) | figures.render(figure, runs, ["png"])


@pytest.mark.parametrize("other", ["", "matplotlib 3.10.0 (locked: 3.11.2)"])
def test_committed_pictures_change_with_the_locked_versions_alone_or_when_told(sheet, monkeypatch, other):
    made, root, _ = sheet
    monkeypatch.setattr(figures, "checkout", lambda: root)
    monkeypatch.setattr(figures, "others", lambda packages: other)
    local, made = made, made._replace(stem=root / "results" / "reference" / "toy" / "figures" / "fig3-cpu")
    svg, png = made.file("svg"), made.file("png")
    svg.parent.mkdir(parents=True)
    made = made._replace(figure=dataclasses.replace(made.figure, png=True))
    svg.write_bytes(b"as committed")
    left: list[Path] = []
    figures.write([made], root, left=left)
    assert left == ([svg] if other else []) and (svg.read_bytes() == b"as committed") is bool(other)
    assert png.read_bytes().startswith(b"png of"), "what is not there yet is written"
    figures.write([local._replace(figure=dataclasses.replace(local.figure, title="other"))], root, left=left)
    assert left == ([svg] if other else []), "pictures of local runs are nobody else's"
    figures.write([made], root)
    assert svg.read_bytes().startswith(b"svg of")


def test_versions_that_are_not_the_locked_ones_are_named(monkeypatch):
    monkeypatch.setattr(metadata, "version", lambda name: "0.1")
    named = checkout.others(figures.LIBRARIES)
    assert all(f"{name} 0.1 (locked: " in named for name in figures.LIBRARIES) and "torch" not in named
    monkeypatch.setattr(checkout, "checkout", lambda: None)
    assert checkout.others(figures.LIBRARIES) == ""


def drawn_losses(picture, runs, *_):
    """A line for each experiment: a point a run, its learning rate."""
    drawing = Drawing()
    axes = drawing.subplots()
    for some in runs.values():
        axes.plot([run.seed for run in some], [run.info["spec"]["train"]["lr"] for run in some], label="line")
    return drawing


def test_own_runs_whatever_their_settings_lie_over_the_committed_ones(results, monkeypatch, capsys, reproduce):
    drawings = []
    monkeypatch.setattr(fakes, "blank", lambda *given: drawings.append(drawn_losses(*given)) or drawings[-1])
    assert main(["run", "toy/fig1", "--seeds", "0..1"]) == 0
    assert main(["promote", "toy", "--profile", "cpu"]) == 0
    shutil.rmtree(results / "local")
    capsys.readouterr()
    assert "no local run is drawn" in reproduce("figures toy --mine").err
    drawings.clear(), reproduce("run toy/fig1/alpha --seeds 0 --set train.lr=.25")
    assert main(["figures", "toy/fig1", "--mine"]) == 0
    assert [Path(path).name for path in capsys.readouterr().out.split()] == ["fig1-mine-cpu.png", "fig1-mine-cpu.svg"]
    own, committed = drawings
    alpha, beta, behind = (list(line.get_ydata()) for line in own.axes[0].lines)
    assert (alpha, beta, behind) == ([0.25], [0.5, 0.5], [1e-3, 1e-3]), "and what is not mine once"
    assert own.axes[0].lines[-1].get_color() == "0.7" and len(committed.axes[0].lines) == 2
    assert "yours" in own.get_suptitle()
    assert main(["run", "toy/fig1/alpha", "--seeds", "0", "--set", "train.lr=.125"]) == 0
    drawings.clear()
    assert main(["figures", "toy/fig1", "--mine"]) == 0
    assert list(drawings[0].axes[0].lines[0].get_ydata()) == [0.125], "the newest"


def test_kinds_of_pictures_are_named_and_committed_folders_stay_as_they_are(results, reproduce):
    assert main(["run", "toy/fig1", "--seeds", "0"]) == 0
    assert main(["promote", "toy", "--profile", "cpu"]) == 0
    before = sorted((results / "reference").rglob("*"))
    made = [Path(path) for path in reproduce("figures toy --to PNG,pdf").out.split()]
    assert [path.name for path in made] == [
        "fig1-committed-cpu.pdf", "fig1-committed-cpu.png", "fig1-cpu.pdf", "fig1-cpu.png",
    ]  # fmt: skip
    assert [path.read_bytes()[:4] for path in made] == [b"%PDF", b"\x89PNG"] * 2
    first = made[0].read_bytes()
    (results / "local" / "drawn.json").unlink(missing_ok=True)
    assert main(["figures", "toy", "--to", "pdf"]) == 0 and made[0].read_bytes() == first, "no date in it"
    assert sorted((results / "reference").rglob("*")) == before
    for wrong in ("gif", "", "png,", "png;pdf"):
        assert "expected some of svg, png, pdf" in reproduce(["figures", "toy", f"--to={wrong}"], code=2).err


def test_own_runs_are_compared_whatever_their_settings(results, reproduce):
    for command in ("run toy/fig1/alpha --seeds 0", "promote toy --profile cpu"):
        assert main(command.split()) == 0
    page = (results / "reference" / "toy" / "comparison.md").read_bytes()
    shutil.rmtree(results / "local")
    assert "no run of yours is about these values" in " ".join(reproduce("compare toy --mine").out.split())
    reproduce("run toy/fig1/alpha --seeds 0 --set train.lr=.25")
    assert "yours: the newest run of each seed" in " ".join(reproduce("compare toy --mine").out.split())
    assert not (results / "local" / "toy" / "comparison.md").exists(), "a page is of what was declared"
    assert (results / "reference" / "toy" / "comparison.md").read_bytes() == page
