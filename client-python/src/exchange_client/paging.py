"""Lists that are read page by page on demand."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

_first_cursor = "MA=="
_last_cursor = "LTE="
"""The cursor that follows the last page (conventions.md 1.4)."""

Row = TypeVar("Row")
RowOfPage = TypeVar("RowOfPage", covariant=True)


class CursorPage(Protocol[RowOfPage]):
    """A page of a list; its cursor names where the next one begins."""

    @property
    def data(self) -> Sequence[RowOfPage]: ...
    @property
    def next_cursor(self) -> str: ...


async def every_row(read: Callable[[str], Awaitable[CursorPage[Row]]]) -> AsyncIterator[Row]:
    """Every row of a list whose last page has a cursor of its own. `read` gets the cursor of a page."""
    cursor = _first_cursor
    while cursor != _last_cursor:
        page = await read(cursor)
        for row in page.data:
            yield row
        cursor = page.next_cursor


async def every_keyset_row(
    read: Callable[[str | None], Awaitable[tuple[Sequence[Row], str | None]]],
) -> AsyncIterator[Row]:
    """Every row of a list whose cursors stay in place; `read` returns rows and the next cursor."""
    cursor: str | None = None
    while True:
        rows, cursor = await read(cursor)
        for row in rows:
            yield row
        if cursor is None:
            return


async def every_offset_row(
    read: Callable[[int, int], Awaitable[Sequence[Row]]], *, page_rows: int, offset_max: int
) -> AsyncIterator[Row]:
    """Rows of a report as far as its largest offset. `read` gets offset and limit."""
    offset = 0
    while offset <= offset_max:
        rows = await read(offset, page_rows)
        for row in rows:
            yield row
        if len(rows) < page_rows:
            return
        offset += page_rows
