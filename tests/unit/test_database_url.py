"""The address of a database leads to a schema of it, or to another database of the same server."""

from __future__ import annotations

import pytest
from psycopg.conninfo import conninfo_to_dict

from memory.database_url import DatabaseUrl


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://bob:p%40ss@db:5432/shop?sslmode=require",
        "postgresql://postgres@/postgres?host=/tmp/run",
        "postgresql://db/shop",
    ],
)
def test_another_place_keeps_everything_else(url: str) -> None:
    address = DatabaseUrl.parse(url)
    before = conninfo_to_dict(address.libpq)
    within = conninfo_to_dict(address.within("steward_clinic").libpq)
    assert within.pop("options") == "-c search_path=steward_clinic,public"
    assert within == before
    assert conninfo_to_dict(address.at("trial 1").libpq) == {**before, "dbname": "trial 1"}


def test_options_that_are_there_stay() -> None:
    address = DatabaseUrl.parse("postgresql://db/shop?options=-c%20geqo%3Doff")
    options = conninfo_to_dict(address.within("a").libpq)["options"]
    assert options == "-c geqo=off -c search_path=a,public"
