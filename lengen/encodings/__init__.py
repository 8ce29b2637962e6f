"""Modules of the position encodings, one file each, that `lengen.encodings.base.module` finds by their settings."""

from lengen.part import load_files

load_files(__name__, __path__)
