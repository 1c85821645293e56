"""Users whose ids look alike are served their own rows and nobody else's (M11)."""

from __future__ import annotations

from pathlib import Path

from bench.lookalikes import run, users


async def test_users_with_look_alike_ids_all_at_once_see_nothing_of_one_another(
    database_url: str, tmp_path: Path
) -> None:
    assert len({user.id for user in users(250)}) == 250
    assert await run(tmp_path, 24, database_url) == []
