"""The business that STEWARD_BUSINESS names, for every way of use: command line, server, worker, pictures, doctor."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from graph.settings import Settings
from memory.errors import ConfigurationError, StewardError
from nodes.business import Business


def chosen_business(settings: Settings) -> Business:
    """The declaration behind `module:NAME`. The working directory is searched after everything that is installed.

    Raises ConfigurationError, in one sentence, where it cannot be had.
    """
    written = settings.steward_business
    module, _, name = written.partition(":")
    if not module or not name:
        raise ConfigurationError(
            f"STEWARD_BUSINESS is {written!r}: write MODULE:NAME, such as examples.clinic:CLINIC."
        )
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    found = getattr(_imported(module), name, None)
    if not isinstance(found, Business):
        what = (
            "has no such name" if found is None else f"holds a {type(found).__name__} under it, no Business"
        )
        raise ConfigurationError(f"STEWARD_BUSINESS names {written}, but the module {what}; correct it.")
    return found


def _imported(module: str) -> object:
    try:
        return import_module(module)
    except StewardError:
        raise
    except Exception as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name is not None
        if missing and f"{module}.".startswith(f"{error.name}."):  # type: ignore[attr-defined]
            text = "start from the folder that holds it, or install it"
            raise ConfigurationError(f"STEWARD_BUSINESS: there is no module {module!r}; {text}.") from error
        said = " ".join(str(error).split())
        raise ConfigurationError(
            f"STEWARD_BUSINESS: importing {module!r} failed ({type(error).__name__}: {said}); mend that module."
        ) from error
