"""Counting and cutting by tokens, without network: OpenAI's vocabularies come inside a package.

For OpenAI's models the count is exact. Other families have vocabularies of their own; there the count is corrected
by what their endpoint reports (see `Calibration`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Protocol

import regex
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

MESSAGE_OVERHEAD = 3
"""Tokens that the chat format itself adds to a message."""
REPLY_OVERHEAD = 3
"""Tokens that begin the answer, once a request."""
CALL_OVERHEAD = 8
"""Tokens around the name and arguments of a tool call."""
BLOCK_TOKENS = 800
"""Counted for an image or another block that is not text."""
TAIL_SHARE = 0.3
"""Of a cut text, what is kept of its end: a long message often ends with the question."""

OLDER_MODELS = ("gpt-4", "gpt-3.5", "gpt-35", "text-embedding-3", "text-embedding-ada")
NEWER_MODELS = ("gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "gpt-oss", "chatgpt", "o1", "o3", "o4", "omni")
NOTE = "\n[… {left_out} of {total} tokens left out …]\n"
NOTE_TOKENS = 24
DECAY = 0.8
"""Weight of all earlier calls against the latest one."""
LONGEST_KEPT = 8_000
"""Characters of a text whose count is kept."""
COUNTS_KEPT = 4_096
CLUSTERS = regex.compile(r"\X")
CLUSTER_WINDOW = 64


class Vocabulary(Protocol):
    def encode(self, text: str) -> list[int]: ...
    def decode(self, tokens: list[int]) -> str: ...
    def count(self, text: str) -> int: ...


def _load_bindings() -> ModuleType:
    """The extension module of bpe-openai, which holds the vocabularies.

    It alone: the package around it builds Python tables of three vocabularies at import, which takes half a second,
    and refuses long texts. Loaded at import, because it is a file.
    """
    package = find_spec("bpe_openai")
    places = package.submodule_search_locations if package else None
    spec = PathFinder.find_spec("_bindings", places)
    if spec is None or spec.loader is None:
        raise ImportError("The package bpe-openai is not installed; run `make setup`.")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_BINDINGS = _load_bindings()


@cache
def vocabulary(name: str) -> Vocabulary:
    """`o200k_base` or `cl100k_base`; the first use takes 50 ms and reads nothing."""
    loaded: Vocabulary = _BINDINGS.tokenizer_for_encoding(name)
    return loaded


class Calibration:
    """Learns how far a model's own vocabulary is from ours, from the usage that its endpoint reports.

    One for the process, since it belongs to the models, not to a conversation. A factor moves only when it is off by
    more than 2 %, so that equal texts are cut alike from one call to the next and the provider's cache keeps hitting.
    """

    def __init__(self) -> None:
        self._sums: dict[str, tuple[float, float]] = {}
        self._factors: dict[str, float] = {}

    def observe(self, model: str, *, estimated: int, reported: int) -> None:
        """Take in one call: what `count` said of its prompt, and what the endpoint said."""
        if is_exact(model) or estimated < 100 or reported <= 0:
            return
        ours, theirs = self._sums.get(model, (0.0, 0.0))
        plain = estimated / self.factor(model)
        ours, theirs = ours * DECAY + plain, theirs * DECAY + reported
        self._sums[model] = (ours, theirs)
        factor = min(max(theirs / ours, 0.4), 2.5)
        if abs(factor / self.factor(model) - 1) > 0.02:
            self._factors[model] = factor

    def factor(self, model: str) -> float:
        """What a plain count is multiplied by."""
        return self._factors.get(model, 1.0)


CALIBRATION = Calibration()


@cache
def is_exact(model: str) -> bool:
    """Whether the model's vocabulary is known."""
    return _bare(model).startswith(NEWER_MODELS + OLDER_MODELS)


def count(text: str, model: str = "") -> int:
    """Tokens of a text for the model; for a model that is not OpenAI's, the best estimate so far."""
    if not text:
        return 0
    name = _vocabulary_name(model)
    plain = _counted(name, text) if len(text) <= LONGEST_KEPT else vocabulary(name).count(_encodable(text))
    return plain if is_exact(model) else round(plain * CALIBRATION.factor(model))


@lru_cache(maxsize=COUNTS_KEPT)
def _counted(name: str, text: str) -> int:
    """A context is planned from the same texts call after call: each is counted once."""
    return vocabulary(name).count(_encodable(text))


def count_messages(messages: Iterable[BaseMessage], model: str = "") -> int:
    """Tokens of a request with these messages: roles, texts, tool calls and what the chat format adds."""
    return REPLY_OVERHEAD + sum(_count_message(message, model) for message in messages)


def cut(text: str, tokens: int, model: str = "") -> str:
    """The text, shortened to so many tokens: its beginning and its end, with a note between them.

    Never parts what a reader sees as one character. Below some 50 tokens only a beginning is kept, without a note.
    """
    total = count(text, model)
    if total <= tokens:
        return text
    if tokens <= 2 * NOTE_TOKENS:
        return _shorten(text, tokens, model, _head)
    room = tokens - NOTE_TOKENS
    tail = _shorten(text, int(room * TAIL_SHARE), model, _tail)
    head = _shorten(text, room - count(tail, model), model, _head)
    return f"{head}{NOTE.format(left_out=total - room, total=total)}{tail}"


def _count_message(message: BaseMessage, model: str) -> int:
    total = MESSAGE_OVERHEAD
    if isinstance(message.content, str):
        total += count(message.content, model)
    else:
        total += sum(_count_block(block, model) for block in message.content)
    if isinstance(message, AIMessage):
        for call in message.tool_calls:
            total += (
                CALL_OVERHEAD
                + count(call["name"], model)
                + count(json.dumps(call["args"], ensure_ascii=False), model)
            )
    if isinstance(message, ToolMessage):
        total += CALL_OVERHEAD
    return total


def _count_block(block: str | dict[str, object], model: str) -> int:
    if isinstance(block, str):
        return count(block, model)
    text = block.get("text")
    return count(text, model) if isinstance(text, str) else BLOCK_TOKENS


def _shorten(text: str, tokens: int, model: str, part: Callable[[str, int, Vocabulary], str]) -> str:
    """A part of at most so many tokens. A cut text may count a little more than its tokens did: then less is kept."""
    words = vocabulary(_vocabulary_name(model))
    factor = 1.0 if is_exact(model) else CALIBRATION.factor(model)
    wanted = int(tokens / factor)
    kept = part(text, wanted, words)
    while kept and count(kept, model) > tokens:
        wanted = min(wanted - 1, int(wanted * 0.97))
        kept = part(text, wanted, words)
    return kept


def _head(text: str, tokens: int, words: Vocabulary) -> str:
    begun = words.encode(_encodable(text))[: max(tokens, 0)]
    return text[: _boundary(text, len(_decode(begun, words, from_end=False)), step=-1)]


def _tail(text: str, tokens: int, words: Vocabulary) -> str:
    ended = words.encode(_encodable(text))[-tokens:] if tokens > 0 else []
    return text[_boundary(text, len(text) - len(_decode(ended, words, from_end=True)), step=1) :]


def _decode(tokens: list[int], words: Vocabulary, *, from_end: bool) -> str:
    """The text of the tokens, less up to three at the cut that hold only a part of a character."""
    for _ in range(4):
        try:
            return words.decode(tokens)
        except ValueError:
            tokens = tokens[1:] if from_end else tokens[:-1]
    return ""


def _boundary(text: str, index: int, *, step: int) -> int:
    """The nearest place, before (-1) or after (1) the index, that does not part an emoji or an accented letter."""
    start = max(0, index - CLUSTER_WINDOW)
    places = [start + match.end() for match in CLUSTERS.finditer(text[start : index + CLUSTER_WINDOW])]
    if step < 0:
        return max((place for place in places if place <= index), default=start)
    return min((place for place in places if place >= index), default=len(text))


@cache
def _vocabulary_name(model: str) -> str:
    bare = _bare(model)
    older = bare.startswith(OLDER_MODELS) and not bare.startswith(NEWER_MODELS)
    return "cl100k_base" if older else "o200k_base"


def _bare(model: str) -> str:
    """Without the vendor or the fine-tuning mark before it: `openai/gpt-4o`, `ft:gpt-4o:…`."""
    return model.lower().removeprefix("ft:").rpartition("/")[2]


def _encodable(text: str) -> str:
    """Lone surrogates have no tokens; each counts as the question mark that an encoder makes of it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text
