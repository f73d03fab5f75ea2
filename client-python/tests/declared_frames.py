"""Frames of streams as docs/asyncapi.json declares them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

Json: TypeAlias = dict[str, object]

_file = Path(__file__).parent.parent.parent / "docs" / "asyncapi.json"
document = json.loads(_file.read_text("utf-8"))
schemas: dict[str, Json] = document["components"]["schemas"]


@dataclass(frozen=True)
class DeclaredFrame:
    """A frame of the document."""

    name: str
    is_of_client: bool
    schema: Json
    validator: Draft202012Validator
    example: Json

    @property
    def properties(self) -> dict[str, Json]:
        return cast("dict[str, Json]", self.schema["properties"])

    def constant(self, name: str) -> object:
        return self.properties.get(name, {}).get("const")

    def is_meant_by(self, frame: Json) -> bool:
        names = ("op", "type", "channel", "kind")
        return all(self.constant(name) in (None, frame.get(name)) for name in names)

    def problem_of(self, frame: Json) -> str | None:
        unknown = sorted(set(frame) - set(self.properties))
        if unknown:
            return f"{self.name} has no {', '.join(unknown)}"
        error = best_match(self.validator.iter_errors(frame))
        return None if error is None else f"{self.name} at {error.json_path}: {error.message}"


def resolved(schema: Json) -> Json:
    """The schema that a reference names."""
    reference = schema.get("$ref")
    return schema if reference is None else schemas[str(reference).rsplit("/", 1)[-1]]


def _declared(name: str, message: Json) -> DeclaredFrame:
    payload = cast("Json", message["payload"])
    [example] = cast("list[Json]", message["examples"])
    whole = {**payload, "components": document["components"]}
    return DeclaredFrame(
        name=name,
        is_of_client=name.startswith("Client"),
        schema=resolved(payload),
        validator=Draft202012Validator(whole),
        example=cast("Json", example["payload"]),
    )


#: The family's streams are of other clients, and some of their frames are plain text.
_messages = document["components"]["messages"]
frames = [_declared(name, _messages[name]) for name in document["channels"]["stream"]["messages"]]


def problem_of(frame: Json, *, of_client: bool) -> str | None:
    """Why a frame is none of the declared ones; None for a right one."""
    meant = [one for one in frames if one.is_of_client == of_client and one.is_meant_by(frame)]
    problems = [one.problem_of(frame) for one in meant]
    if None in problems:
        return None
    shown = json.dumps(frame)[:300]
    return f"{'; '.join(one or '' for one in problems) or 'not declared'}: {shown}"


def example_of(name: str) -> Json:
    [frame] = [one for one in frames if one.name == name]
    return frame.example
