"""Settings of schema 1, one flat section each for data and model, as the typed parts that took their place.

``python -m reproduce.store.migration [RESULTS]`` rewrites ``spec``, ``spec_hash`` and ``schema_version`` in every
run.json below a results folder; no other file of a run is touched, and nothing that was measured changes.
"""

import json
import sys
from pathlib import Path
from typing import Any

from lengen.config.spec import Spec, from_dict
from reproduce.runs.catalogue import CATALOGUE
from reproduce.store.atomic_files import readable, write_text
from reproduce.store.run_folder import SCHEMA, sealed
from reproduce.store.store import results_root

LATER: dict[str, dict[str, Any]] = {
    "data": {
        "fixed_length": 0, "base": 10, "aligned": False, "limit": 0, "period": 0, "lengths": [], "pad_to": 0,
        "subtasks": [], "carries": "pairs", "vocabulary": "task", "spaces": 0.0, "fresh_spaces": True, "max_offset": 0,
        "alphabet": 0, "short": 0, "skew": 0.0, "repeats": 0.0, "hints": [],
    },
    "model": {
        "architecture": "decoder", "encoder_layers": 0, "shared": False, "dropout": 0.0, "biases": False,
        "scale_embedding": False, "bias": "none", "window": 0, "stride": 1, "causal": True, "loops": 1,
        "inject": "none", "head_bias": False, "temperature": "none", "temperature_of": "position",
        "temperature_start": 0.0,
    },
}  # fmt: skip
"""Fields that came after some runs were stored, with what those runs had."""
PAIRS = {"addition": "pair_addition"}
"""Tasks at a fixed length whose name another task has, too."""
SEQUENCES = {
    "sorting": "sorting",
    "successor": "next_larger",
    "count": "count",
    "fill": "fill",
    "fill_as_drawn": "fill",
    "increment": "increment",
    "carries": "carries",
}
REPEATS = ("sorting", "next_larger", "increment", "carries")
OF_NUMBERS = ("increment", "carries")


def typed(flat: dict[str, Any]) -> dict[str, Any]:
    """The nested plain data of a setting of schema 1, sections of papers included."""
    data, model = LATER["data"] | flat["data"], LATER["model"] | flat["model"]
    sections = {name: dict(section) for name, section in flat.items() if name not in ("data", "model")}
    if "interpolation" in sections:
        sections["interpolation"]["encoding"] = {"kind": sections["interpolation"]["encoding"]}
    spaces = {"ratio": data["spaces"], "fresh": data["fresh_spaces"]} if data["spaces"] else None
    return {
        "data": {
            "task": _task(data, data["task"]),
            "format": _format(data),
            "position_ids": _ids(data, model["encoding"]),
            "examples": data["examples"],
            "vocabulary": data["vocabulary"],
            "spaces": spaces,
            "hints": [_task(data, hint) for hint in data["hints"]],
        },
        "model": _model(data, model),
        **sections,
    }


def _of_sequences(data: dict[str, Any]) -> bool:
    named = data["task"] in SEQUENCES and not data["fixed_length"]
    return named and (data["alphabet"] > 0 or data["task"] != "successor")


def _task(data: dict[str, Any], name: str) -> dict[str, Any]:
    length = data["length"]
    if _of_sequences(data):
        kind = SEQUENCES[name]
        found = {"kind": kind, "longest": length, "short": data["short"], "skew": data["skew"]}
        if kind not in OF_NUMBERS:
            found["alphabet"] = data["alphabet"]
        if kind in REPEATS:
            found["repeats"] = data["repeats"]
        return found | ({"padding": 2} if name == "fill_as_drawn" else {})
    if data["fixed_length"]:
        return {"kind": PAIRS.get(name, name), "digits": length, "base": data["base"], "limit": data["limit"]}
    if name == "n_by_n":
        return {"kind": "two_operand_addition", "lengths": data["lengths"] or list(range(1, length + 1))}
    if name == "parity":
        return {"kind": "parity", "bits": length}
    second = "operands" if name == "addition" else "second_digits"
    return {"kind": name, "digits": length, second: data["count"]}


def _format(data: dict[str, Any]) -> dict[str, Any]:
    reverse = {name: data[name] for name in ("reverse_query", "reverse_response")}
    if _of_sequences(data):
        order = data["reverse_response"] and data["task"] in OF_NUMBERS
        return {"kind": "linear", "begin": False, "separator": "⊥", "end": False, "reverse_response": order}
    if data["fixed_length"]:
        width = {"width": data["fixed_length"], "reverse_response": data["reverse_response"]}
        return {"kind": "aligned", **width} if data["aligned"] else {"kind": "linear", "separator": "$", **width}
    if data["task"] == "parity":
        return {"kind": "linear", "scratchpad": data["scratchpad"]}
    if data["task"] == "multiplication":
        if data["scratchpad"]:
            return {"kind": "multiplication_stages", **reverse}
        return {"kind": "linear", "pad_response": True, **reverse}
    if data["subtasks"]:
        return {"kind": "subtasks", "names": data["subtasks"], "carries": data["carries"]}
    if data["task"] == "n_by_n" and data["scratchpad"]:
        return {"kind": "digit_steps", "reverse_response": data["reverse_response"]}
    pad = {"pad_query": data["pad"], "pad_response": data["pad"], "pad_to": data["pad_to"]}
    return {"kind": "linear", "scratchpad": data["scratchpad"], **pad, **reverse}


def _ids(data: dict[str, Any], encoding: str) -> dict[str, Any]:
    kind, largest = data["position_ids"], data["max_position"]
    if kind == "coupled":
        return {"kind": kind, "max_position": largest}
    if kind == "consecutive":
        return {"kind": kind, "max_position": largest[0] if largest and encoding == "learned" else 0}
    if kind == "cyclic":
        return {"kind": kind, "period": data["period"]}
    if kind == "abacus":
        return {"kind": kind, "max_position": largest[0], "max_offset": data["max_offset"]}
    return {"kind": kind, "max_position": largest[0]} if kind == "randomised" else {"kind": kind}


def _model(data: dict[str, Any], model: dict[str, Any]) -> dict[str, Any]:
    moved = {
        "encoding", "architecture", "encoder_layers", "biases", "head_bias", "bias", "window", "stride", "causal",
        "temperature", "temperature_of", "temperature_start",
    }  # fmt: skip
    found = {name: value for name, value in model.items() if name not in moved}
    encoding: dict[str, Any] = {"kind": model["encoding"]}
    if model["encoding"] == "rpe" and data["max_position"]:
        encoding["clip"] = data["max_position"][0]
    architecture: dict[str, Any] = {"kind": model["architecture"]}
    if model["architecture"] == "encoder_decoder":
        bias = {"none": None, "given": {"kind": "given"}}.get(
            model["bias"], {"kind": "window", "width": model["window"], "stride": model["stride"]}
        )
        architecture |= {
            "encoder_layers": model["encoder_layers"], "attention_bias": bias, "causal": model["causal"],
        }  # fmt: skip
    tempered = {"form": model["temperature"], "of": model["temperature_of"], "start": model["temperature_start"]}
    return {
        **found,
        "encoding": encoding,
        "architecture": architecture,
        "linear_bias": model["biases"],
        "output_bias": model["head_bias"],
        "tempered": None if model["temperature"] == "none" else tempered,
    }


def migrated(info: dict[str, Any]) -> dict[str, Any]:
    """A run.json of schema 1 as one of the present schema."""
    experiment, profile = str(info["experiment"]), str(info["profile"])
    values = typed(info["spec"])
    declared = {item.name: item.specs for item in CATALOGUE.experiments(experiment.split("/")[0])}.get(experiment, {})
    sections = set(values) - {"data", "model", "train", "test"}
    sort = type(declared[profile]) if sections and profile in declared else Spec
    spec = from_dict(values, sort)
    return sealed({**info, "schema_version": SCHEMA, "spec": spec.to_dict(), "spec_hash": spec.hash()})


def main(root: Path) -> int:
    """Rewrite every run.json of schema 1 below a results folder; 1 where one of them is damaged and was left alone."""
    count, left = 0, 0
    for path in sorted(root.rglob("run.json")):
        try:
            info = json.loads(path.read_bytes())
            rewritten = migrated(info) if info.get("schema_version") == 1 else None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            print(f"{readable(path)} is left as it is, expected a whole run.json ({type(error).__name__}): restore it")
            left += 1
            continue
        if rewritten is not None:
            write_text(path, json.dumps(rewritten, indent=1, sort_keys=True) + "\n")
            count += 1
    print(f"{count} runs of schema 1 rewritten below {readable(root)}")
    return int(left > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else results_root()))
