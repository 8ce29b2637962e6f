"""Modules of the position encodings, which `lengen.encodings.base.module` finds by their settings."""

from lengen.part import load_files

load_files(__name__, __path__)
