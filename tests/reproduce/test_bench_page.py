"""The page of measured speed: written from the files alone, and the committed one is what they give."""

import json
import re
from pathlib import Path

import pytest

from lengen.timing import Entry, entry, fixed
from reproduce.bench import __main__ as bench
from reproduce.bench import page

ROOT = Path(__file__).resolve().parents[2]
COMMITTED = ROOT / "docs" / "performance.md"


def both(name, ratios, unit="tokens/s"):
    made = [
        entry(name, f"steps of {name}", ratios, "times faster", "abc1234"),
        entry(f"{name}/base", f"steps of {name}", [1000.0], unit),
        entry(f"{name}/now", f"steps of {name}", [2345.6], unit),
    ]
    return [one._replace(command="python -m reproduce.bench --against abc1234 --only training") for one in made]


def made():
    """A little of everything, as it would be measured."""
    entries = [
        fixed("machine", "A Processor, 2 cores (avx2)", 2, "cores", "torch 2.0"),
        entry("data_examples_per_second", "drawing", [1.0e5, 1.2e5, 1.4e5], "examples/s", "aim 100,000"),
        *both("training/one", [2.0, 2.1, 2.2]),
        *both("training/two", [0.9, 0.95, 0.96]),
        fixed("training/one/start/base", "until the first step", 4.0, "s"),
        fixed("training/one/start/now", "until the first step", 5.0, "s"),
        fixed("longest_sequence/24", "tokens of one sequence", 17123, "tokens", "tried"),
        fixed("largest_model/80", "parameters", 6.4e8, "parameters", "computed"),
    ]
    for axis in ("digits", "width"):
        for size in (20, 5, 10):
            entries.append(entry(f"step_time/{axis}/{size}", "a step", [3.0 * size, 3.1 * size], "ms"))
            entries.append(fixed(f"step_memory/{axis}/{size}", "a step", 7.0 * size**2, "MiB"))
        entries.append(entry(f"step_time/{axis}", f"exponent of the time of a step, {axis}", [1.0, 1.1], "exponent"))
        entries.append(fixed(f"step_memory/{axis}", f"exponent of the memory of a step, {axis}", 2.0, "exponent"))
    return entries


def write(path: Path, entries):
    path.write_text(json.dumps([one._asdict() for one in entries]))


def test_the_page_says_what_the_files_hold_and_names_what_became_slower(tmp_path):
    write(tmp_path / "a-processor.json", made())
    peer = {
        "name": "their_training",
        "value": 1.63,
        "spread": [1.5, 1.7],
        "against": "them",
        "version": "f00",
        "ours": "5 tokens/s",
        "theirs": "3 tokens/s",
        "what": "x",
    }
    (tmp_path / "peers.json").write_text(json.dumps([peer]))
    text = page.page(*page.load(tmp_path), "performance.svg")
    command = "`python -m reproduce.bench --against abc1234 --only training`"
    assert (
        f"| training/one | steps of training/one | 2.1 (2.02 to 2.18) | 1,000 | 2,350 | tokens/s | {command} |" in text
    )
    assert "### Against abc1234" in text and "Slower by more than the noise: `training/two`." in text
    assert "| training/one | until the first step | 4 | 5 | s |" in text
    assert "| data_examples_per_second | drawing | 120,000 (104,000 to 136,000) | examples/s |" in text
    assert "| 24 GiB | tokens of one sequence | 17,100 | tokens | tried |" in text
    assert "| their_training | x | 1.63 (1.5 to 1.7) | 5 tokens/s | 3 tokens/s | them | f00 |" in text
    assert "| digits | a step, digits | 1.05 (1.01 to 1.09) | 2 |" in text
    sizes = re.findall(r"^\| width \| (\d+) \|", text, re.MULTILINE)
    assert sizes == ["5", "10", "20"]
    assert text.count("](performance.svg)") == 1 and "nan" not in text
    widths = {
        len(re.findall(r"(?<!\\)\|", line)) for line in text.split("### Start")[0].splitlines() if "training/" in line
    }
    assert len(widths - {0}) == 1, "a row has as many cells as another"


def test_without_peers_scaling_or_a_base_their_sections_are_absent(tmp_path):
    write(tmp_path / "one.json", made()[:2])
    text = page.page(*page.load(tmp_path))
    assert "Within the suite" in text
    for absent in ("Against", "Other people", "Scaling", "What fits", "Start of", "![", "slower"):
        assert absent not in text


def test_what_was_measured_alone_replaces_what_was_measured_with_all_on_the_same_machine(tmp_path):
    machine, data = made()[:2]
    write(tmp_path / "a.json", [machine, data, fixed("other", "other", 1, "")])
    write(tmp_path / "a-data.json", [machine, data._replace(value=7.0)])
    write(tmp_path / "b.json", [machine._replace(what="Another"), data])
    (first, second), peers = page.load(tmp_path)
    assert (first.machine, second.machine) == ("A Processor, 2 cores (avx2), torch 2.0", "Another, torch 2.0")
    assert first.entries["data_examples_per_second"].value == 7 and "other" in first.entries and peers == []


def test_older_files_have_neither_machine_nor_spread(tmp_path):
    old = {"name": "n", "what": "w", "value": 2.207, "unit": "times faster", "against": "a"}
    (tmp_path / "amd-2-cores.json").write_text(json.dumps([old]))
    text = page.page(*page.load(tmp_path))
    assert "## amd-2-cores" in text and "| n | w | 2.21 | times faster | a | – |" in text


def test_a_folder_without_measurements_gives_one_sentence(tmp_path):
    with pytest.raises(page.PageError, match=r"no measurements in it; run python -m reproduce\.bench --out"):
        page.load(tmp_path)


def test_the_figure_shows_every_point_and_is_the_same_twice():
    measured = page.Measured("m", {one.name: one for one in made()})
    picture = page.drawn(measured)
    assert picture == page.drawn(measured) and picture.startswith(b"<?xml") and b"<svg" in picture
    fewer = {name: one for name, one in measured.entries.items() if "width" not in name}
    assert len(page.drawn(page.Measured("m", fewer))) < len(picture)


def test_the_committed_page_and_figure_are_what_the_measurements_give(tmp_path):
    assert bench.main(["--page", str(tmp_path / "performance.md")]) == 0
    assert (tmp_path / "performance.md").read_text() == COMMITTED.read_text()
    drawn, kept = tmp_path / "performance.svg", COMMITTED.with_suffix(".svg")
    assert drawn.exists() == kept.exists()
    assert not kept.exists() or drawn.read_bytes() == kept.read_bytes()


def test_every_entry_of_the_files_names_its_command_or_is_older(tmp_path):
    for path in (ROOT / "results" / "bench").glob("*.json"):
        for one in json.loads(path.read_text()):
            assert {"name", "value"} <= set(one), path.name
            if set(one) == set(Entry._fields) and one["name"] != "machine":
                assert one["command"].startswith("python -m reproduce.bench"), one["name"]


def test_the_page_names_the_commits_that_were_measured(tmp_path):
    for name, commit in (("a", "1111111"), ("b", "2222222"), ("c", "1111111")):
        where = fixed("machine", "A Processor", 2, "cores", "torch 2.0")._replace(command=commit)
        kept = [where._asdict(), fixed(f"entry_{name}", "w", 1.0, "s")._asdict()]
        (tmp_path / f"{name}.json").write_text(json.dumps(kept))
    assert "Measured at `1111111`, `2222222`; settings" in page.page(*page.load(tmp_path))
