"""Characters to token ids and back: digits, operators, one symbol for begin and end, one for padding."""

import string
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

PAD = 0
"""Token id that fills a row on the right; no target of a task."""
END = 1
"""Token id shown as ``$``: begins and ends every sequence (one symbol, as in the source papers' code)."""
FIRST = 2
"""Token id of the first symbol of a vocabulary; digits come first, so digit d has id ``FIRST + d``."""


class Vocab:
    """A closed set of tokens: single characters, or words, which text then separates by spaces.

    >>> Vocab("01=").encode("$01=1$").tolist()
    [1, 2, 3, 4, 3, 1]
    >>> Vocab("01=").decode([1, 2, 3, 4, 3, 1, 0])
    '$01=1$'
    >>> numbers = Vocab(["1", "2", "10", "⊥"])
    >>> numbers.decode(numbers.encode("10 2 ⊥ 2 10"))
    '10 2 ⊥ 2 10'
    """

    def __init__(self, symbols: Sequence[str]) -> None:
        self.symbols = symbols
        self.separator = " " if any(len(symbol) > 1 for symbol in symbols) else ""
        self._ids = {"PAD": PAD, "$": END, **{symbol: FIRST + i for i, symbol in enumerate(symbols)}}
        self._characters = ["", "$", *symbols]

    def __len__(self) -> int:
        return len(self._characters)

    def id(self, character: str) -> int:
        """Token id of a symbol, or of ``PAD``; KeyError for what is not in the vocabulary."""
        return self._ids[character]

    def encode(self, text: str) -> "Tensor":
        """(T,) int64 token ids of a text."""
        import torch  # who only asks what PAD is waits for nothing

        return torch.tensor([self._ids[symbol] for symbol in (text.split() if self.separator else text)])

    def decode(self, ids: "Iterable[int] | Tensor") -> str:
        """The text of token ids; padding leaves no trace."""
        return self.separator.join(self._characters[int(i)] for i in ids if i != PAD)


PRINTABLE = Vocab("".join(character for character in string.printable if character not in "$\f"))
"""100 printable characters, digits first: the vocabulary of Section 4.2.1 of "Length Generalization on Multi-Digit
Integer Addition with Transformers". ``$`` is `END`; the form feed, which its author's code pads with, is `PAD`."""
