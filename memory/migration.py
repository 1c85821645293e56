"""One migration: a numbered piece of SQL of one package."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from memory.errors import SchemaError

SCHEMA_MIGRATION = """
CREATE TABLE IF NOT EXISTS schema_migration (
    package    text NOT NULL,
    number     integer NOT NULL,
    name       text NOT NULL,
    checksum   text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (package, number)
);
COMMENT ON TABLE schema_migration IS
    'Which migrations of which package have been applied; the code compares it at every start.';
"""
FILE_NAME = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")


@dataclass(frozen=True)
class Migration:
    """`own` is false for SQL of a library, whose wording is not ours to watch."""

    package: str
    number: int
    name: str
    sql: str
    own: bool = True

    @property
    def key(self) -> tuple[str, int]:
        return (self.package, self.number)

    @property
    def checksum(self) -> str:
        """Of the text, whatever line ends a checkout gave it."""
        return hashlib.sha256("\n".join(self.sql.splitlines()).encode()).hexdigest()

    def __str__(self) -> str:
        return f"{self.package}/{self.number:04}_{self.name}"


def read_folder(package: str, folder: Path) -> list[Migration]:
    """The folder's migrations in order. Raises SchemaError on a misnamed file or a number used twice."""
    found: dict[int, Migration] = {}
    for path in sorted(folder.glob("*.sql")):
        match = FILE_NAME.fullmatch(path.name)
        if match is None:
            raise SchemaError(
                f"{path} is not named NNNN_name.sql (four digits, lower-case letters); rename it."
            )
        number = int(match[1])
        if number in found:
            raise SchemaError(f"{folder} has two migrations with number {number:04}; renumber one.")
        found[number] = Migration(package, number, match[2], path.read_text(encoding="utf-8"))
    return list(found.values())
