"""How problems are written: one file per way, composed from padding, reversal and scratchpads; no torch."""

from lengen.formats.base import Format
from lengen.formats.layout import UNUSED, Layout

__all__ = ["UNUSED", "Format", "Layout"]
