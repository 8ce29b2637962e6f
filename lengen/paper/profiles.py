"""A setting at every profile: the base of each with changes laid over it, shared ones or its own."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from lengen.settings.changes import Changes, overlay
from lengen.settings.spec import Spec

Kind = TypeVar("Kind", bound=Spec)


@dataclass(frozen=True, kw_only=True)
class ByProfile:
    """Changes that profiles do not share."""

    paper: Changes = field(default_factory=dict)
    night: Changes | None = None
    """As cpu if it is None."""
    cpu: Changes = field(default_factory=dict)
    smoke: Changes = field(default_factory=dict)

    def at(self, profile: str) -> Changes:
        """The changes of one profile."""
        if profile == "night" and self.night is None:
            return self.cpu
        changes: Changes = getattr(self, profile)
        return changes


def at_profiles(bases: Mapping[str, Kind], *layers: Changes | ByProfile) -> dict[str, Kind]:
    """The base of each profile with the changes laid over it, the last layer on top; raises `SettingError`."""
    return {
        profile: overlay(base, *(one.at(profile) if isinstance(one, ByProfile) else one for one in layers))
        for profile, base in bases.items()
    }


__all__ = ["ByProfile", "at_profiles"]
