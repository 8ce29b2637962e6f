"""Titles of panels: a run goes in, what tells it from its neighbours leaves."""

from lengen.config.sections import NUMBER_FORMATS
from lengen.plotting import METHODS, plural, position_scheme, setting
from lengen.records import Run

SLUGS = {
    "coupling": "position coupling",
    "nope": "NoPE",
    "plain": "without scratchpad",
    "scratchpad": "with scratchpad",
    **{
        f"{pad}-{query}-{response}": f"{query} query and {response} response, {padding}"
        for pad, padding in (("pad", "zero-padded"), ("nopad", "not padded"))
        for query, response in (("plain", "reversed"), ("reversed", "reversed"), ("plain", "plain"))
    },
    **{f"trained-{size}": f"the smaller size of S_A({size}, {size})" for size in (7, 10, 13)},
    **{f"1L{n}H-{width}": f"1 layer with {n} heads in a width of {width}" for n in (4, 8) for width in (128, 256)},
    "no-padding": "without zero-padding",
    "first-operand": "scratchpad from the first operand",
    "construction": "the construction",
    **{held.name: f"the construction in {held.name}" for held in NUMBER_FORMATS.values()},
}
"""What the names of experiments stand for, where one has no run."""


def method(run: Run) -> str:
    """The position scheme."""
    scheme = position_scheme(run)
    if scheme == "coupled":
        levels = {2: "bi-level ", 3: "tri-level "}.get(len(setting(run, "max_position")), "")
        return levels + METHODS[scheme].name
    return METHODS[scheme].name if scheme in METHODS else f"{scheme} positions"


def setting_name(run: Run) -> str:
    """Method and scratchpad, as a sentence names them."""
    return "the construction" if run.constructed else f"{method(run)} {scratchpad(run)}"


def size(run: Run) -> str:
    """Layers and heads."""
    return f"{plural(setting(run, 'layers'), 'layer')}, {plural(setting(run, 'heads'), 'head')}"


def trained(run: Run) -> str:
    """The training distribution."""
    task, length = setting(run, "task"), setting(run, "length")
    if task == "parity":
        return f"1 to {length} bits"
    letter = {"addition": "A", "multiplication": "M"}[task]
    return f"$S_{letter}({length},{setting(run, 'count')})$"


def sizes(run: Run) -> str:
    """The training distribution, as a sentence names it."""
    return f"trained on {setting(run, 'length')} digits and {setting(run, 'count')} operands"


def scratchpad(run: Run) -> str:
    """With or without."""
    return "with scratchpad" if setting(run, "scratchpad") else "without scratchpad"


def model(run: Run) -> str:
    """Method, scratchpad, size and training in one line."""
    return f"{method(run)} {scratchpad(run)}, {size(run)}, {trained(run)}"


# -- titles: what is compared stands first -----------------------------------------------------------------


def by_construction(run: Run) -> str:
    """Title where a construction stands beside trained models."""
    return f"Constructed (Theorem 4.1)\n{_operands(run)}\n{size(run)}" if run.constructed else by_method(run)


def _operands(run: Run) -> str:
    return f"for {setting(run, 'count')} operands of {setting(run, 'length')} digits"


def by_method(run: Run) -> str:
    """Title where methods are compared."""
    name = method(run)
    return f"{name[0].upper()}{name[1:]}\n{scratchpad(run)}, {trained(run)}\n{size(run)}"


def by_inputs(run: Run) -> str:
    """Name of an input format in a sentence."""
    query, response = ("reversed" if setting(run, f"reverse_{part}") else "plain" for part in ("query", "response"))
    return f"{query} query, {response} response{'' if setting(run, 'pad') else ', not padded'}"


def by_range(run: Run) -> str:
    """Title where trained ranges are compared."""
    return f"Trained on {trained(run)}\n{size(run)}"


def by_size(run: Run) -> str:
    """Title where architectures are compared."""
    return f"{size(run)}\n{trained(run)}"


def by_head(run: Run) -> str:
    """Title where head dimensions are compared."""
    return f"{size(run)} of {setting(run, 'head_dim')} dimensions\nwidth {setting(run, 'width')}\n{trained(run)}"


def by_width(run: Run) -> str:
    """Title where widths are compared; a smaller one says which published one it stands for."""
    width, published = setting(run, "width"), run.experiment.rpartition("/d")[2]
    stands = f" (for {published})" if published.isdigit() and int(published) != width else ""
    return f"Width {width}{stands}, {size(run)}\n{trained(run)}"


def by_examples(run: Run) -> str:
    """Title where training-set sizes are compared."""
    count = setting(run, "examples")
    examples = plural(count, "training example") if count else "Fresh examples every step"
    return f"{examples}\n{size(run)}\n{trained(run)}"


def by_format(run: Run) -> str:
    """Title where input formats are compared."""
    query, response = ("reversed" if setting(run, f"reverse_{part}") else "plain" for part in ("query", "response"))
    padding = "zero-padded" if setting(run, "pad") else "no zero-padding"
    return f"{query.capitalize()} query, {response} response\n{padding}, {size(run)}\n{trained(run)}"


def by_scratchpad(run: Run) -> str:
    """Title where padding and the beginning of the scratchpad are compared."""
    padding = "Zero-padded" if setting(run, "pad") else "No zero-padding"
    start = "from the first operand" if setting(run, "data.task.from_zero") is False else "from zeros"
    return f"{padding}\nscratchpad {start}\n{size(run)}\n{trained(run)}"
