"""Any network over characters as a function that answers prompts: token ids in, logits out, the likeliest written."""

from collections.abc import Callable
from numbers import Integral

import torch
from torch import Tensor, nn

from lengen.models.foreign import answering


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
        device = next((one.device for one in module.parameters()), torch.device("cpu"))
        with answering(module):
            for size in sorted(set(map(len, prompts))):  # prompts of one length need no padding
                places = [place for place, prompt in enumerate(prompts) if len(prompt) == size]
                if missing := {symbol for place in places for symbol in prompts[place]} - ids.keys():
                    raise SymbolError(f"prompts have symbols that the network lacks: {' '.join(sorted(missing))}")
                tokens = torch.tensor([[ids[symbol] for symbol in prompts[place]] for place in places], device=device)
                answers = _continued(module, tokens, ids[end], longest or size + 16)
                for place, row in zip(places, answers.tolist(), strict=True):
                    texts[place] = "".join(symbols[token] for token in row).partition(end)[0]
        return texts

    return answer


def _continued(module: nn.Module, tokens: Tensor, end: int, steps: int) -> Tensor:
    """Return the likeliest tokens behind a batch (B, T), at most so many of them or until all rows have ended."""
    size = tokens.shape[1]
    for _ in range(steps):
        best = module(tokens)[:, -1].argmax(dim=-1, keepdim=True)
        tokens = torch.cat([tokens, best], dim=1)
        if bool((tokens[:, size:] == end).any(dim=1).all()):
            break
    return tokens[:, size:]
