"""Characters and words to token ids and back."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lengen.formats.base import END, FIRST, PAD, PRINTABLE, Vocab

CHARACTERS = st.characters(categories=["L", "N", "S", "P"], exclude_characters="$")
WORDS = st.text(CHARACTERS, min_size=1, max_size=4).filter(lambda word: word != "PAD")


@given(st.data())
def test_words_are_read_back(data):
    symbols = data.draw(st.lists(WORDS, min_size=1, max_size=12, unique=True))
    text = data.draw(st.lists(st.sampled_from(["$", *symbols]), max_size=15))
    vocab = Vocab(symbols)
    separator = " " if max(map(len, symbols)) > 1 else ""
    ids = [END if word == "$" else FIRST + symbols.index(word) for word in text]
    assert vocab.encode(separator.join(text)).tolist() == ids
    assert vocab.decode(ids) == vocab.decode(torch.tensor(ids)) == separator.join(text)
    assert vocab.decode([*ids, PAD, PAD]) == separator.join(text), "padding leaves no trace"
    inside = [PAD, *ids, PAD, END]
    assert vocab.encode(vocab.decode(inside)).tolist() == inside, "but what a model writes among symbols does"
    assert len(vocab) == len(symbols) + 2
    assert [vocab.decode([i]) for i in range(len(vocab))] == ["", "$", *symbols]
    assert all(vocab.id(word) == i for word, i in zip(text, ids, strict=True)) and vocab.id("PAD") == PAD


@given(st.text(PRINTABLE.symbols, max_size=20))
def test_characters_are_read_back(text):
    assert PRINTABLE.decode(PRINTABLE.encode(text).long()) == text


def test_what_is_no_symbol_is_an_error():
    numbers = Vocab(["1", "2", "10"])
    assert numbers.encode("10 1  2 $ PAD").tolist() == [4, 2, 3, END, PAD]
    for vocab, text in ((numbers, "12"), (numbers, "1 3"), (Vocab("012"), "0 1"), (Vocab("012"), "3")):
        with pytest.raises(ValueError, match="no symbol of this vocabulary: expected"):
            vocab.encode(text)
    assert numbers.encode("").dtype == torch.int64
