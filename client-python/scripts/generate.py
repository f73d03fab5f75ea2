"""Writes `models.py` from docs/openapi.json and `refusals.py` from docs/trading/errors.md.

    python scripts/generate.py            writes both files
    python scripts/generate.py --check    exit code 1 when one of them is out of date

Decimals and numbers of the wire become `Decimal`, whole numbers in text become `int`, times of ISO 8601
`datetime`, an empty text in the place of one of these `None`. Names are those of the wire in snake_case.
"""

from __future__ import annotations

import json
import keyword
import re
import subprocess
import sys
from pathlib import Path
from typing import TypeAlias, cast

from pydantic import BaseModel

Schema: TypeAlias = dict[str, object]

package = Path(__file__).parent.parent / "src" / "exchange_client"
docs = Path(__file__).parent.parent.parent / "docs"

#: Patterns of texts that are a type of their own.
text_types = {
    r"^-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$": "Decimal",
    r"^[0-9]+\.[0-9]{6}$": "Decimal",
    r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$": "datetime",
    r"^\d{4}-\d{2}-\d{2}$": "date",
    r"^[0-9]+$": "int",
    r"^\[.*\]$": "TextList",
}

#: Amounts that are declared as texts only. Those of a placement are empty when nothing was filled.
known_types = {
    ("PlacementResult", "makingAmount"): "OptionalDecimal",
    ("PlacementResult", "takingAmount"): "OptionalDecimal",
    ("AccountActionResult", "amount"): "Decimal",
    ("AccountActionResult", "payout"): "Decimal",
    ("WalletBalancesUsdc", "total"): "Decimal",
    ("WalletBalancesUsdc", "free"): "Decimal",
    ("WalletBalancesUsdc", "held"): "Decimal",
    ("WalletBalancesUsdc", "pending"): "Decimal",
    ("WalletBalancesUsdc", "available"): "Decimal",
}

optional_types = {
    "Decimal": "OptionalDecimal",
    "datetime": "OptionalDatetime",
    "int": "OptionalInt",
}

head = '''"""Responses of the exchange. Written by scripts/generate.py from docs/openapi.json."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from ._model import Model, Open, json_list, none_if_empty

OptionalDecimal: TypeAlias = Annotated[Decimal | None, BeforeValidator(none_if_empty)]
OptionalDatetime: TypeAlias = Annotated[datetime | None, BeforeValidator(none_if_empty)]
OptionalInt: TypeAlias = Annotated[int | None, BeforeValidator(none_if_empty)]
TextList: TypeAlias = Annotated[list[str], BeforeValidator(json_list)]
'''


def snake(name: str) -> str:
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", re.sub(r"IDs\b", "Ids", name))
    spaced = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", spaced)
    text = re.sub(r"\W", "_", spaced).lower()
    is_taken = keyword.iskeyword(text) or hasattr(BaseModel, text)
    return f"{text}_" if is_taken else text


def pascal(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[\W_]+", name))


class Generator:
    """Classes of the schemas that responses consist of, in the order in which they are met."""

    def __init__(self, schemas: dict[str, Schema]) -> None:
        self.schemas = schemas
        self.done: dict[str, str] = {}
        self.aliases: list[str] = []

    def named(self, name: str) -> str:
        schema = self.schemas[name]
        simple = self.simple(schema)
        if simple is not None:
            return simple
        if name not in self.done:
            self.done[name] = ""
            if schema.get("properties"):
                self.done[name] = self.class_text(name, schema)
            else:
                expression = self.type_of(schema, f"{name}Item")
                self.done[name] = f"{name}: TypeAlias = {expression}\n"
                self.aliases.append(name)
        return name

    def simple(self, schema: Schema) -> str | None:
        """The Python type of a schema that needs no class."""
        kind = schema.get("type")
        if kind == "string" and "const" not in schema:
            return text_types.get(str(schema.get("pattern")), "str")
        if kind in ("integer", "number") and "const" not in schema:
            return "int" if kind == "integer" else "Decimal"
        return "bool" if kind == "boolean" and "const" not in schema else None

    def type_of(self, schema: Schema, name: str) -> str:
        if "$ref" in schema:
            return self.named(str(schema["$ref"]).rsplit("/", 1)[-1])
        if "const" in schema:
            return self.literal([schema["const"]])
        if "enum" in schema:
            return self.literal(cast("list[object]", schema["enum"]))
        if "anyOf" in schema:
            return self.union(cast("list[Schema]", schema["anyOf"]), name)
        simple = self.simple(schema)
        if simple is not None:
            return simple
        if schema.get("type") == "array":
            return f"list[{self.type_of(cast('Schema', schema.get('items', {})), name)}]"
        if schema.get("type") == "null":
            return "None"
        return self.object_type(schema, name)

    def object_type(self, schema: Schema, name: str) -> str:
        if schema.get("properties"):
            if name not in self.done:
                self.done[name] = ""
                self.done[name] = self.class_text(name, schema)
            return name
        patterns = cast("dict[str, Schema]", schema.get("patternProperties", {}))
        for values in patterns.values():
            return f"dict[str, {self.type_of(values, name)}]"
        return "dict[str, object]"

    def literal(self, values: list[object]) -> str:
        text = f"Literal[{', '.join(json.dumps(value) for value in values)}]"
        text = text.replace("true", "True").replace("false", "False").replace("null", "None")
        # A new value of the exchange must not break a client.
        return text if any(isinstance(one, bool) for one in values) else f"Annotated[{text}, Open]"

    def union(self, members: list[Schema], name: str) -> str:
        constants = [one["const"] for one in members if "const" in one]
        others = [one for one in members if "const" not in one]
        if len(others) == 1 and constants == [""]:
            inner = self.type_of(others[0], name)
            if inner in optional_types:
                return optional_types[inner]
        parts: list[str] = []
        for index, one in enumerate(others):
            is_first_class = index == 0 or len(others) == 1
            part = self.type_of(one, name if is_first_class else f"{name}{index + 1}")
            if part not in parts:
                parts.append(part)
        if constants:
            parts.insert(0, self.literal(constants))
        return " | ".join(sorted(parts, key=lambda part: part == "None"))

    def class_text(self, name: str, schema: Schema) -> str:
        required = set(cast("list[str]", schema.get("required", [])))
        lines = [f"class {name}(Model):"]
        if isinstance(schema.get("description"), str):
            lines += [f'    """{schema["description"]}"""', ""]
        seen: set[str] = set()
        properties = cast("dict[str, Schema]", schema["properties"])
        # Of two spellings of one field the one in snake_case is read.
        plain = {key for key in properties if snake(key).rstrip("_") == key}
        for key, value in properties.items():
            field = snake(key)
            if field in seen or (key not in plain and field in plain):
                continue
            seen.add(field)
            lines += self.field_lines(name, key, value, key in required)
        return "\n".join(lines) + "\n"

    def field_lines(self, name: str, key: str, value: Schema, is_required: bool) -> list[str]:
        kind = known_types.get((name, key)) or self.type_of(value, f"{name}{pascal(key)}")
        field = snake(key)
        settings = [] if field == key else [f'alias="{key}"']
        if not is_required:
            kind = (
                kind if kind.startswith("Optional") or kind.endswith("None") else f"{kind} | None"
            )
            settings.insert(0, "default=None")
        elif kind == "None":
            settings.insert(0, "default=None")
        default = f" = Field({', '.join(settings)})" if settings else ""
        description = value.get("description")
        note = [f'    """{description}"""'] if isinstance(description, str) else []
        return [f"    {field}: {kind}{default}", *note]


def response_schemas(document: Schema) -> list[tuple[str, Schema]]:
    """The schemas of all successful responses, with the operation's id."""
    found: list[tuple[str, Schema]] = []
    for path in cast("dict[str, dict[str, Schema]]", document["paths"]).values():
        for method, operation in path.items():
            if method == "options":
                continue
            responses = cast("dict[str, Schema]", operation["responses"])
            for status, response in responses.items():
                content = cast("dict[str, Schema]", response.get("content", {}))
                if status.startswith("2") and "application/json" in content:
                    schema = cast("Schema", content["application/json"]["schema"])
                    found.append((str(operation["operationId"]), schema))
    return found


def models_text() -> str:
    document = cast("Schema", json.loads((docs / "openapi.json").read_text("utf-8")))
    components = cast("dict[str, dict[str, Schema]]", document["components"])
    generator = Generator(components["schemas"])
    for operation, schema in response_schemas(document):
        generator.type_of(schema, f"{pascal(operation)}Response")
    generator.named("SignedOrder")
    classes = [text for name, text in generator.done.items() if name not in generator.aliases]
    aliases = [generator.done[name] for name in generator.aliases]
    return "\n\n".join([head, *classes, "\n".join(aliases)])


def refusals_text() -> str:
    page = (docs / "trading" / "errors.md").read_text("utf-8")
    row = re.compile(r"^\| `(\w+)` \| (\d{3}) \| `(.*?)` \| (yes)? *\| (yes)? *\| (.*) \|$", re.M)
    waiting = dict(re.findall(r"^\| (unchanged|unknown) \| [^|]* \| (.*) \|$", page, re.M))
    effects = {
        code: effect for effect, codes in waiting.items() for code in re.findall(r"\w+", codes)
    }
    lines = [
        '"""The closed list of refusals. Written by scripts/generate.py from docs/trading/errors.md."""',
        "",
        "from typing import Literal, NamedTuple",
        "",
        "",
        "class Refusal(NamedTuple):",
        "    status: int",
        '    """HTTP status of a single request."""',
        "    text: str",
        "    retry: bool",
        '    """Whether the very same request can succeed later."""',
        "    final: bool",
        '    """The same signed order gets the same result again."""',
        '    waiting: Literal["unchanged", "unknown"] | None = None',
        '    """Where waiting helps: whether the refused request has certainly changed nothing."""',
        "",
        "",
        "refusals: dict[str, Refusal] = {",
    ]
    for code, status, text, retry, final, _cause in row.findall(page):
        fact = f"{status}, {json.dumps(text)}, retry={bool(retry)}, final={bool(final)}"
        if code in effects:
            fact += f', waiting="{effects[code]}"'
        lines.append(f'    "{code}": Refusal({fact}),')
    return "\n".join([*lines, "}", ""])


def formatted(text: str, file: Path) -> str:
    """The text as ruff writes it by the rules for this file, so that it passes its check."""
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(file), "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return done.stdout


def generated() -> dict[Path, str]:
    texts = {package / "models.py": models_text(), package / "refusals.py": refusals_text()}
    return {file: formatted(text, file) for file, text in texts.items()}


def main() -> int:
    stale = [
        path
        for path, text in generated().items()
        if not path.exists() or path.read_text("utf-8") != text
    ]
    if "--check" in sys.argv:
        for path in stale:
            print(f"{path.name} is out of date: run python scripts/generate.py")
        return 1 if stale else 0
    for path, text in generated().items():
        path.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
