"""Steward's packages have plain names; where another package of the host hides one, say so instead of failing oddly."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("nodes", "tools", "memory")


def check_packages(home: Path, packages: tuple[str, ...] = PACKAGES) -> None:
    """Raises ImportError, in one sentence, where one of the packages is not found beside `graph`, in `home`."""
    for name in packages:
        found = _place(name)
        if found is None or found.parent != home:
            raise ImportError(
                f"Steward's package {name!r}, in {home}, is hidden by {found or 'another module'}: rename that one, or "
                "start Python where it does not come first on the path."
            )


def _place(name: str) -> Path | None:
    """The folder or file that a name leads to; what is imported already counts."""
    module = sys.modules.get(name)
    spec = module.__spec__ if module else find_spec(name)
    if spec is None or spec.origin is None:
        return (
            Path(next(iter(spec.submodule_search_locations)))
            if spec and spec.submodule_search_locations
            else None
        )
    origin = Path(spec.origin)
    return origin.parent if origin.name == "__init__.py" else origin
