"""Callbacks of a user, and errors that no caller gets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


def surface(error: Exception) -> None:
    """Gives an error to the exception handler of the event loop, which logs it unless the user has set another one."""
    context = {"message": "an error that no caller gets", "exception": error}
    asyncio.get_running_loop().call_exception_handler(context)


def call_guarded(callback: Callable[[], object]) -> None:
    """Calls what a user gave: its error must not end what calls it."""
    try:
        callback()
    except Exception as error:
        surface(error)
