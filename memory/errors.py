"""The one exception root, and the errors of the storage layer.

Every error says what to do about it: the message is shown to whoever runs the agent, never to a customer.

    StewardError
    ├── ConfigurationError      a setting is wrong or missing
    ├── DatabaseError           Postgres cannot be used as it is
    │   ├── DatabaseUnavailable   not reachable, or refuses us
    │   │   └── ConnectionDropped   lost in the middle of a statement
    │   └── SchemaError           wrong schema version, missing extension
    ├── InvalidInput            what a caller handed in cannot be taken
    ├── ThreadBusy              another turn is running on the thread
    └── (others beside the code that raises them)
"""


class StewardError(Exception):
    """Root of everything that Steward raises on purpose."""


class ConfigurationError(StewardError):
    """A setting is wrong or missing; the message names it and what is allowed."""


class DatabaseError(StewardError):
    """Postgres cannot be used as it is."""


class DatabaseUnavailable(DatabaseError):
    """Postgres is not reachable, or refuses the connection."""


class ConnectionDropped(DatabaseUnavailable):
    """A connection was lost in the middle of a statement; what it had not committed is undone."""


class SchemaError(DatabaseError):
    """The schema is newer than this code, or an extension is missing."""


class InvalidInput(StewardError, ValueError):
    """What a caller handed in cannot be taken; the message says what can.

    A ValueError too: the LangGraph server tells callers the message of such errors only.
    """


class ThreadBusy(StewardError, RuntimeError):
    """Another turn is running on this thread; send the message again when it has ended."""

    def __init__(self) -> None:
        super().__init__(str(self.__doc__))
