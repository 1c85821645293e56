"""All settings of the product in one typed object: each package's section, and the outside's own."""

from __future__ import annotations

import os
from typing import Literal, Self

from pydantic import Field, SecretStr, ValidationError, model_validator

from memory.errors import ConfigurationError
from memory.known_secrets import keep_secret, secrets_of_environment, secrets_of_url
from nodes.settings import NodeSettings


class Settings(NodeSettings):
    """Read from the environment or `.env`; field names are the variables' names in lower case.

    `.env.example` lists them all. `Settings.load()` reports a bad value in one sentence.
    """

    steward_business: str = Field(default="graph.shop:SHOP", description="`module:NAME` of the business.")
    steward_auth: Literal["off", "jwt"] = "off"
    steward_jwt_key: SecretStr | None = Field(
        default=None, description="Key that signs the tokens (HS256) or PEM."
    )
    steward_log_level: Literal["debug", "info", "warning", "error"] = "warning"
    steward_log_format: Literal["console", "json"] = "console"

    @model_validator(mode="after")
    def _jwt_needs_a_key(self) -> Self:
        if self.steward_auth == "jwt" and self.steward_jwt_key is None:
            raise ValueError("STEWARD_AUTH=jwt needs STEWARD_JWT_KEY")
        return self

    @model_validator(mode="after")
    def _jwt_key_can_be_read(self) -> Self:
        key = self.steward_jwt_key.get_secret_value() if self.steward_jwt_key else ""
        if key.lstrip().startswith("-----BEGIN") and not _is_public_key(key):
            raise ValueError("STEWARD_JWT_KEY is no RSA public key in PEM form, though it begins like one")
        return self

    def model_post_init(self, context: object) -> None:
        """What is secret in these settings is masked from now on, whatever it looks like."""
        given = (getattr(self, name) for name in type(self).model_fields)
        keep_secret(value.get_secret_value() for value in given if isinstance(value, SecretStr))
        for address in (self.database_url, self.openai_base_url):
            text = address.get_secret_value() if isinstance(address, SecretStr) else address
            keep_secret(secrets_of_url(text or ""))
        keep_secret(secrets_of_environment(os.environ))

    @classmethod
    def load(cls) -> Self:
        """Read the settings; ConfigurationError names each bad variable and what it may be."""
        try:
            return cls()
        except (OSError, UnicodeError) as error:
            raise ConfigurationError(
                f"The file .env cannot be read ({type(error).__name__}); it is plain text in UTF-8."
            ) from None
        except ValidationError as error:
            faults = "; ".join(
                f"{'.'.join(str(part) for part in fault['loc']).upper() or 'settings'}: {fault['msg']}"
                for fault in error.errors(include_url=False, include_input=False)
            )
            raise ConfigurationError(f"Bad settings: {faults}. See .env.example.") from None


def _is_public_key(pem: str) -> bool:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        return isinstance(load_pem_public_key(pem.strip().encode()), RSAPublicKey)
    except ValueError:
        return False
