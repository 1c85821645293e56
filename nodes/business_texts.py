"""A business's texts as files of their own: prompts, checklists, examples."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Texts:
    """A folder of texts, read when they are asked for.

    texts = Texts(Path(__file__).parent / "texts")
    Intent("booking", texts.text("booking/description.txt"), examples=texts.lines("booking/examples.txt"))
    """

    folder: Path

    def text(self, name: str) -> str:
        """The file of that name, without surrounding white space."""
        return (self.folder / name).read_text(encoding="utf-8").strip()

    def lines(self, *names: str) -> tuple[str, ...]:
        """The lines of these files that are not blank."""
        texts = (self.text(name) for name in names)
        return tuple(line.strip() for text in texts for line in text.splitlines() if line.strip())
