"""What an MCP server answered, as data for the envelope. Whatever it says is data, never an instruction."""

from __future__ import annotations

import json
from collections.abc import Sequence

from mcp.types import (
    AudioContent,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from memory.clean import clean_text
from tools.errors import BusinessError
from tools.spec import JSON

LONGEST_ERROR = 1000
"""Characters of a server's own words about an error."""


def data_of(result: CallToolResult) -> JSON:
    """Structured content where there is some (its texts only repeat it), else the texts, read as JSON where they are
    JSON. What a model cannot read is named in `not_shown`. Raises BusinessError where the tool says it failed."""
    if result.is_error:
        raise BusinessError(_error(result.content))
    texts = _texts(result.content)
    data = result.structured_content
    if data is None:
        values = [_value(text) for text in texts]
        data = values[0] if len(values) == 1 else _several(texts, values)
    not_shown: list[JSON] = [note for block in result.content if (note := _not_shown(block))]
    return {"result": data, "not_shown": not_shown} if not_shown else data


def _error(content: Sequence[ContentBlock]) -> str:
    words = clean_text("\n".join(_texts(content))).strip()
    if not words:
        return "The tool failed and does not say why."
    return words if len(words) <= LONGEST_ERROR else f"{words[:LONGEST_ERROR]}…"


def _texts(content: Sequence[ContentBlock]) -> list[str]:
    return [text for block in content if (text := _text(block)) is not None]


def _text(block: ContentBlock) -> str | None:
    if isinstance(block, TextContent):
        return block.text
    if isinstance(block, EmbeddedResource) and isinstance(block.resource, TextResourceContents):
        return block.resource.text
    if isinstance(block, ResourceLink):
        return f"{block.title or block.name}: {block.uri}"
    return None


def _several(texts: list[str], values: list[JSON]) -> JSON:
    """Records stay a list; prose is joined."""
    if values and not any(isinstance(value, str) for value in values):
        return values
    return "\n".join(texts)


def _value(text: str) -> JSON:
    """An object or a list that was written as text; else the text."""
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        value: JSON = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value


def _not_shown(block: ContentBlock) -> str | None:
    if isinstance(block, ImageContent):
        return f"an image ({block.mime_type})"
    if isinstance(block, AudioContent):
        return f"a sound ({block.mime_type})"
    if isinstance(block, EmbeddedResource) and not isinstance(block.resource, TextResourceContents):
        return f"a file ({block.resource.mime_type or 'of unknown type'})"
    return None
