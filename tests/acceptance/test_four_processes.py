"""Four processes that serve one thread at once: everything that was said stands, in whole turns."""

from __future__ import annotations

import json
import re
from pathlib import Path

import psycopg

from tests.support.model_replies import Reply
from tests.support.model_server import ModelServer
from tests.support.processes import Steward

WORDS = [f"message {number}" for number in range(4)]
HELD = "SELECT count(*) FROM thread_lease"


def test_eight_of_eight_messages_stand(tmp_path: Path, database_url: str) -> None:
    def answer(request: dict[str, object]) -> Reply:
        asked = re.findall(r"message \d", str(request["messages"][-1]))  # type: ignore[index]
        return Reply(f"Answer to {asked[-1]}", delay=0.2)

    with ModelServer(answer) as model:
        steward = Steward(
            tmp_path,
            database_url=database_url,
            steward_routing="off",
            steward_review="off",
            steward_long_term_memory="off",
            **model.settings(),
        )
        running = [
            steward.start("chat", words, "--user", "u1", "--thread", "t1", "--json") for words in WORDS
        ]
        for process, words in zip(running, WORDS, strict=True):
            out, err = process.communicate(timeout=240)
            assert process.returncode == 0, err
            assert json.loads(out.splitlines()[-1])["answer"] == f"Answer to {words}"
        asked = [request["messages"] for request in model.requests_of("chat")]
    said = [str(message["content"]) for message in max(asked, key=len) if message["role"] != "system"]
    answered = [text for text in said if text.startswith("Answer to")]
    # The fourth is the answer to this request.
    assert (len(said), len(answered)) == (7, 3)
    for words in WORDS:
        assert sum(words in text for text in said if text not in answered) == 1
    with psycopg.connect(database_url) as connection:
        assert connection.execute(HELD).fetchone() == (0,)
