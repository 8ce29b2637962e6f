"""Who began a run is kept where it grows, whoever ends it."""

import pytest

from reproduce.runs.plan import Job, Order
from reproduce.runs.worker import begin
from reproduce.store.files import StoreError
from reproduce.store.store import BEGINNING, LocalStore
from tests.fixtures.refusals import refused
from tests.fixtures.toy_paper import SPEC, outcome

pytestmark = pytest.mark.slow

JOB = Job("toy/fig1/alpha", "cpu", 0, SPEC)
KEY = JOB.key
FIRST = {"commit": "a" * 40, "dirty": False, "command": "run toy", "platform": "Linux"}


def order(folder, provenance, claims):
    return Order(folder, provenance, claims={JOB.experiment: claims})


def test_the_oldest_process_is_kept_and_other_code_is_noted_once(tmp_path):
    first = begin(tmp_path, order(tmp_path, FIRST, {"adds": "old"}), JOB)
    assert first.pop("started")[:2] == "20"
    assert first == {"commit": "a" * 40, "dirty": False, "command": "run toy", "claims": {"adds": "old"}}
    again = begin(tmp_path, order(tmp_path, FIRST | {"command": "run toy --share"}, {"adds": "new"}), JOB)
    assert {name: again[name] for name in first} == first and "resumed" not in again
    others = {"commit": "b" * 40, "dirty": False}, {"commit": "b" * 40, "dirty": True}
    for other in (*others, FIRST, others[1]):
        later = begin(tmp_path, order(tmp_path, FIRST | other, {"adds": "new"}), JOB)
    assert {name: later[name] for name in first} == first and later["resumed"] == list(others)


def test_a_folder_that_an_earlier_program_left_is_begun_by_who_goes_on(tmp_path):
    store = LocalStore(tmp_path)
    with store.workspace(*KEY) as space:
        (space.folder / "last.ckpt").write_text("half")
    with store.workspace(*KEY) as space:
        assert (space.folder / "last.ckpt").read_text() == "half"
        began = begin(space.folder, order(tmp_path, FIRST, {"adds": "now"}), JOB)
        assert began["claims"] == {"adds": "now"} and began["commit"] == FIRST["commit"]
    with store.workspace(*KEY) as space:
        assert begin(space.folder, order(tmp_path, {}, {}), JOB) | {"resumed": 0} == began | {"resumed": 0}
        run = space.publish({"spec": SPEC.to_dict(), **began}, outcome())
    assert run.info["started"] == began["started"] and not (store.folder(run) / BEGINNING).exists()
    with store.workspace(*KEY) as space:
        assert not (space.folder / BEGINNING).exists(), "another version is another run"


@pytest.mark.parametrize("content", ["{", "3", "[1]", "\xff"])
def test_a_damaged_file_is_named_in_one_sentence(tmp_path, content):
    (tmp_path / BEGINNING).write_bytes(content.encode("latin-1"))
    refused(StoreError, r"\.beginning: expected JSON .*begins anew", begin, tmp_path, order(tmp_path, FIRST, {}), JOB)
