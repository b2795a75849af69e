"""Between rows and dataclasses: the columns of `memory` and `strength`, in one order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..schemas.memory import Entity, Kind, Memory, NewMemory, Provenance, Slot, State, Strength
from .attic import unpack

FLAG_QUESTION = 1
FLAG_FIRST_PERSON = 2
# Most memories have no slots and no tags, and a store is read a thousand memories a second.
_NONE = "[]"

STRENGTH_COLUMNS = (
    "state, bit_width, uses, spaced_uses, last_use_at, anchor_tau, association, activation, activation_tau,"
    " stability, rate, heat_day, heat_mask"
)

MEMORY_COLUMNS = (
    "m.seq, m.id, (SELECT key FROM scope WHERE id = m.scope), m.kind, m.content, a.codec, a.body, m.gist, m.cue,"
    " m.entities, m.slots, m.tags, m.importance, m.arousal, m.confirmations, m.trust, m.pinned, m.actor, m.client,"
    " m.session, m.tool, m.source, m.recorded_at, m.valid_from, m.valid_to, m.superseded_by, m.expires_at,"
    " m.forgotten_at, m.version, m.merged_into, m.gist_of, "
    + ", ".join(f"s.{name.strip()}" for name in STRENGTH_COLUMNS.split(","))
)

MEMORY_SOURCE = "FROM memory m JOIN strength s USING (seq) LEFT JOIN attic a USING (seq)"


def insert_values(new: NewMemory, scope: int, content_hash: bytes) -> dict[str, Any]:
    """The bindings of an INSERT into `memory`."""
    shape, origin = new.shape, new.provenance
    return {
        "id": new.id,
        "scope": scope,
        "kind": str(new.kind),
        "content": new.content,
        "content_hash": content_hash,
        "gist": new.gist,
        "cue": new.cue,
        "entities": json.dumps([[entity.kind, entity.value] for entity in new.entities], ensure_ascii=False),
        "slots": slots_json(new.slots),
        "tags": json.dumps(list(new.tags), ensure_ascii=False),
        "importance": new.importance,
        "arousal": new.arousal,
        "pinned": int(new.pinned),
        "trust": new.trust,
        "actor": origin.actor,
        "client": origin.client,
        "session": origin.session,
        "tool": origin.tool,
        "source": origin.source,
        "event_id": new.event_id,
        "gist_of": new.gist_of,
        "words": shape.words,
        "characters": len(new.content),
        "speaker": shape.speaker,
        "flags": FLAG_QUESTION * shape.question + FLAG_FIRST_PERSON * shape.first_person,
        "time_words": shape.time_words,
        "recorded_at": new.recorded_at,
        "valid_from": new.valid_from,
        "valid_to": new.valid_to,
        "expires_at": new.expires_at,
    }


def strength_values(strength: Strength) -> tuple[Any, ...]:
    """The values of `STRENGTH_COLUMNS`."""
    return (
        int(strength.state),
        strength.bit_width,
        strength.uses,
        strength.spaced_uses,
        strength.last_use_at,
        strength.anchor_tau,
        strength.association,
        strength.activation,
        strength.activation_tau,
        strength.stability,
        strength.rate,
        strength.heat_day,
        strength.heat_mask,
    )


def to_strength(values: Sequence[Any]) -> Strength:
    """A strength from the values of `STRENGTH_COLUMNS`."""
    return Strength(State(values[0]), *values[1:])


def to_memory(row: Sequence[Any]) -> Memory:
    """A memory from the values of `MEMORY_COLUMNS`, its text unpacked when it lies in the attic."""
    seq, identifier, scope, kind, content, codec, body, gist, cue, entities, slots, tags = row[:12]
    importance, arousal, confirmations, trust, pinned, actor, client, session, tool, source = row[12:22]
    recorded_at, valid_from, valid_to, superseded_by, expires_at, forgotten_at, version, merged_into, gist_of = row[
        22:31
    ]
    return Memory(
        seq=seq,
        id=identifier,
        scope=scope,
        kind=Kind(kind),
        content=unpack(codec, body) if content is None else content,
        gist=gist,
        cue=cue,
        entities=() if entities == _NONE else tuple(Entity(*pair) for pair in json.loads(entities)),
        slots=to_slots(slots),
        tags=() if tags == _NONE else tuple(json.loads(tags)),
        importance=importance,
        arousal=arousal,
        confirmations=confirmations,
        trust=trust,
        pinned=bool(pinned),
        provenance=Provenance(actor, client, session, tool, source),
        recorded_at=recorded_at,
        valid_from=valid_from,
        valid_to=valid_to,
        superseded_by=superseded_by,
        expires_at=expires_at,
        forgotten_at=forgotten_at,
        version=version,
        strength=to_strength(row[31:]),
        merged_into=merged_into,
        gist_of=gist_of,
    )


def slots_json(slots: Sequence[Slot]) -> str:
    """Slots as the JSON that the column holds."""
    return json.dumps([[slot.subject, slot.attribute, slot.value, slot.polarity] for slot in slots], ensure_ascii=False)


def to_slots(text: str) -> tuple[Slot, ...]:
    """Slots from the column's JSON."""
    return () if text == _NONE else tuple(Slot(*parts) for parts in json.loads(text))
