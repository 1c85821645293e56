"""Whether what is stored of conversations can be read with the key that is set."""

from __future__ import annotations

import asyncio

from memory.database import Database
from memory.encryption import Cipher
from memory.errors import ConfigurationError
from memory.findings import Finding
from memory.settings import MemorySettings

# The smallest encrypted value of each of the latest threads.
SEALED = """
SELECT DISTINCT ON (thread_id) type, blob
  FROM (SELECT DISTINCT thread_id FROM (
           SELECT thread_id FROM checkpoints WHERE checkpoint_ns = '' ORDER BY checkpoint_id DESC LIMIT 100
       ) AS newest LIMIT 20) AS latest
  JOIN checkpoint_blobs USING (thread_id)
 WHERE position('+' IN type) > 0
 ORDER BY thread_id, length(blob)
"""
CURE = "set the key that they were written with, or erase them (`steward memory forget`)"


async def require_key(database: Database, settings: MemorySettings) -> None:
    """Raises ConfigurationError where none of the latest conversations opens: what is said next would not either,
    once the right key is back."""
    for finding in await check_encryption(database, settings):
        if not finding.ok:
            raise ConfigurationError(f"{finding.detail[0].upper()}{finding.detail[1:]}; {finding.cure}.")


async def check_encryption(database: Database, settings: MemorySettings) -> list[Finding]:
    """Tries the latest conversations; nothing where none is encrypted and no key is set."""
    sealed = [(row["type"].partition("+")[2], row["blob"]) for row in await database.fetch(SEALED)]
    key = settings.steward_encryption_key
    if key is None:
        if not sealed:
            return []
        cure = "set STEWARD_ENCRYPTION_KEY to the key that they were written with"
        return [Finding("encryption", False, f"{_latest(len(sealed))} encrypted, and no key is set", cure)]
    closed = await asyncio.to_thread(_closed, key.get_secret_value(), sealed)
    if not closed:
        return [Finding("encryption", True, "conversations are encrypted")]
    detail = f"{closed} of {len(sealed)} recent conversations do not open with STEWARD_ENCRYPTION_KEY"
    return [Finding("encryption", closed < len(sealed), detail, CURE)]


def _closed(key: str, sealed: list[tuple[str, bytes]]) -> int:
    cipher = Cipher(key)
    closed = 0
    for name, blob in sealed:
        try:
            cipher.decrypt(name, bytes(blob))
        except ConfigurationError:
            closed += 1
    return closed


def _latest(count: int) -> str:
    return "the latest conversation is" if count == 1 else f"the latest {count} conversations are"
