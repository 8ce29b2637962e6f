"""Networks of anybody's: in the place of a transformer of this suite, or as a function that answers prompts."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from numbers import Integral
from types import SimpleNamespace
from typing import Any, Protocol, cast, runtime_checkable

import torch
from torch import Tensor, nn

from lengen.data.batch_and_random_spaces import Batch


@contextmanager
def answering(network: nn.Module) -> Iterator[None]:
    """Let a network answer in evaluation mode and without gradients; each of its parts has its own mode back then."""
    modes = {part: part.training for part in network.modules()}
    network.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for part, mode in modes.items():
            part.training = mode


@runtime_checkable
class Predicting(Protocol):
    """A network that can be measured; with ``attention(batch)``, as of `lengen.Transformer`, its attention, too."""

    def predict(self, batch: Batch) -> Tensor:
        """Return logits (B, T - 1, V) of every token of the batch but the first."""


def logits_of(network: Predicting, batch: Batch) -> Tensor:
    """Return the logits (B, T - 1, V) of a network; raises `TypeError` for anything of another shape."""
    logits = network.predict(batch)
    rows, length = batch.tokens.shape
    shape = tuple(logits.shape) if isinstance(logits, Tensor) else ()
    if len(shape) != 3 or shape[:2] != (rows, length - 1) or shape[2] <= batch.tokens.max():
        remedy = f"expected ({rows}, {length - 1}, vocabulary), a row for each token but the first, a column for an id"
        raise TypeError(f"{type(network).__name__}.predict gave {shape or type(logits).__name__}; {remedy}")
    return logits


class Foreign:
    """A `Predicting` network: no cache, so `lengen.decoding` lets it read its text anew for every token."""

    writes_in_order = False
    spec = SimpleNamespace(causal=True)
    attention: Callable[[Batch], list[dict[str, Tensor]]]

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        self.predict = partial(logits_of, cast(Predicting, module))
        if hasattr(module, "attention"):
            self.attention = cast(Any, module).attention

    @property
    def device(self) -> torch.device:
        """Device of the network."""
        return next((weight.device for weight in self.module.parameters()), torch.device("cpu"))


class SymbolError(ValueError):
    """A prompt with a symbol that a network does not have; one sentence."""


def character_model(
    module: nn.Module, symbols: str, *, end: str = "$", longest: int = 0
) -> Callable[[list[str]], list[str]]:
    """Return a function that lets a network write answers, character by character, after prompts such as ``12+34=``.

    The network writes in evaluation mode, without dropout, and has its own mode back afterwards.

    Args:
        module: From token ids (B, T) to logits (B, T, V).
        symbols: The character of every token id; ``end`` among them.
        end: The character that ends an answer.
        longest: Characters of an answer at most; 0: those of the prompt and 16.

    Returns:
        Takes prompts, gives as many answers without ``end``.

    Raises:
        SymbolError: What is no network with a character for every id, and prompts with other characters.

    Example:
        >>> import lengen
        >>> import torch
        >>> answer = lengen.character_model(torch.nn.Embedding(3, 3), "01$")  # logits after a token
        >>> len(answer(["0", "1"]))
        2
    """
    if not isinstance(module, nn.Module) or not isinstance(symbols, str):
        raise SymbolError("character_model: expected a torch module and the characters of its token ids as one text")
    if not isinstance(longest, Integral) or longest < 0:
        raise SymbolError(f"longest={longest!r}: expected a whole number from 0 on")
    ids = {symbol: place for place, symbol in enumerate(symbols)}
    if end not in ids:
        raise SymbolError(f"symbols '{symbols}' lack the end '{end}'")
    if len(ids) < len(symbols):
        twice = next(symbol for symbol in symbols if symbols.count(symbol) > 1)
        raise SymbolError(f"symbols '{symbols}' hold '{twice}' more than once: expected another character for every id")

    def answer(prompts: list[str]) -> list[str]:
        if isinstance(prompts, str) or not all(prompts):
            raise SymbolError(f"prompts={prompts!r:.40}: expected a list of texts, none of them empty")
        texts = [""] * len(prompts)
        device = next((weight.device for weight in module.parameters()), torch.device("cpu"))
        with answering(module):
            for size in sorted(set(map(len, prompts))):  # prompts of one length need no padding
                places = [place for place, prompt in enumerate(prompts) if len(prompt) == size]
                if missing := {symbol for place in places for symbol in prompts[place]} - ids.keys():
                    raise SymbolError(f"prompts have symbols that the network lacks: {' '.join(sorted(missing))}")
                tokens = torch.tensor([[ids[symbol] for symbol in prompts[place]] for place in places], device=device)
                answers = _continued(module, tokens, ids[end], longest or size + 16, len(symbols))
                for place, row in zip(places, answers.tolist(), strict=True):
                    texts[place] = "".join(symbols[token] for token in row).partition(end)[0]
        return texts

    return answer


def _continued(module: nn.Module, tokens: Tensor, end: int, steps: int, kinds: int) -> Tensor:
    """Return the likeliest of the first ``kinds`` tokens behind a batch (B, T), until all rows end or ``steps``."""
    size = tokens.shape[1]
    for _ in range(steps):
        try:
            best = module(tokens)[:, -1, :kinds].argmax(dim=-1, keepdim=True)
        except IndexError as error:  # behind its last position
            warnings.warn(f"the network reads no further ({error}): its answers end there", stacklevel=2)
            break
        tokens = torch.cat([tokens, best], dim=1)
        if bool((tokens[:, size:] == end).any(dim=1).all()):
            break
    return tokens[:, size:]
