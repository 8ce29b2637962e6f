"""``python -m lengen``: see `lengen.cli`."""

import sys

from lengen.cli import entry

sys.exit(entry())
