"""How the values of a checkpoint are written: messages and JSON-native values, encrypted where a key is set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ormsgpack
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import (
    EXT_PYDANTIC_V2,
    JsonPlusSerializer,
    _create_msgpack_ext_hook,
)

from memory.encryption import Cipher
from memory.errors import ConfigurationError
from memory.settings import MemorySettings

_MESSAGES: dict[tuple[str, str], tuple[type[BaseMessage], frozenset[str]]] = {
    (message.__module__, message.__name__): (message, frozenset(message.model_fields))
    for message in (HumanMessage, AIMessage, ToolMessage)
}
"""By module and name: the class, and its fields."""
_restored = _create_msgpack_ext_hook(None)
_new = object.__new__


@dataclass(frozen=True)
class Sealed:
    """Hides a plain value from the saver, which would write it in the open; the serializer unwraps it."""

    value: str | int | float


class Serializer(JsonPlusSerializer):
    """Restores messages and JSON-native values only: a checkpoint is data and cannot make the reader import code."""

    def __init__(self) -> None:
        super().__init__(__unpack_ext_hook__=_restore)

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        return super().dumps_typed(obj.value if isinstance(obj, Sealed) else obj)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        if "+" in data[0]:
            raise ConfigurationError(
                "A stored checkpoint is encrypted; set STEWARD_ENCRYPTION_KEY to its key."
            )
        return super().loads_typed(data)


def make_serializer(settings: MemorySettings) -> SerializerProtocol:
    """With a key, everything that is written from now on is encrypted; what was written before stays readable."""
    plain = Serializer()
    if settings.steward_encryption_key is None:
        return plain
    return EncryptedSerializer(Cipher(settings.steward_encryption_key.get_secret_value()), plain)


def _restore(code: int, data: bytes) -> Any:
    """A message as it was when it was written, without being validated once more: a long conversation is read at every
    turn, and most of that would be validation."""
    if code == EXT_PYDANTIC_V2:
        module, name, fields, *_ = ormsgpack.unpackb(
            data, ext_hook=_restore, option=ormsgpack.OPT_NON_STR_KEYS
        )
        if kind := _MESSAGES.get((module, name)):
            message, known = kind
            if fields.keys() == known:
                return _from_fields(_new(message), fields)
            return message.model_construct(**fields)
    return _restored(code, data)


def _from_fields(message: BaseMessage, fields: dict[str, Any]) -> BaseMessage:
    """Every field of a message put in its place, as unpickling does."""
    message.__setstate__(
        {
            "__dict__": fields,
            "__pydantic_fields_set__": set(fields),
            "__pydantic_extra__": {},
            "__pydantic_private__": None,
        }
    )
    return message
