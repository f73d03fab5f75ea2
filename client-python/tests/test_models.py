"""Models of responses: up to date, and fit for every example of the interface."""

from __future__ import annotations

import json
import re
import sys
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from types import GenericAlias
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter

from exchange_client import UnexpectedAnswerError, models
from exchange_client._model import Model, parse
from exchange_client.refusals import refusals

sys.path.insert(0, str(Path(__file__).parent.parent / "scripts"))
import generate

document = json.loads((generate.docs / "openapi.json").read_text("utf-8"), parse_float=Decimal)
generator = generate.Generator(document["components"]["schemas"])
examples = [
    (operation, kind, response["content"]["application/json"]["example"])
    for path in document["paths"].values()
    for method, details in path.items()
    if method != "options"
    for status, response in details["responses"].items()
    if status.startswith("2") and "application/json" in response.get("content", {})
    for operation in [details["operationId"]]
    for kind in [
        generator.type_of(
            response["content"]["application/json"]["schema"],
            f"{generate.pascal(operation)}Response",
        )
    ]
]


def test_the_generated_files_are_up_to_date() -> None:
    stale = [
        path.name for path, text in generate.generated().items() if path.read_text("utf-8") != text
    ]
    assert stale == [], "run python scripts/generate.py"


def type_named(expression: str) -> Any:  # noqa: ANN401
    return eval(expression, {**vars(models), "list": list, "dict": dict})


@pytest.mark.parametrize(
    ("operation", "kind", "example"), examples, ids=[one[0] for one in examples]
)
def test_each_example_of_a_response_fits_its_model(
    operation: str, kind: str, example: object
) -> None:
    if operation == "listBalances":
        # Amounts are declared as texts only there, and so is the example.
        example = json.loads(json.dumps(example, default=str).replace('"text"', '"1.5"'))
    value = TypeAdapter(type_named(kind)).validate_python(example)
    assert value is not None, operation
    # What the model keeps is what the example says, number by number.
    kept = TypeAdapter(type_named(kind)).dump_python(value, mode="json", by_alias=True)
    assert numbers(kept) <= numbers(example)
    assert not any(
        isinstance(one, float) for one in leaves(TypeAdapter(type_named(kind)).dump_python(value))
    )


def leaves(value: object) -> list[object]:
    if isinstance(value, dict):
        return [leaf for one in value.values() for leaf in leaves(one)]
    if isinstance(value, list):
        return [leaf for one in value for leaf in leaves(one)]
    return [value]


def numbers(value: object) -> set[Decimal]:
    """Numbers of a value, those in texts too."""
    found: set[Decimal] = set()
    for leaf in leaves(value):
        if isinstance(leaf, bool):
            continue
        if isinstance(leaf, int | Decimal) or (
            isinstance(leaf, str) and re.fullmatch(r"-?\d+(\.\d+)?", leaf)
        ):
            found.add(Decimal(leaf))
    return found


def test_no_field_of_any_model_is_a_float() -> None:
    for name, model in vars(models).items():
        if isinstance(model, type) and issubclass(model, Model):
            for field in model.model_fields.values():
                assert "float" not in str(field.annotation), name


def test_amounts_times_and_empty_texts_have_types() -> None:
    result = parse(
        models.PlacementResult,
        {
            "success": True,
            "errorMsg": "",
            "orderID": "0x1",
            "orderHash": "0x1",
            "status": "a status of tomorrow",
            "makingAmount": "5.2",
            "takingAmount": "",
            "a field of tomorrow": 1,
        },
    )
    assert result.making_amount == Decimal("5.2")
    assert result.taking_amount is None
    assert str(result.status) == "a status of tomorrow"
    day = parse(datetime, "2026-06-01T12:00:00.000Z")
    assert day == datetime(2026, 6, 1, 12, tzinfo=UTC)


def test_a_response_of_another_form_is_an_error() -> None:
    with pytest.raises(UnexpectedAnswerError):
        parse(models.BookSnapshot, {"bids": []})


def test_the_list_of_refusals_is_complete() -> None:
    page = (generate.docs / "trading" / "errors.md").read_text("utf-8")
    codes = set(re.findall(r"^\| `(\w+)` \| \d{3} \|", page, re.M))
    assert set(refusals) == codes
    assert refusals["too_late"].final
    assert refusals["internal_error"].retry


def test_aliases_of_lists_are_types() -> None:
    assert isinstance(models.EventList, GenericAlias)
    assert get_args(models.EventList) == (models.EventListItem,)
