"""The base of all responses."""

from __future__ import annotations

import json
from collections.abc import Hashable
from functools import lru_cache
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, WrapValidator
from pydantic_core.core_schema import ValidatorFunctionWrapHandler

T = TypeVar("T")


class Model(BaseModel):
    """A response: read-only; fields that this version does not know are left out."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


def _any_value(value: object, known: ValidatorFunctionWrapHandler) -> object:
    is_plain = isinstance(value, str | int) and not isinstance(value, bool)
    return value if is_plain else known(value)


#: Accepts values beyond the listed ones: one that the exchange adds must not break a client.
Open = WrapValidator(_any_value)


def none_if_empty(value: object) -> object:
    """Things that do not exist are an empty text on the wire (conventions.md 1.1)."""
    return None if value == "" else value


def json_list(value: object) -> object:
    """Lists of the catalog are JSON inside a text."""
    return json.loads(value) if isinstance(value, str) else value


class UnexpectedAnswerError(Exception):
    """A response of another form than docs/openapi.json declares."""


@lru_cache(maxsize=256)
def _adapter(kind: Hashable) -> TypeAdapter[Any]:
    return TypeAdapter(cast("Any", kind))


def parse(kind: type[T], value: object) -> T:
    """The response as its type. Raises `UnexpectedAnswerError` for another form."""
    try:
        return cast("T", _adapter(cast("Hashable", kind)).validate_python(value))
    except ValidationError as cause:
        raise UnexpectedAnswerError(f"not a {getattr(kind, '__name__', kind)}: {cause}") from cause
