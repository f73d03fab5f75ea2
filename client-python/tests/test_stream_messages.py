"""Messages of streams have the types that docs/asyncapi.json declares."""

from __future__ import annotations

import copy
import json
from decimal import Decimal
from typing import Any, cast, get_args

import pytest
from pydantic import BaseModel

from exchange_client._model import Model, parse
from exchange_client.models import Activity
from exchange_client.streams import messages
from exchange_client.streams.book import Book, book_update
from exchange_client.streams.frames import LogPosition, parse_frame
from exchange_client.streams.subscription import Subscription

from .declared_frames import DeclaredFrame, Json, example_of, frames, problem_of, resolved
from .test_models import leaves, numbers

kinds: dict[str, type[Model]] = {
    "BestSnapshotMessage": messages.BestMessage,
    "BestDeltaMessage": messages.BestMessage,
    "OrdersSnapshotMessage": messages.OrdersSnapshot,
    "OrdersDeltaMessage": messages.OrderChange,
    "OrdersRemovalMessage": messages.OrderChange,
    "TradeMessage": messages.TradeMessage,
    "MarketsSnapshotMessage": messages.MarketMessage,
    "MarketsEventMessage": messages.MarketMessage,
    "ActivityMessage": messages.ActivityMessage,
    "CommentMessage": messages.CommentMessage,
    "OwnSnapshotMessage": messages.OwnSnapshot,
    "OwnOrderMessage": messages.OwnOrderEvent,
    "OwnFillMessage": messages.OwnFill,
    "OwnBalanceMessage": messages.OwnBalance,
    "OwnPositionMessage": messages.OwnPosition,
    "OwnTransfersMessage": messages.OwnTransfers,
    "OwnSessionMessage": messages.OwnSession,
}
#: Read as a book, or only as the place where the events of a channel begin.
without_model = {
    "BookSnapshotMessage",
    "BookDeltaMessage",
    "BookChecksumMessage",
    "TradesSnapshotMessage",
    "ActivitySnapshotMessage",
    "CommentsSnapshotMessage",
}
#: What a subscription uses up: the loop knows its channel, and parts come as one.
not_kept = {"type", "channel", "prev", "part", "more"}

data_frames = [one for one in frames if "channel" in one.properties and one.name in kinds]


def fields_of(kind: type[BaseModel]) -> dict[str, object]:
    return {field.alias or name: field.annotation for name, field in kind.model_fields.items()}


def test_every_declared_message_is_known() -> None:
    declared = {one.name for one in frames if one.name.endswith("Message")}
    assert declared == set(kinds) | without_model


@pytest.mark.parametrize("frame", frames, ids=lambda frame: frame.name)
def test_the_example_of_a_frame_is_declared(frame: DeclaredFrame) -> None:
    assert problem_of(frame.example, of_client=frame.is_of_client) is None
    wrong = {**frame.example, "a field of nobody": 1}
    assert problem_of(wrong, of_client=frame.is_of_client) is not None


def parts_of(schema: Json, kind: object) -> list[tuple[Json, type[BaseModel]]]:
    """The objects of a schema with the models that they become."""
    plain = resolved(schema)
    members = cast("list[Json]", plain.get("anyOf", []))
    if members:
        return [part for one in members for part in parts_of(one, kind)]
    if plain.get("type") == "array":
        return parts_of(cast("Json", plain["items"]), kind)
    if "properties" not in plain:
        return []
    classes = [one for one in [kind, *nested(kind)] if isinstance(one, type)]
    if LogPosition in classes:
        assert set(cast("Json", plain["properties"])) == {"partition", "offset", "index"}
        return []
    [model] = [one for one in classes if issubclass(one, BaseModel)]
    properties = cast("dict[str, Json]", plain["properties"])
    inner = fields_of(model)
    found = [part for name in properties for part in parts_of(properties[name], inner.get(name))]
    return [(plain, model), *found]


def nested(kind: object) -> list[object]:
    return [inner for one in get_args(kind) for inner in [one, *nested(one)]]


@pytest.mark.parametrize("frame", data_frames, ids=lambda frame: frame.name)
def test_a_message_has_the_declared_fields(frame: DeclaredFrame) -> None:
    kind = kinds[frame.name]
    fields = fields_of(kind)
    assert set(frame.properties) - set(fields) <= not_kept
    optional_here = {"gap", "action", "merged", "side", "price", "size", "kind"}
    assert set(fields) - set(frame.properties) <= optional_here
    for name in set(frame.properties) & set(fields):
        for schema, model in parts_of(frame.properties[name], fields[name]):
            if model is not Activity:
                assert set(cast("Json", schema["properties"])) == set(fields_of(model)), name


@pytest.mark.parametrize("frame", data_frames, ids=lambda frame: frame.name)
def test_a_message_keeps_what_its_example_says(frame: DeclaredFrame) -> None:
    value = parse(kinds[frame.name], parse_frame(json.dumps(frame.example)))
    kept = value.model_dump(mode="json", by_alias=True)
    assert numbers(kept) <= numbers(frame.example)
    assert not any(isinstance(one, float) for one in leaves(value.model_dump()))


def variants(schema: Json, example: object) -> list[object]:
    """The example with each listed value and each null in the places where they may be."""
    plain = resolved(schema)
    if "enum" in plain:
        return list(cast("list[object]", plain["enum"]))
    found: list[object] = []
    members = cast("list[Json]", plain.get("anyOf", []))
    for one in members:
        found += [None] if one.get("type") == "null" else variants(one, example)
    if members:
        return found
    properties = cast("dict[str, Json]", plain.get("properties", {}))
    if isinstance(example, dict):
        for name, inner in properties.items():
            for value in variants(inner, example.get(name)) if name in example else []:
                found.append({**example, name: value})
    if isinstance(example, list) and example:
        found += [[value] for value in variants(cast("Json", plain["items"]), example[0])]
    return found


@pytest.mark.parametrize("frame", data_frames, ids=lambda frame: frame.name)
def test_a_message_takes_every_declared_value(frame: DeclaredFrame) -> None:
    for variant in [frame.example, *variants(frame.schema, frame.example)]:
        frame_sent = cast("Json", copy.deepcopy(variant))
        if problem_of(frame_sent, of_client=False) is not None:
            # A list that is shorter than declared.
            continue
        text = json.dumps(frame_sent)
        value = parse(kinds[frame.name], parse_frame(text))
        assert isinstance(value, kinds[frame.name]), text


def sent(name: str) -> Json:
    return parse_frame(json.dumps(example_of(name)))


def test_a_book_is_made_of_the_declared_messages() -> None:
    snapshot, delta = sent("BookSnapshotMessage"), sent("BookDeltaMessage")
    book = Book(str(snapshot["token"]))
    update = book_update(book, snapshot)
    rows = cast("list[dict[str, Any]]", snapshot["bids"])
    assert [(one.price, one.size) for one in update.bids] == [
        (Decimal(row["price"]), Decimal(row["size"])) for row in rows
    ]
    assert update.seq == snapshot["seq"]
    changed = book_update(book, delta)
    assert (changed.merged, changed.is_snapshot) == (delta["merged"], False)
    assert len(book.hash(sent("BookChecksumMessage"))) == 40


@pytest.mark.parametrize(
    ("channel", "keys"),
    [
        ("book", ["7"]),
        ("trades", ["0x" + "1" * 64]),
        ("comments", ["1"]),
        ("markets", []),
        ("own", []),
    ],
)
def test_what_a_subscription_sends_is_declared(channel: Any, keys: list[str]) -> None:  # noqa: ANN401
    after = {"0": 5} if channel == "own" else dict.fromkeys(keys, 5)
    for one in (Subscription(channel, keys), Subscription(channel, keys, after=after)):
        for frame in [*one.subscribe_frames(), *one.unsubscribe_frames()]:
            assert problem_of({**frame, "id": 1}, of_client=True) is None
