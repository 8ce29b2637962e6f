"""Settings of schema 1, one flat section each for data and model, as the typed parts that took their place.

``python -m reproduce.store.migration [RESULTS]`` rewrites ``spec``, ``spec_hash`` and ``schema_version`` in every
run.json below a results folder; no other file of a run is touched, and nothing that was measured changes.
"""

from typing import Any

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
    data, model = flat["data"], flat["model"]
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
