"""Migrations are applied once, in order, whoever comes first."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from procrastinate.schema import SchemaManager

from memory.database import Database
from memory.errors import SchemaError
from memory.migrate import migrate, pending

TABLES = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "0001_first.sql").write_text("CREATE TABLE first (id int); CREATE TABLE other (id int);")
    (tmp_path / "0002_second.sql").write_text("ALTER TABLE first ADD COLUMN name text;")
    return tmp_path


@pytest.fixture
async def empty(empty_database_url: str) -> AsyncIterator[Database]:
    async with Database(empty_database_url, size=1) as database:
        yield database


async def test_an_empty_database_gets_everything_and_a_second_run_does_nothing(
    empty: Database, folder: Path
) -> None:
    await migrate(empty, [("demo", folder)])
    assert await migrate(empty, [("demo", folder)]) == []
    names = {row["table_name"] for row in await empty.fetch(TABLES)}
    assert {"first", "other", "checkpoints", "checkpoint_blobs", "procrastinate_jobs"} <= names
    await AsyncPostgresSaver(empty.pool).setup()


async def test_new_files_are_applied_to_a_database_that_has_the_old_ones(
    empty: Database, folder: Path
) -> None:
    await migrate(empty, [("demo", folder)])
    (folder / "0003_third.sql").write_text("CREATE TABLE third (id int);")
    assert [str(done) for done in await migrate(empty, [("demo", folder)])] == ["demo/0003_third"]


async def test_a_failing_file_is_undone_and_those_before_it_stay(empty: Database, folder: Path) -> None:
    (folder / "0003_broken.sql").write_text("CREATE TABLE half (id int); SELECT 1/0;")
    with pytest.raises(SchemaError, match="demo/0003_broken failed and was undone"):
        await migrate(empty, [("demo", folder)])
    names = {row["table_name"] for row in await empty.fetch(TABLES)}
    assert "first" in names
    assert "half" not in names
    assert [str(left) for left in await pending(empty, [("demo", folder)])] == ["demo/0003_broken"]


async def test_a_schema_newer_than_the_code_is_refused(empty: Database, folder: Path) -> None:
    await migrate(empty, [("demo", folder)])
    (folder / "0002_second.sql").unlink()
    with pytest.raises(SchemaError, match="newer than this code: it has demo/0002"):
        await migrate(empty, [("demo", folder)])


async def test_an_applied_file_that_was_changed_is_refused(empty: Database, folder: Path) -> None:
    await migrate(empty, [("demo", folder)])
    (folder / "0001_first.sql").write_text("CREATE TABLE first (id bigint);")
    with pytest.raises(SchemaError, match="has been changed after it was applied"):
        await migrate(empty, [("demo", folder)])


async def test_line_ends_of_a_checkout_do_not_count_as_a_change(empty: Database, folder: Path) -> None:
    await migrate(empty, [("demo", folder)])
    path = folder / "0001_first.sql"
    path.write_bytes(path.read_bytes().replace(b";", b";\r\n"))
    path.write_bytes(path.read_bytes().replace(b";\r\n", b";"))
    assert await migrate(empty, [("demo", folder)]) == []


@pytest.mark.parametrize("name", ["1_short.sql", "0001_Upper.sql", "0001-dash.sql"])
async def test_a_misnamed_file_is_told(empty: Database, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("SELECT 1")
    with pytest.raises(SchemaError, match="is not named NNNN_name"):
        await migrate(empty, [("demo", tmp_path)])


async def test_two_files_with_one_number_are_told(empty: Database, folder: Path) -> None:
    (folder / "0002_again.sql").write_text("SELECT 1")
    with pytest.raises(SchemaError, match="two migrations with number 0002"):
        await migrate(empty, [("demo", folder)])


async def test_the_check_of_a_current_schema_is_one_query(empty: Database, folder: Path) -> None:
    await migrate(empty, [("demo", folder)])
    queries: list[str] = []
    fetch = empty.fetch

    async def counted(query: str, params: object = None) -> list[dict[str, object]]:
        queries.append(query)
        return await fetch(query, params)

    empty.fetch = counted  # type: ignore[method-assign]
    await migrate(empty, [("demo", folder)])
    assert len(queries) == 1


async def test_the_queue_built_by_its_migrations_equals_its_own_schema(
    empty: Database,
) -> None:
    columns = """
        SELECT table_name, column_name, data_type, is_nullable, column_default
        FROM information_schema.columns WHERE table_name LIKE 'procrastinate%' ORDER BY 1, 2
    """
    functions = "SELECT proname, prosrc FROM pg_proc WHERE proname LIKE 'procrastinate%' ORDER BY 1, 2"
    indexes = "SELECT indexdef FROM pg_indexes WHERE tablename LIKE 'procrastinate%' ORDER BY 1"
    await migrate(empty, [])
    ours = [await empty.fetch(query) for query in (columns, functions, indexes)]
    await empty.execute("DROP SCHEMA public CASCADE")
    await empty.execute("CREATE SCHEMA public")
    async with empty.connection() as connection:
        await connection.execute(SchemaManager.get_schema(), prepare=False)
    theirs = [await empty.fetch(query) for query in (columns, functions, indexes)]
    assert ours == theirs
