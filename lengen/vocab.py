"""Characters to token ids and back: digits, operators, one symbol for begin and end, one for padding."""

import string
from collections.abc import Iterable

import torch
from torch import Tensor

PAD = 0
"""Token id that fills a row on the right; never a target."""
END = 1
"""Token id shown as ``$``: begins and ends every sequence (one symbol, as in the source papers' code)."""
FIRST = 2
"""Token id of the first symbol of a vocabulary; digits come first, so digit d has id ``FIRST + d``."""


class Vocab:
    """A closed set of single-character tokens.

    >>> Vocab("01=").encode("$01=1$").tolist()
    [1, 2, 3, 4, 3, 1]
    >>> Vocab("01=").decode([1, 2, 3, 4, 3, 1, 0])
    '$01=1$'
    """

    def __init__(self, symbols: str) -> None:
        self.symbols = symbols
        self._ids = {"$": END, **{symbol: FIRST + i for i, symbol in enumerate(symbols)}}
        self._characters = ["", "$", *symbols]

    def __len__(self) -> int:
        return len(self._characters)

    def id(self, character: str) -> int:
        """Token id of one character; KeyError for a character outside the vocabulary."""
        return self._ids[character]

    def encode(self, text: str) -> Tensor:
        """(T,) int64 token ids of a text."""
        return torch.tensor([self._ids[character] for character in text])

    def decode(self, ids: Iterable[int] | Tensor) -> str:
        """The text of token ids; padding leaves no trace."""
        return "".join(self._characters[int(i)] for i in ids)


PRINTABLE = Vocab("".join(character for character in string.printable if character not in "$\f"))
"""100 printable characters, digits first: the vocabulary of Section 4.2.1 of "Length Generalization on Multi-Digit
Integer Addition with Transformers". ``$`` is `END`; the form feed, which its author's code pads with, is `PAD`."""
