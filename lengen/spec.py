"""The specification of a run: plain frozen dataclasses, no torch.

What enters is the published setting; what leaves is everything needed to run it again. A specification
is data: it prints as JSON, has a hash, and can be changed field by field with ``--set data.length=5``.
A published setting is a composition: task x format x position ids x encoding x architecture x training.
"""

import dataclasses
import difflib
import hashlib
import json
import types
import typing
from dataclasses import dataclass


class SpecError(ValueError):
    """A specification or an override that makes no sense; the message is one sentence for the user."""


@dataclass(frozen=True, kw_only=True)
class DataSpec:
    task: str
    """Name of the task: addition, multiplication or parity."""
    length: int
    """Trained operand length: operands have 1 to ``length`` digits (n of S_A(n, m), S_M(n, m))."""
    count: int = 1
    """Second trained axis: operands (m of S_A), digits of the second factor (m of S_M), 1 for parity."""
    scratchpad: bool = True
    """Write the intermediate results before the answer."""
    pad: bool = True
    """Zero-pad every number to the longest that could occur."""
    reverse_query: bool = False
    """Write operands least significant digit first."""
    reverse_response: bool = True
    """Write the numbers of the response least significant digit first."""
    position_ids: str = "coupled"
    """Position ids: coupled, consecutive or none."""
    max_position: tuple[int, ...] = ()
    """Largest position id of each level; offsets are drawn so that no id exceeds it (Tables 1-3: max_pos)."""
    examples: int = 0
    """Size of the fixed training set; 0 draws fresh examples for every step."""


@dataclass(frozen=True, kw_only=True)
class ModelSpec:
    layers: int
    """Number of transformer blocks."""
    heads: int
    """Attention heads per block."""
    width: int
    """Width of the residual stream."""
    head_dim: int
    """Width of one head; need not be width / heads."""
    ff_width: int
    """Hidden width of the feed-forward network."""
    encoding: str = "learned"
    """Position encoding: none, learned, sinusoidal, rope, alibi, fire, fire_ratio or fire_clamped."""
    activation: str = "geglu"
    """Feed-forward activation: geglu, gelu or relu."""
    norm: str = "rmsnorm"
    """Normalisation inside the blocks: rmsnorm or layernorm."""
    final_norm: str = "rmsnorm"
    """Normalisation before the output head: rmsnorm, layernorm or none."""
    norm_place: str = "pre_post"
    """pre, post, pre_post (post on the residual sum) or sandwich (post on the branch)."""
    tied: bool = True
    """Output head shares the token embedding (then scaled by width ** -0.5)."""
    scale_attention: bool = False
    """Divide attention scores by sqrt(head_dim); off in T5-style models, whose initialisation carries it."""
    init: str = "t5"
    """Initialisation: t5 (Raffel et al. 2020) or normal (every matrix N(0, 1 / fan_in))."""


@dataclass(frozen=True, kw_only=True)
class TrainSpec:
    steps: int
    """Optimizer steps."""
    batch: int
    """Examples per step."""
    lr: float
    """Peak learning rate."""
    betas: tuple[float, float] = (0.9, 0.95)
    """Adam's exponential decay rates."""
    weight_decay: float = 0.0
    """Decoupled weight decay (AdamW)."""
    warmup: float = 0.01
    """Share of the steps with linear warm-up."""
    final_lr: float = 0.1
    """The cosine ends at this share of the peak learning rate."""
    clip: float = 1.0
    """Largest gradient norm."""
    bucket: int = 16
    """Batches drawn together and sorted by length, to save padding; 1 keeps batches unsorted."""
    evaluations: int = 10
    """Evenly spaced points of the run that validate in distribution and write a checkpoint."""
    precision: str = "32-true"
    """Lightning precision: 32-true or bf16-mixed."""
    compile: bool = False
    """Compile the model with torch.compile."""


@dataclass(frozen=True, kw_only=True)
class TestSpec:
    __test__ = False  # its name makes pytest look
    lengths: tuple[int, ...]
    """Tested operand lengths (first axis)."""
    counts: tuple[int, ...] = (1,)
    """Tested values of the second axis; a single value gives a curve, several a grid."""
    examples: int = 1000
    """Examples per cell; every model sees the same ones."""
    free_running: bool = True
    """Also let the model write its own text where it errs, to score the final answer and edit distance."""
    attention: tuple[tuple[int, int], ...] = ()
    """Cells (length, count) whose attention is recorded; the first one also as an averaged map."""
    attention_examples: int = 1000
    """Examples averaged for an attention record."""


@dataclass(frozen=True, kw_only=True)
class Spec:
    """Everything that decides the outcome of a run but its seed."""

    data: DataSpec
    model: ModelSpec
    train: TrainSpec
    test: TestSpec

    def to_dict(self) -> dict[str, typing.Any]:
        """Nested plain dictionary, ready for JSON."""
        return dataclasses.asdict(self)

    def hash(self) -> str:
        """First 16 hex digits of the SHA-256 of the canonical JSON: equal exactly for equal specifications."""
        canonical = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]

    def override(self, *assignments: str) -> "Spec":
        """A copy with ``section.field=value`` assignments applied, checked by name and type.

        >>> data = DataSpec(task="parity", length=3, max_position=(5,))
        >>> model = ModelSpec(layers=1, heads=1, width=8, head_dim=8, ff_width=8)
        >>> spec = Spec(data=data, model=model, train=TrainSpec(steps=9, batch=2, lr=0.1), test=TestSpec(lengths=(4,)))
        >>> spec.override("train.steps=500").train.steps
        500
        """
        spec = self
        for assignment in assignments:
            spec = _assign(spec, assignment)
        if assignments:
            check(spec)
        return spec


LEAST = {
    "data.length": 1, "data.count": 1, "data.examples": 0,
    "model.layers": 1, "model.heads": 1, "model.width": 1, "model.head_dim": 1, "model.ff_width": 1,
    "train.steps": 0, "train.batch": 1, "train.lr": 0, "train.weight_decay": 0, "train.warmup": 0, "train.final_lr": 0,
    "train.clip": 0, "train.bucket": 1, "train.evaluations": 0, "test.examples": 1, "test.attention_examples": 1,
}  # fmt: skip
"""Smallest sensible value of each number."""
PRECISIONS = ("32-true", "bf16-mixed")


def check(spec: Spec) -> None:
    """Raise `SpecError` for a value out of range, or for parts that do not go together."""
    data, model, train, test = spec.data, spec.model, spec.train, spec.test
    for path, least in LEAST.items():
        section, _, name = path.partition(".")
        value = getattr(getattr(spec, section), name)
        if not value >= least:  # so that nan is refused
            raise SpecError(f"{path}={value}: expected at least {least}")
    for name, values in (("lengths", test.lengths), ("counts", test.counts)):
        if not values or min(values) < 1:
            raise SpecError(f"test.{name}={list(values)}: expected one value or more, each at least 1")
    if any(min(cell) < 1 for cell in test.attention):
        raise SpecError(f"test.attention={test.attention}: expected pairs (length, count), each at least 1")
    if train.warmup > 1:
        raise SpecError(f"train.warmup={train.warmup}: expected a share of the steps, at most 1")
    if train.precision not in PRECISIONS:
        raise SpecError(f"train.precision={train.precision}: expected one of {', '.join(PRECISIONS)}")
    if data.task == "addition" and data.count < 2:
        raise SpecError(f"data.count={data.count}: addition needs at least 2 operands")
    if data.position_ids == "none" and model.encoding != "none":
        raise SpecError(
            f"data.position_ids=none: model.encoding={model.encoding} needs ids; choose coupled or consecutive"
        )
    if data.position_ids == "consecutive" and model.encoding == "learned" and len(data.max_position) != 1:
        raise SpecError(
            f"data.max_position={list(data.max_position)}: expected 1 value, the longest sequence, for learned "
            f"encodings of consecutive ids"
        )
    if model.encoding == "rope" and model.head_dim % 2:
        raise SpecError(f"model.head_dim={model.head_dim}: rope turns pairs and needs an even number")


def change(spec: Spec, **sections: dict[str, typing.Any]) -> Spec:
    """A copy with fields of named sections replaced: ``change(spec, model={"layers": 1})``."""
    parts = {name: dataclasses.replace(getattr(spec, name), **fields) for name, fields in sections.items()}
    return dataclasses.replace(spec, **parts)


def from_dict(values: dict[str, typing.Any]) -> Spec:
    """The inverse of `Spec.to_dict`, for specifications read back from run.json."""
    sections = typing.get_type_hints(Spec)
    parts = {}
    for name, kind in sections.items():
        hints = typing.get_type_hints(kind)
        parts[name] = kind(**{key: _tuples(value) for key, value in values[name].items() if key in hints})
    return Spec(**parts)


def _tuples(value: typing.Any) -> typing.Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def _assign(spec: Spec, assignment: str) -> Spec:
    path, equals, text = assignment.partition("=")
    section_name, dot, field_name = path.strip().partition(".")
    if not equals or not dot:
        raise SpecError(f"--set {assignment}: expected section.field=value, for example train.steps=500")
    sections = [item.name for item in dataclasses.fields(Spec)]
    if section_name not in sections:
        raise SpecError(f"--set {path}: there is no section '{section_name}'{nearest(section_name, sections)}")
    section = getattr(spec, section_name)
    hints = typing.get_type_hints(type(section))
    if field_name not in hints:
        raise SpecError(
            f"--set {path}: section '{section_name}' has no field '{field_name}'{nearest(field_name, list(hints))}"
        )
    value = _parse(path, text.strip(), hints[field_name])
    return dataclasses.replace(spec, **{section_name: dataclasses.replace(section, **{field_name: value})})


def _parse(path: str, text: str, kind: typing.Any) -> typing.Any:
    """Text of an override to the field's type; bad text raises `SpecError` naming the type."""
    try:
        if kind is str:
            return text
        if kind is bool:
            return {"true": True, "false": False}[text.lower()]
        if kind in (int, float):
            return kind(text)
        value = _tuples(json.loads(text if text.startswith("[") else f"[{text}]"))
        inner = typing.get_args(kind)[0]
        if typing.get_origin(inner) is tuple:
            if not all(isinstance(item, tuple) and len(item) == 2 for item in value):
                raise ValueError
        elif not all(isinstance(item, (int, inner)) and not isinstance(item, bool) for item in value):
            raise ValueError
        return value
    except (ValueError, KeyError):
        name = kind.__name__ if isinstance(kind, type) and not isinstance(kind, types.GenericAlias) else str(kind)
        raise SpecError(f"--set {path}={text}: expected a value of type {name}") from None


def nearest(word: str, words: typing.Sequence[str]) -> str:
    """A suggestion for a mistyped word: '; nearest: a, b', or the whole choice where nothing is near."""
    close = difflib.get_close_matches(word, words, n=3, cutoff=0.5)
    return "; nearest: " + ", ".join(close) if close else "; one of: " + ", ".join(words)
