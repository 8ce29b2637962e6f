"""Who began a run: which claims stood then, at which commit and by which command; kept where the run grows.

What enters are a work folder and what the present process knows of itself; what leaves are the fields of run.json that
belong to the process that took the first step, whichever one takes the last.
"""

import datetime
import json
from collections.abc import Mapping
from pathlib import Path

from reproduce.store.atomic_files import StoreError, readable, write_text
from reproduce.store.store import BEGINNING

OF_THE_FIRST = ("commit", "dirty", "code", "command")
"""Fields of the provenance that are those of the process that began; the others are of the machine that ended."""


def begin(work: Path, provenance: Mapping[str, object], claims: Mapping[str, str]) -> dict[str, object]:
    """Return the record of the process that began the run in a work folder: of this one, if none did before.

    Under ``resumed`` stand commits of later processes that ran other code. A folder that has a checkpoint and no such
    file was left by a program that kept none: its run is begun by who goes on with it. Raises `StoreError` where the
    file is no JSON.
    """
    path = work / BEGINNING
    known = {name: provenance[name] for name in OF_THE_FIRST if name in provenance}
    if not path.exists():
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        began: dict[str, object] = {**known, "claims": dict(claims), "started": now}
        write_text(path, json.dumps(began))
        return began
    try:
        began = dict(json.loads(path.read_bytes()))
    except (ValueError, TypeError) as error:
        raise StoreError(
            f"{readable(path)}: expected JSON ({error}); delete {readable(work)}, and its run begins anew"
        ) from None
    codes = [began, *began.get("resumed", [])]  # type: ignore[misc]
    code = {name: known.get(name) for name in ("commit", "dirty", "code") if name in known or name != "code"}
    if not any(all(other.get(name) == code[name] for name in code) for other in codes):
        began["resumed"] = [*codes[1:], code]
        write_text(path, json.dumps(began))
    return began
