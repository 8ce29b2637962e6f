"""One setting at every profile: shared changes, those of one profile, and the order they are laid in."""

import pytest

from lengen import Linear, Rotary, SettingError
from lengen.experiment import ByProfile, at_profiles
from papers.random_spaces.profiles import BASE


def test_changes_are_laid_over_the_base_of_each_profile():
    layers = ({"train.steps": 5}, ByProfile(cpu={"train": {"steps": 7}, "model.encoding": Rotary()}))
    found = at_profiles(BASE, *layers)
    assert {name: spec.train.steps for name, spec in found.items()} == {
        "paper": 5, "cpu": 7, "night": 7, "smoke": 5,
    }, "a night is as cpu where it says nothing"  # fmt: skip
    assert found["cpu"].model.encoding == Rotary() != found["paper"].model.encoding
    assert {spec.train.steps for spec in at_profiles(BASE, *reversed(layers)).values()} == {5}, "the last one is on top"
    assert at_profiles(BASE) == BASE
    other = at_profiles(BASE, ByProfile(cpu={"train.steps": 7}, night={"train.steps": 9}))
    assert (other["cpu"].train.steps, other["night"].train.steps) == (7, 9), "a night may be something else"
    one = at_profiles({"paper": BASE["paper"]}, {"data": {"format": Linear(pad_to=4)}})
    assert list(one) == ["paper"] and one["paper"].data.format == Linear(pad_to=4), "profiles that have a base"
    with pytest.raises(SettingError, match="no field 'step' in train"):
        at_profiles(BASE, ByProfile(smoke={"train": {"step": 1}}))
