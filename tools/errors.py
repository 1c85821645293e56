"""What goes wrong in a tool, in the terms that the engine, the model and the log share.

StewardError
└── ToolError
    ├── DeclarationError     a tool would confuse a model; refused at start-up
    ├── BusinessError        the business says no: no such order, already shipped
    └── TransientError       try again later: connection refused, overloaded
"""

from __future__ import annotations

from typing import Literal, get_args

from memory.errors import StewardError

ErrorKind = Literal[
    "unknown_tool",
    "invalid_arguments",
    "missing_argument",
    "ungrounded_argument",
    "not_found",
    "business",
    "timeout",
    "unavailable",
    "denied",
    "cancelled",
    "in_doubt",
    "limit",
    "internal",
]
ERROR_KINDS: tuple[str, ...] = get_args(ErrorKind)


class ToolError(StewardError):
    """Root of the errors of tools."""


class DeclarationError(ToolError):
    """A tool's declaration would confuse a model; the message names the tool and the fault."""


class BusinessError(ToolError):
    """Raised by a tool when the business says no. The text reaches the model: write it for the model.

    `kind` is `not_found` when the object does not exist (or is not this user's), else `business`.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: Literal["not_found", "business"] = "business",
        try_next: str | None = None,
    ) -> None:
        super().__init__(message)
        self.kind: Literal["not_found", "business"] = kind
        self.try_next = try_next


class TransientError(ToolError):
    """Raised by a tool when nothing was done and trying again may help. The text goes to the log, not the model.

    Where something may have been done, let the client's own exception pass: the call is then reported in doubt.
    """
