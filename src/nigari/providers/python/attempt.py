"""Doing something that others wrote: what they raise becomes a diagnostic.

Work that is not `async` runs in a thread, so that several objects can be worked on at a time.
"""

import asyncio
import inspect
import sys
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

from nigari import cty
from nigari.diagnostics import Severity
from nigari.providers import api
from nigari.providers.base import problem

# What is done here is duck-typed: `Any` stands for methods that may be async or not, and for what
# they give back.


class ProviderError(Exception):
    """Raise it to tell the user what is wrong; `attribute` names the argument at fault."""

    def __init__(self, summary: str, detail: str = "", attribute: str = "") -> None:
        super().__init__(summary)
        self.summary = summary
        self.detail = detail
        self.attribute = attribute


async def attempt(
    work: Callable[..., Any], *args: object, meta: object = None
) -> tuple[api.Told, Any]:
    """What comes of it, or what is wrong. `meta` is passed only to work that takes it."""
    if meta is not None and "meta" in inspect.signature(work).parameters:
        work = partial(work, meta=meta)
    try:
        if inspect.iscoroutinefunction(work):
            return (), await work(*args)
        return (), await asyncio.to_thread(work, *args)
    except cty.CtyError as error:
        return problem("Unsuitable value", f"{error.message}.".capitalize(), error.path), None
    except ProviderError as error:
        path = (cty.GetAttr(error.attribute),) if error.attribute else None
        return (api.ProviderDiagnostic(Severity.ERROR, error.summary, error.detail, path),), None
    except Exception as error:  # noqa: BLE001 - other people's code may raise anything
        traceback.print_exc(file=sys.stderr)
        return problem("Operation failed", f"{type(error).__name__}: {error}."), None
