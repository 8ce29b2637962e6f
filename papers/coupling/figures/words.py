"""Words in figures: a specification goes in, the title of a panel leaves.

Sizes are always read from the specification, because smaller profiles train other sizes under the same names.
"""

from lengen.config.sections import NUMBER_FORMATS
from lengen.config.spec import Spec, from_dict
from lengen.records import Run

ENCODINGS = {"none": "NoPE", "rope": "RoPE", "fire": "FIRE", "fire_ratio": "FIRE (ratio)", "alibi": "ALiBi"}


def of(run: Run) -> Spec:
    """The specification a run was made from."""
    return from_dict(run.info["spec"])  # type: ignore[arg-type]


def method(spec: Spec) -> str:
    """The position scheme."""
    if spec.data.position_ids == "coupled":
        return {2: "bi-level ", 3: "tri-level "}.get(len(spec.data.max_position), "") + "Position Coupling"
    return ENCODINGS.get(spec.model.encoding, f"{spec.model.encoding} positions")


def method_family(spec: Spec) -> str:
    """The position scheme without its number of levels, for what has one colour."""
    return method(spec).rpartition("-level ")[2].strip()


def plural(count: int, noun: str) -> str:
    """A number with its noun."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def size(spec: Spec) -> str:
    """Layers and heads."""
    return f"{plural(spec.model.layers, 'layer')}, {plural(spec.model.heads, 'head')}"


def by_construction(spec: Spec) -> str:
    """Title where a construction stands beside trained models."""
    if spec.train.steps:
        return by_method(spec)
    return f"Constructed (Theorem 4.1)\nfor {spec.data.count} operands of {spec.data.length} digits\n{size(spec)}"


def by_precision(spec: Spec) -> str:
    """Title where number formats are compared."""
    name = NUMBER_FORMATS[spec.train.precision].name
    return f"{name}, constructed\nfor {spec.data.count} operands of {spec.data.length} digits"


def trained(spec: Spec) -> str:
    """The training distribution."""
    if spec.data.task == "parity":
        return f"1 to {spec.data.length} bits"
    letter = {"addition": "A", "multiplication": "M"}[spec.data.task]
    return f"$S_{letter}({spec.data.length},{spec.data.count})$"


def scratchpad(spec: Spec) -> str:
    """With or without."""
    return "with scratchpad" if spec.data.scratchpad else "without scratchpad"


def by_method(spec: Spec) -> str:
    """Title where methods are compared."""
    name = method(spec)
    return f"{name[0].upper()}{name[1:]}\n{scratchpad(spec)}, {trained(spec)}\n{size(spec)}"


def by_range(spec: Spec) -> str:
    """Title where trained ranges are compared."""
    return f"Trained on {trained(spec)}\n{size(spec)}"


def by_size(spec: Spec) -> str:
    """Title where architectures are compared."""
    return f"{size(spec)}\n{trained(spec)}"


def by_head(spec: Spec) -> str:
    """Title where head dimensions are compared."""
    return f"{size(spec)} of {spec.model.head_dim} dimensions\nwidth {spec.model.width}\n{trained(spec)}"


def by_width(spec: Spec) -> str:
    """Title where widths are compared."""
    return f"Width {spec.model.width}, {size(spec)}\n{trained(spec)}"


def by_examples(spec: Spec) -> str:
    """Title where training-set sizes are compared."""
    examples = plural(spec.data.examples, "training example") if spec.data.examples else "Fresh examples every step"
    return f"{examples}\n{size(spec)}\n{trained(spec)}"


def by_format(spec: Spec) -> str:
    """Title where input formats are compared."""
    order = {True: "reversed", False: "plain"}
    padding = "zero-padded" if spec.data.pad else "no zero-padding"
    query, response = order[spec.data.reverse_query], order[spec.data.reverse_response]
    return f"{query.capitalize()} query, {response} response\n{padding}, {size(spec)}\n{trained(spec)}"
