"""Settings of a run, read from the specification it was made from.

They are never read from the name of an experiment, because smaller profiles train other sizes under the same names.
"""

import functools

import msgspec

from lengen.results.records import Run
from lengen.settings.spec import Spec, from_dict


def spec_of(run: Run) -> Spec:
    """Return the specification of a run, without sections that only its paper has."""
    return _built(msgspec.json.encode(run.info["spec"]))


@functools.lru_cache(maxsize=4096)
def _built(values: bytes) -> Spec:
    return from_dict(msgspec.json.decode(values))
