"""Notebooks with their outputs: cells run in plain Python, and what they print, show and draw is kept beside them.

After a change: ``python -m tests.notebooks docs/notebooks/first_steps.ipynb`` runs a notebook and writes its outputs.
"""

import base64
import io
import json
import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

from tests.pages import output

DOTS_PER_INCH = 70


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """A notebook after its cells ran, one after the other in one namespace."""
    known: dict[str, object] = {"__name__": "__notebook__"}
    cells, number = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            number += 1
            cell = cell | {"execution_count": number, "outputs": ran("".join(cell["source"]), known)}
        cells.append(cell)
    return notebook | {"cells": cells}


def ran(code: str, known: dict[str, object]) -> list[dict[str, Any]]:
    """What a cell leaves: the text that it printed or ended with, and a picture of each figure."""
    printed = output(code, known)
    outputs: list[dict[str, Any]] = []
    if printed:
        outputs.append({"output_type": "stream", "name": "stdout", "text": printed.splitlines(keepends=True)})
    for figure in map(plt.figure, plt.get_fignums()):
        picture = io.BytesIO()
        figure.savefig(picture, dpi=DOTS_PER_INCH, bbox_inches="tight")
        image = base64.b64encode(picture.getvalue()).decode()
        outputs.append({"output_type": "display_data", "metadata": {}, "data": {"image/png": image}})
    plt.close("all")
    return outputs


def main(paths: list[Path]) -> None:
    for path in paths:
        notebook = executed(json.loads(path.read_text(encoding="utf-8")))
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
