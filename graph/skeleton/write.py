"""Writes the skeleton of a business into a new folder."""

from __future__ import annotations

import json
import keyword
from importlib.util import find_spec
from pathlib import Path

from graph.server.config import CONFIG
from memory.errors import InvalidInput
from nodes.business import NAME, TAKEN

TEMPLATE = Path(__file__).parent / "template"
ENDING = ".tmpl"
"""Of the template's files, so that nothing takes them for code of ours."""
PACKAGE = "package"
"""What the template calls the folder that is named for the business."""


def write_skeleton(name: str, where: Path) -> list[Path]:
    """The files of a new business `name`, in a folder of that name under `where`; their paths.

    Raises InvalidInput for a name that cannot be a business's and a module's, or a folder that is there already.
    """
    check_name(name)
    folder = where / name
    try:
        folder.mkdir()
    except FileExistsError:
        raise InvalidInput(f"{folder} is there already; choose another name, or move it away.") from None
    except OSError as error:
        raise InvalidInput(f"{folder} cannot be made ({error.strerror}).") from None
    written = [_write(folder, source, name) for source in sorted(TEMPLATE.rglob(f"*{ENDING}"))]
    server = folder / "langgraph.json"
    server.write_text(json.dumps({**CONFIG, "env": ".env"}, indent=2) + "\n", encoding="utf-8")
    return [*written, server]


def check_name(name: str) -> None:
    """Raises InvalidInput where no business or module can be called so."""
    if not NAME.fullmatch(name) or name in TAKEN or keyword.iskeyword(name):
        raise InvalidInput(
            f"A business cannot be called {name!r}: use up to 40 lower-case letters, digits and underscores, beginning "
            "with a letter, and no word of Python or of Steward."
        )
    if find_spec(name) is not None:
        raise InvalidInput(f"A module called {name!r} is installed already; choose another name.")


def _write(folder: Path, source: Path, name: str) -> Path:
    place = str(source.relative_to(TEMPLATE)).removesuffix(ENDING).replace("NAME", name)
    parts = Path(place).parts
    target = folder.joinpath(*(name if part == PACKAGE else part for part in parts))
    target.parent.mkdir(parents=True, exist_ok=True)
    text = source.read_text(encoding="utf-8").replace("{{name}}", name)
    target.write_text(text, encoding="utf-8")
    return target
