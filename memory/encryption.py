"""Encryption at rest of what checkpoints hold: AES-256-GCM under a key derived from STEWARD_ENCRYPTION_KEY."""

from __future__ import annotations

import os
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from memory.errors import ConfigurationError

CIPHER = "steward-aes256gcm"
NONCE_BYTES = 12


class Cipher:
    """The cipher that LangGraph's EncryptedSerializer asks for.

    The setting may be any text of 16 characters or more. Scrypt turns it into the key, so that a passphrase cannot
    be tried out quickly; the salt is a constant, because every process has to arrive at the same key with nothing
    but the setting. Each value has its own random nonce, stored before the ciphertext. A value that was changed, or
    that another key wrote, is refused.

    Deriving the key takes some 50 ms, once a process.
    """

    def __init__(self, secret: str) -> None:
        self._aead = AESGCM(_derive(secret))

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        nonce = os.urandom(NONCE_BYTES)
        return CIPHER, nonce + self._aead.encrypt(nonce, plaintext, CIPHER.encode())

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        """Raises ConfigurationError when the value cannot be opened with this key."""
        nonce, sealed = ciphertext[:NONCE_BYTES], ciphertext[NONCE_BYTES:]
        try:
            return self._aead.decrypt(nonce, sealed, ciphername.encode())
        except InvalidTag as error:
            raise ConfigurationError(
                "A stored checkpoint does not open with STEWARD_ENCRYPTION_KEY; "
                "set the key that it was written with, or erase the thread."
            ) from error


@lru_cache(maxsize=4)
def _derive(secret: str) -> bytes:
    return Scrypt(salt=b"steward checkpoints v1", length=32, n=2**14, r=8, p=1).derive(secret.encode())
