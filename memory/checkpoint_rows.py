"""What is to be stored of a run as rows of LangGraph's tables, and as the parameters of one statement. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from langgraph.checkpoint.base import WRITES_IDX_MAP, Checkpoint
from psycopg.types.json import Jsonb

from memory.leases import Lease


class Place(NamedTuple):
    """A checkpoint's place in its thread."""

    thread_id: str
    namespace: str
    checkpoint_id: str


class WriteRow(NamedTuple):
    """What a task has written to a channel, kept with the checkpoint that the task belongs to."""

    thread_id: str
    namespace: str
    checkpoint_id: str
    task_id: str
    task_path: str
    idx: int
    channel: str
    type: str
    blob: bytes

    @property
    def place(self) -> Place:
        return Place(self.thread_id, self.namespace, self.checkpoint_id)

    @property
    def key(self) -> tuple[str, ...]:
        return (self.thread_id, self.namespace, self.checkpoint_id, self.task_id, str(self.idx))

    @property
    def is_mark(self) -> bool:
        """An interrupt, an error or an answer to one: written anew where it is there already."""
        return self.channel in WRITES_IDX_MAP


class ValueRow(NamedTuple):
    """One version of a channel's value."""

    thread_id: str
    namespace: str
    channel: str
    version: str
    type: str
    blob: bytes | None


class StepRow(NamedTuple):
    """A checkpoint, as JSON."""

    thread_id: str
    namespace: str
    checkpoint_id: str
    parent_id: str | None
    checkpoint: Mapping[str, Any]
    metadata: Mapping[str, Any]


@dataclass(frozen=True)
class Entry:
    """Rows that are stored together or not at all."""

    needs: str | None
    """Id of the checkpoint without which they make no sense."""
    makes: str
    """Id of the checkpoint that is incomplete without them."""
    writes: Sequence[WriteRow] = ()
    values: Sequence[ValueRow] = ()
    step: StepRow | None = None
    holds: frozenset[str] = frozenset()
    """Channels whose value the checkpoint holds, so that nobody needs what its parent's tasks wrote to them. A
    channel that is stored as differences is none, even where the checkpoint has all of it."""
    versions: frozenset[str] = frozenset()
    """Channels that the checkpoint knows."""
    lease: Lease | None = None
    """Given back with the last step of a turn."""

    def outdates(self, write: WriteRow) -> bool:
        """Whether a write to this checkpoint's parent has found its way into this checkpoint."""
        return not write.is_mark and (write.channel in self.holds or write.channel not in self.versions)


def goes_on(checkpoint: Checkpoint) -> bool:
    """Whether the run has a further step after this checkpoint."""
    values = checkpoint["channel_values"]
    return bool(values.get("__pregel_tasks")) or any(
        name == "__start__" or name.startswith("branch:to:") for name in values
    )


@dataclass
class Batch:
    """Entries of any number of threads, to be stored by one statement."""

    writes: dict[tuple[str, ...], WriteRow] = field(default_factory=dict)
    marks: dict[tuple[str, ...], WriteRow] = field(default_factory=dict)
    values: dict[tuple[str, ...], ValueRow] = field(default_factory=dict)
    steps: dict[tuple[str, ...], StepRow] = field(default_factory=dict)
    outdated: list[WriteRow] = field(default_factory=list)
    leases: list[Lease] = field(default_factory=list)

    @classmethod
    def of(cls, entries: Iterable[Entry], stored: Mapping[Place, Sequence[WriteRow]]) -> Batch:
        """The entries in their order. `stored` are writes of earlier batches whose checkpoint may be overtaken."""
        batch = cls()
        for entry in entries:
            batch._add(entry, stored)
        return batch

    def _add(self, entry: Entry, stored: Mapping[Place, Sequence[WriteRow]]) -> None:
        for write in entry.writes:
            if write.is_mark:
                self.marks[write.key] = write
            else:
                self.writes.setdefault(write.key, write)
        for value in entry.values:
            self.values.setdefault(value[:4], value)
        if (step := entry.step) is None:
            return
        self.steps[step[:3]] = step
        if entry.lease is not None:
            self.leases.append(entry.lease)
        if step.parent_id is not None:
            parent = Place(step.thread_id, step.namespace, step.parent_id)
            here = [write for write in self.writes.values() if write.place == parent]
            for write in filter(entry.outdates, here):
                del self.writes[write.key]
            self.outdated.extend(filter(entry.outdates, stored.get(parent, ())))

    def parameters(self) -> dict[str, Any]:
        """Of `store_checkpoints.sql`."""
        heap = bytearray()
        old = [(w.thread_id, w.namespace, w.checkpoint_id, w.task_id, w.idx) for w in self.outdated]
        return {
            "outdated": Jsonb([dict(zip(_OLD, row, strict=True)) for row in old]),
            "writes": _with_bytes(_WRITE, self.writes.values(), heap),
            "marks": _with_bytes(_WRITE, self.marks.values(), heap),
            "values": _with_bytes(_VALUE, self.values.values(), heap),
            "steps": Jsonb([dict(zip(_STEP, step, strict=True)) for step in self.steps.values()]),
            "leases": Jsonb([{"thread_id": lease.thread_id, "owner": lease.owner} for lease in self.leases]),
            "bytes": bytes(heap),
        }


_PLACE = ("thread_id", "checkpoint_ns", "checkpoint_id")
_OLD = (*_PLACE, "task_id", "idx")
_WRITE = (*_PLACE, "task_id", "task_path", "idx", "channel", "type")
_VALUE = ("thread_id", "checkpoint_ns", "channel", "version", "type")
_STEP = (*_PLACE, "parent_checkpoint_id", "checkpoint", "metadata")


def _with_bytes(names: Sequence[str], rows: Iterable[WriteRow | ValueRow], heap: bytearray) -> Jsonb:
    """The rows as JSON. Their bytes join the heap; `first` counts from 1, as Postgres does, and is missing where a row
    has no bytes."""
    objects = []
    for row in rows:
        found = dict(zip(names, row, strict=False))
        if row.blob is not None:
            found |= {"first": len(heap) + 1, "length": len(row.blob)}
            heap += row.blob
        objects.append(found)
    return Jsonb(objects)
