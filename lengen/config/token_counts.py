"""How much there is to compute before any data is drawn: tokens of an example, examples of a validation; no torch."""

from lengen.config.sections import DataSpec

VALIDATION = 256
"""In-distribution examples of one validation."""


def tokens(data: DataSpec, length: int, count: int) -> tuple[float, float]:
    """Tokens of prompt and response of one example, special ones included; good to some ten percent for any task."""
    if data.fixed_length:
        return data.fixed_length * (2 if data.aligned else count) + 3, data.fixed_length + 1
    if data.task == "n_by_n":
        shown = max(length, data.pad_to)
        prompt = (2 * shown + 3) * (1 + data.spaces / 2) + 3 * bool(data.subtasks)
        return prompt, shown + 2 + (16 * length + 8 if data.scratchpad else 0) + 0.4 * length * len(data.subtasks) / 5
    if data.task in ("increment", "carries") or data.alphabet:
        return length + 1, length * (3 if data.task == "carries" else 1)
    if data.task == "parity":
        return length + 2, length + 2 if data.scratchpad else 2
    if data.task == "multiplication":
        products = 2 * count * (length + count + 1) if data.scratchpad else 0
        return length + count + 3, products + length + count
    return count * (length + 2) + 3, (count + 1) * (length + 2) if data.scratchpad else length + 1
