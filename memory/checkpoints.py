"""LangGraph's checkpoints in our database: one pool, one serializer policy, encrypted when a key is set."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, LiteralString, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    PendingWrite,
    get_checkpoint_id,
    get_serializable_checkpoint_metadata,
)
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from psycopg import AsyncCursor
from psycopg.rows import DictRow

from memory.checkpoint_rows import Entry, Place, StepRow, ValueRow, WriteRow, goes_on
from memory.checkpoint_serializer import Sealed, make_serializer
from memory.checkpoint_writer import CheckpointWriter
from memory.database import Database
from memory.known_history import History, KnownHistories
from memory.leases import Lease
from memory.settings import MemorySettings
from memory.sql_file import read_sql

COPY_THREAD = read_sql("copy_thread.sql")
DELETE_RUNS = read_sql("delete_runs.sql")
HISTORY = read_sql("channel_history.sql")
SELECT = read_sql("select_checkpoint.sql")
HAS_RUN = """
SELECT FROM checkpoints WHERE metadata ->> 'run_id' = %(run)s AND thread_id = %(thread)s LIMIT 1
"""


class CheckpointSaver(AsyncPostgresSaver):
    """LangGraph's saver on the shared pool.

    Beyond its parent: turns of different threads do not wait for each other (the parent serialises all of them), what
    is to be stored at a time goes in one round trip, a lost connection is a DatabaseUnavailable, runs can be rolled
    back and threads copied on the server, and with a key no text of a conversation is stored in the open. Checkpoint
    metadata (thread, user, step) stays readable.
    """

    SELECT_SQL = SELECT

    def __init__(
        self,
        database: Database,
        serde: SerializerProtocol,
        *,
        sealed: bool,
        copied: Sequence[LiteralString] = (),
    ) -> None:
        pool: Any = database.pool  # of a subclass's connections, which the parent's type does not know
        super().__init__(pool, serde=serde)
        self._copied = copied
        self._database = database
        self._sealed = sealed
        self._writer = CheckpointWriter(database)
        self._known = KnownHistories()
        self._leases: dict[str, Lease] = {}
        """Of the turns that run in this process, by thread."""
        self._empty: set[str] = set()
        """Threads of running turns that have no checkpoint yet."""

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncIterator[AsyncCursor[DictRow]]:
        async with self._database.connection() as connection:
            # A pipeline is one transaction in one round trip; through PgBouncer a plain transaction is the safe way.
            together = connection.transaction() if self._database.pgbouncer else connection.pipeline()
            if pipeline:
                async with together, connection.cursor(binary=True) as cursor:
                    yield cursor
            else:
                async with connection.cursor(binary=True) as cursor:
                    yield cursor

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint, with the next ones of a run that goes on. With a key, plain texts and numbers go the
        encrypted way too."""
        more = goes_on(checkpoint)
        if self._sealed:
            checkpoint, new_versions = _seal(checkpoint, new_versions)
        place = Place(
            config["configurable"]["thread_id"], config["configurable"]["checkpoint_ns"], checkpoint["id"]
        )
        plain, values = _plain_and_other(checkpoint["channel_values"])
        versions = {name: version for name, version in new_versions.items() if name in values}
        snapshots = {name for name, value in values.items() if isinstance(value, _DeltaSnapshot)}
        dump = partial(self._dump_blobs, place.thread_id, place.namespace, values, versions)
        rows = await asyncio.to_thread(dump) if snapshots else dump()
        parent_id = config["configurable"].get("checkpoint_id")
        step = StepRow(
            *place,
            parent_id,
            {**checkpoint, "channel_values": plain},
            cast(dict[str, Any], get_serializable_checkpoint_metadata(config, metadata)),
        )
        entry = Entry(
            needs=parent_id,
            makes=place.checkpoint_id,
            values=[ValueRow(*row) for row in rows],
            step=step,
            holds=frozenset((plain.keys() | values.keys()) - snapshots),
            versions=frozenset(checkpoint["channel_versions"]),
            lease=self._leases.get(place.thread_id) if _ends_a_turn(place, metadata, more) else None,
        )
        self._empty.discard(place.thread_id)
        await self._writer.put(entry, may_wait=more and _in_background(config))
        return {
            "configurable": {
                "thread_id": place.thread_id,
                "checkpoint_ns": place.namespace,
                "checkpoint_id": place.checkpoint_id,
            }
        }

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task has written. An interrupt or an error is stored before this returns."""
        configurable = config["configurable"]
        place = Place(configurable["thread_id"], configurable["checkpoint_ns"], configurable["checkpoint_id"])
        rows = [WriteRow(*row) for row in self._dump_writes(*place, task_id, task_path, writes)]
        entry = Entry(needs=place.checkpoint_id, makes=place.checkpoint_id, writes=rows)
        marked = any(row.is_mark for row in rows)
        await self._writer.put(entry, may_wait=not marked and _in_background(config))

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint, after what this process still had to store."""
        if config["configurable"]["thread_id"] in self._empty:
            return None
        await self._writer.flush()
        return await super().aget_tuple(config)

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """What each channel is made of at a checkpoint, in one round trip a channel."""
        await self._writer.flush()
        checkpoint_id = get_checkpoint_id(config)
        if checkpoint_id is None:
            return await super().aget_delta_channel_history(config=config, channels=channels)
        configurable = config["configurable"]
        place = {
            "thread_id": configurable["thread_id"],
            "namespace": configurable.get("checkpoint_ns", ""),
            "checkpoint_id": checkpoint_id,
        }
        return {channel: await self._history(place, channel) for channel in channels}

    async def _history(self, place: Mapping[str, str], channel: str) -> DeltaChannelHistory:
        key = (place["thread_id"], place["namespace"], channel)
        known = self._known.get(key)
        parameters = {**place, "channel": channel, "known": known.checkpoint_id if known else ""}
        async with self._database.connection() as connection:
            cursor = await connection.execute(HISTORY, parameters, binary=True)
            row = await cursor.fetchone()
        assert row is not None, "an aggregate gives exactly one row"
        if row[
            "seed_is_inline"
        ]:  # a value that was stored whole, before the channel was stored as differences
            config: RunnableConfig = {"configurable": {**place, "checkpoint_ns": place["namespace"]}}
            return (await super().aget_delta_channel_history(config=config, channels=[channel]))[channel]
        history = History.of(place["checkpoint_id"], row)
        if known and row["goes_back_to_known"]:
            history = known.followed_by(history)
        self._known.keep(key, history)
        load = self.serde.loads_typed
        writes: list[PendingWrite] = [
            (task_id, channel, load((kind, blob)))
            for task_id, kind, blob in zip(history.tasks, history.types, history.blobs, strict=True)
        ]
        return {"writes": writes, "seed": load(history.seed)} if history.seed else {"writes": writes}

    def get_next_version(self, current: str | None, channel: None) -> str:
        """One more than `current`, as the parent counts, with a shorter mark against equal versions of two branches."""
        number = int(str(current).split(".")[0]) + 1 if current is not None else 1
        return f"{number:032}.{random.getrandbits(32):08x}"

    async def flush(self) -> None:
        """Store what still waits, of all threads."""
        await self._writer.flush()

    @asynccontextmanager
    async def turn(self, lease: Lease, *, empty: bool) -> AsyncIterator[None]:
        """A turn of whoever holds the thread: it goes on from what is stored, whatever an earlier run could not store,
        and everything of it is stored in the end. Its last step gives the lease back.

        `empty`: there was no checkpoint yet when the thread was taken.
        """
        thread_id = lease.thread_id
        self._writer.forget_failures(thread_id)
        self._leases[thread_id] = lease
        if empty:
            self._empty.add(thread_id)
        try:
            yield
        finally:
            del self._leases[thread_id]
            self._empty.discard(thread_id)
            await self._writer.flush()

    async def has_run(self, config: RunnableConfig, run_id: str) -> bool:
        """Whether a run of the server has stored a checkpoint of the thread."""
        place = {"thread": config["configurable"]["thread_id"], "run": run_id}
        return await self._database.fetch_one(HAS_RUN, place) is not None

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Undo runs, as the server's rollback asks; a run that a later one has built on is kept whole."""
        async with self._database.connection() as connection:
            await connection.execute(DELETE_RUNS, ([str(run_id) for run_id in run_ids],))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread with its whole history, and what other packages keep of it; rows that the target has already
        stay."""
        await self._writer.flush()
        threads = {"source": source_thread_id, "target": target_thread_id}
        async with self._database.transaction() as connection:
            for statement in (COPY_THREAD, *self._copied):
                await connection.execute(statement, threads)


def make_checkpointer(
    database: Database, settings: MemorySettings, *, copied: Sequence[LiteralString] = ()
) -> CheckpointSaver:
    """The saver for this event loop. Its tables come from `migrate`.

    `copied` are the statements of other packages that copy what they keep of the thread `source` to `target`.
    """
    sealed = settings.steward_encryption_key is not None
    return CheckpointSaver(database, make_serializer(settings), sealed=sealed, copied=copied)


def _plain_and_other(values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What stands in the checkpoint itself, and what has a row of its own; a snapshot leaves a mark behind."""
    plain: dict[str, Any] = {}
    other: dict[str, Any] = {}
    for name, value in values.items():
        if value is None or isinstance(value, str | int | float):
            plain[name] = value
        else:
            other[name] = value
            if isinstance(value, _DeltaSnapshot):
                plain[name] = True
    return plain, other


def _ends_a_turn(place: Place, metadata: CheckpointMetadata, more: bool) -> bool:
    """Whether nothing of the turn follows: no step of its own, of a graph inside a stage, or of an edited state."""
    return not more and not place.namespace and metadata["source"] == "loop"


def _in_background(config: RunnableConfig) -> bool:
    """Whether the run goes on while its checkpoints are being stored: LangGraph's default."""
    return bool(config["configurable"].get("__pregel_durability", "async") == "async")


def _seal(checkpoint: Checkpoint, new_versions: ChannelVersions) -> tuple[Checkpoint, ChannelVersions]:
    values = checkpoint["channel_values"]
    # True and None carry no text; the saver uses True as a mark of its own.
    plain = {
        name for name, value in values.items() if isinstance(value, str | int | float) and value is not True
    }
    sealed = {name: Sealed(value) if name in plain else value for name, value in values.items()}
    # A value that was written before the key was set has no blob yet: name its version again, known ones are skipped.
    versions = {name: checkpoint["channel_versions"][name] for name in plain}
    copy = checkpoint.copy()
    copy["channel_values"] = sealed
    return copy, {**new_versions, **versions}
