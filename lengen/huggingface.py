"""Models of `transformers`, which is imported when one is used: they answer prompts, and runs become folders for them.

A folder of a run has its weights as safetensors, ``config.json`` with the whole specification, a character tokenizer
and a card with its results. `lengen.load` reads it; its position ids and format are code of this package.
"""

import copy
import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

from lengen.formats.base import END, FIRST, PAD
from lengen.results.records import Grid
from lengen.settings.spec import Spec

CONFIG, WEIGHTS, TOKENIZER, CARD = "config.json", "model.safetensors", "tokenizer.json", "README.md"
LONGEST = 1 << 30
"""Tokens of a model without learned positions."""


class HuggingFaceError(ValueError):
    """A model or folder that cannot be used; one sentence."""


def first_line(text: str) -> str:
    """Return the first line that is not blank."""
    return text.lstrip("\n").split("\n")[0]


def from_transformers(
    model: Any,
    tokenizer: Any,
    *,
    at_once: int = 50,
    longest: int = 0,
    form: Callable[[str], str] = str,
    read: Callable[[str], str] = first_line,
) -> Callable[[list[str]], list[str]]:
    """Return a function that lets a causal language model answer prompts, greedily.

    Where its positions are learned, it writes as far as they go, and nothing to a prompt that is longer.

    Args:
        model: Any with ``generate``.
        tokenizer: Its tokenizer; batches are padded on the left.
        at_once: Prompts of one batch.
        longest: New tokens at most; 0: as many as the longest prompt of a batch has characters, and 16.
        form: Makes the text for the model of a prompt.
        read: Makes the answer of what the model wrote.

    Returns:
        Takes prompts, gives as many answers, as `lengen.evaluate` asks for them.

    Raises:
        HuggingFaceError: What is no causal language model, or a number that cannot be.

    Example:
        >>> import lengen
        >>> from transformers import AutoModelForCausalLM, AutoTokenizer  # doctest: +SKIP
        >>> model = AutoModelForCausalLM.from_pretrained("gpt2")  # doctest: +SKIP
        >>> tokenizer = AutoTokenizer.from_pretrained("gpt2")  # doctest: +SKIP
        >>> lengen.evaluate(lengen.from_transformers(model, tokenizer), "addition").accuracy(6)  # doctest: +SKIP
    """
    if not hasattr(model, "generate"):
        raise HuggingFaceError(f"{type(model).__name__} has no generate(): expected a causal language model")
    for name, value, least in (("at_once", at_once, 1), ("longest", longest, 0)):
        if not isinstance(value, Integral) or value < least:
            raise HuggingFaceError(f"{name}={value!r}: expected a whole number from {least} on")
    tokenizer = copy.copy(tokenizer)  # that of the caller keeps its sides
    tokenizer.padding_side = "left"
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token

    parts = model.named_modules() if hasattr(model, "named_modules") else ()
    is_learned = any(re.search("wpe|pos", name) and hasattr(part, "num_embeddings") for name, part in parts)
    window = model.config.max_position_embeddings if is_learned else LONGEST

    def answer(prompts: list[str]) -> list[str]:
        texts: list[str] = []
        order = sorted(range(len(prompts)), key=lambda place: len(prompts[place]))
        for start in range(0, len(order), at_once):
            batch = [prompts[place] for place in order[start : start + at_once]]
            model_prompts = [form(prompt) for prompt in batch]
            inputs = tokenizer(model_prompts, return_tensors="pt", padding=True, return_token_type_ids=False)
            inputs = inputs.to(model.device)
            most, padding = longest or max(map(len, batch)) + 16, tokenizer.pad_token_id
            if (room := window - inputs["input_ids"].shape[1]) < most and len(batch) > 1:
                texts += [answer([prompt])[0] for prompt in batch]  # each has its own room
                continue
            if room < 1:
                texts.append("")
                continue
            most = min(most, room)
            written = model.generate(**inputs, max_new_tokens=most, do_sample=False, num_beams=1, pad_token_id=padding)
            new = written[:, inputs["input_ids"].shape[1] :]
            texts += map(read, tokenizer.batch_decode(new, skip_special_tokens=True))
        return [text for _, text in sorted(zip(order, texts, strict=True))]

    tensors = model.parameters() if hasattr(model, "parameters") else ()
    answer.__dict__["parameters"] = sum(tensor.numel() for tensor in tensors)
    return answer


def from_folder(folder: Path, *, chat: bool = False, **options: Any) -> Callable[[list[str]], list[str]]:
    """Return `from_transformers` of the causal language model and tokenizer in a folder; raises `HuggingFaceError`.

    ``chat``: what is asked stands in the chat template of the tokenizer.
    """
    try:
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ImportError:
        raise HuggingFaceError("transformers is not installed: pip install transformers") from None
    if not (folder / CONFIG).is_file():
        raise HuggingFaceError(f"{folder}: expected the folder of a model, which holds {CONFIG}")
    try:
        model = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True).eval()
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        reason = (str(error).splitlines() or ["no message"])[0][:160]
        raise HuggingFaceError(f"{folder} is no causal language model of transformers ({reason})") from None
    if chat:
        if not tokenizer.chat_template:
            raise HuggingFaceError(f"{folder}: its tokenizer has no chat template; leave --chat out")
        form: Callable[[str], str] = options.get("form", str)
        options["form"] = lambda prompt: str(
            tokenizer.apply_chat_template(
                [{"role": "user", "content": form(prompt)}], tokenize=False, add_generation_prompt=True
            )
        )
    return from_transformers(model, tokenizer, **options)


def export(spec: Spec, weights: Path, folder: Path, name: str, grid: Grid | None = None) -> list[Path]:
    """Write a run as a folder; returns its files."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(weights, folder / WEIGHTS)
    config = {"model_type": "lengen", "architectures": ["lengen.Transformer"], "name": name, "spec": spec.to_dict()}
    (folder / CONFIG).write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
    symbols = spec.data.vocab.symbols
    (folder / TOKENIZER).write_text(json.dumps(_tokenizer(symbols), indent=1) + "\n", encoding="utf-8")
    (folder / CARD).write_text(_card(spec, name, grid), encoding="utf-8")
    return [folder / file for file in (WEIGHTS, CONFIG, TOKENIZER, CARD)]


def spec_of(folder: Path) -> dict[str, Any]:
    """Return the specification in the ``config.json`` of a folder; raises `HuggingFaceError`."""
    try:
        spec: dict[str, Any] = json.loads((folder / CONFIG).read_text(encoding="utf-8"))["spec"]
    except (OSError, ValueError, KeyError, TypeError):
        raise HuggingFaceError(f"{folder / CONFIG} holds no specification: expected one of export --hf") from None
    return spec


def _tokenizer(symbols: Sequence[str]) -> dict[str, Any]:
    """Return the symbols as the file that ``PreTrainedTokenizerFast(tokenizer_file=...)`` reads."""
    vocab = {"PAD": PAD, "$": END, **{symbol: FIRST + place for place, symbol in enumerate(symbols)}}
    words = any(len(symbol) > 1 for symbol in symbols)
    split = {"type": "Split", "pattern": {"Regex": "."}, "behavior": "Isolated", "invert": False}
    return {
        "version": "1.0",
        "added_tokens": [
            {"id": id, "content": text, "special": True, "single_word": False, "lstrip": False, "rstrip": False}
            | {"normalized": False}
            for text, id in (("PAD", PAD), ("$", END))
        ],
        "pre_tokenizer": {"type": "WhitespaceSplit"} if words else split,
        "decoder": None if words else {"type": "Fuse"},
        "model": {"type": "WordLevel", "vocab": vocab, "unk_token": "PAD"},
    }


def card(head: Mapping[str, object], text: str) -> str:
    """Return a card in the form of Hugging Face: a head of YAML, in which JSON stands for what is nested, and Markdown.

    >>> print(card({"license": "mit", "tags": ["a", "b"]}, "# name"))
    ---
    license: mit
    tags:
    - a
    - b
    ---
    <BLANKLINE>
    # name
    """
    lines: list[str] = []
    for name, value in head.items():
        if isinstance(value, list):
            lines += [f"{name}:", *(f"- {item if isinstance(item, str) else json.dumps(item)}" for item in value)]
        else:
            lines.append(f"{name}: {value}")
    return "\n".join(["---", *lines, "---", "", text])


def _card(spec: Spec, name: str, grid: Grid | None) -> str:
    """Return a model card, with the exact match of every length in its metadata."""
    rates = {length: grid.accuracy(length) for length in sorted({cell[0] for cell in grid.scores})} if grid else {}
    task = spec.data.task
    metrics = [{"type": "exact_match", "name": f"length {length}", "value": rate} for length, rate in rates.items()]
    result = {"task": {"type": "text-generation"}, "dataset": {"type": "lengen", "name": task.name}, "metrics": metrics}
    tags = ["length-generalization", "arithmetic"]
    head: dict[str, object] = {"license": "mit", "library_name": "lengen", "tags": tags}
    head |= {"model-index": [{"name": name, "results": [result]}]} if rates else {}
    table = "".join(f"| {length} | {rate:.4f} |\n" for length, rate in rates.items())
    text = (
        f"# {name}\n\nA transformer for `{task.name}`, trained on lengths up to {task.longest} with the suite `lengen`;"
        f" this folder was written by `reproduce export`."
        f"\n\n    import lengen\n    lengen.load('FOLDER').solve([...])\n\n"
        f"`config.json` holds its whole specification. Format and position ids are made by `lengen`, so it is no model "
        f"of `AutoModelForCausalLM`.\n"
    )
    return card(head, text + (f"\n| length | exact match |\n|---|---|\n{table}" if rates else ""))
