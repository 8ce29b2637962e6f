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
    >>> Vocab("01=").decode([2, 0, 3, 0])
    '0␀1'
    """

    def __init__(self, symbols: Sequence[str]) -> None:
        self.symbols = symbols
        self.separator = " " if any(len(symbol) > 1 for symbol in symbols) else ""
        padding = "PAD" if self.separator else "␀"
        self._ids = {"PAD": PAD, padding: PAD, "$": END, **{symbol: FIRST + i for i, symbol in enumerate(symbols)}}
        self._characters = [padding, "$", *symbols]

    def __len__(self) -> int:
        return len(self._characters)

    def id(self, character: str) -> int:
        """Return token id of a symbol, or of ``PAD``; KeyError for what is not in the vocabulary."""
        return self._ids[character]

    def encode(self, text: str) -> "Tensor":
        """Return (T,) int64 token ids of a text; `ValueError` for what is not in the vocabulary."""
        import torch  # who only asks what PAD is waits for nothing

        found = text.split() if self.separator else text
        if unknown := set(found) - self._ids.keys():
            raise ValueError(
                f"{text!r:.60} holds {min(unknown)!r:.20}, which is no symbol of this vocabulary: expected "
                f"{'words between blanks' if self.separator else 'characters'} of {' '.join(self.symbols)!r:.60}"
            )
        return torch.tensor([self._ids[symbol] for symbol in found], dtype=torch.int64)

    def decode(self, ids: "Iterable[int] | Tensor") -> str:
        """Return the text of token ids.

        Padding on the right leaves no trace, any other is ``␀``, among words ``PAD``.
        """
        found = [int(i) for i in ids]
        while found and found[-1] == PAD:
            found.pop()
        return self.separator.join(self._characters[i] for i in found)


PRINTABLE = Vocab("".join(character for character in string.printable if character not in "$\f"))
"""100 printable characters, digits first: the vocabulary of Section 4.2.1 of "Length Generalization on Multi-Digit
Integer Addition with Transformers". ``$`` is `END`; the form feed, which its author's code pads with, is `PAD`."""
