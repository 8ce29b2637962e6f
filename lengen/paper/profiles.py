"""A setting at every profile: the base of each with changes laid over it, shared ones or its own."""

from collections.abc import Callable, Mapping
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
        """Return the changes of one profile."""
        if profile == "night" and self.night is None:
            return self.cpu
        changes: Changes = getattr(self, profile)
        return changes


Layer = Changes | ByProfile | Callable[[Spec], Changes]
"""Changes to a setting: of every profile, of each profile, or found from the setting so far."""


def laid(spec: Kind, profile: str, *layers: Layer) -> Kind:
    """Return a setting with layers laid over it, the last on top; raises `SettingError`."""
    for layer in layers:
        change = layer.at(profile) if isinstance(layer, ByProfile) else layer(spec) if callable(layer) else layer
        spec = overlay(spec, change)
    return spec


def at_profiles(bases: Mapping[str, Kind], *layers: Layer) -> dict[str, Kind]:
    """Return the base of each profile with layers laid over it, the last on top; raises `SettingError`."""
    return {profile: laid(base, profile, *layers) for profile, base in bases.items()}


def of_width(width: int, heads: int, hidden: int) -> Changes:
    """Return fields of a model whose heads share its width, with ``hidden`` times as many feed-forward units."""
    return {"width": width, "heads": heads, "head_dim": width // heads, "ff_width": hidden * width}
