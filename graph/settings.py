"""All settings of the product in one typed object: each package's section, and the outside's own."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, SecretStr, ValidationError, model_validator

from memory.errors import ConfigurationError
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
