"""Calls of user code, whose exceptions become diagnostics.

Functions that are not `async` run in a thread, so that several objects can be processed
concurrently.
"""

import asyncio
import inspect
import logging
import re
import warnings
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from nigari import cty
from nigari.cty.paths import index_step
from nigari.diagnostics import Severity
from nigari.hcl.evaluation import as_sentence
from nigari.providers import api
from nigari.providers.base import problem

# Calls are duck-typed: `Any` stands for methods that may be async or not, and for their results.

_log: Final = logging.getLogger(__name__)
_warnings: ContextVar[list[api.ProviderDiagnostic] | None] = ContextVar("warnings", default=None)
_STEP: Final = re.compile(r'\.?(?P<name>[\w-]+)|\[(?P<position>\d+)\]|\["(?P<key>[^"]*)"\]')


class ProviderError(Exception):
    """Raise it to report an error to the user.

    `attribute` names the wrong argument, as `name` or `rules[0].port`. `exists` tells whether the
    object exists after a failed `create`; with None, it does if a result was set. To report several
    errors, raise an `ExceptionGroup`.
    """

    def __init__(
        self, summary: str, detail: str = "", attribute: str = "", exists: bool | None = None
    ) -> None:
        super().__init__(summary)
        self.summary = summary
        self.detail = detail
        self.attribute = attribute
        self.exists = exists


class Deferred(Exception):
    """Raise it in `plan` or `read` to defer the object.

    With `-allow-deferral`, `nigari plan` and `apply` retry it in a later round. Otherwise, and in
    OpenTofu, it is an error with advice.
    """

    def __init__(
        self,
        summary: str,
        detail: str = "",
        reason: api.ProviderDeferral = api.ProviderDeferral.ABSENT_PREREQUISITE,
    ) -> None:
        super().__init__(summary)
        self.summary = summary
        self.detail = detail
        self.reason = reason


def warn(summary: str, detail: str = "", attribute: str = "") -> None:
    """Warn the user, from within a provider's method, about the operation or an argument.

    Outside a provider it is a Python warning.
    """
    reported = _warnings.get()
    if reported is None:
        warnings.warn(f"{summary}: {detail}" if detail else summary, stacklevel=2)
    else:
        reported.append(
            api.ProviderDiagnostic(Severity.WARNING, summary, detail, attribute_path(attribute))
        )


def attribute_path(text: str) -> cty.Path | None:
    """Parse an attribute path such as `rules[0].port` or `tags["a"]`; None for an empty text."""
    steps: list[cty.GetAttr | cty.Index] = []
    position = 0
    while position < len(text):
        found = _STEP.match(text, position)
        if found is None:
            raise ValueError(f"{text!r} is not the path of an attribute")
        if (name := found["name"]) is not None:
            steps.append(cty.GetAttr(name))
        elif (number := found["position"]) is not None:
            steps.append(index_step(int(number)))
        else:
            steps.append(index_step(found["key"]))
        position = found.end()
    return tuple(steps) or None


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """Outcome of an attempt."""

    reported: api.ProviderDiagnostics = ()
    """Warnings, and errors if it failed."""
    result: Any = None
    exists: bool | None = None
    """Existence of the object according to the errors, if they state it."""
    deferred: api.ProviderDeferral | None = None
    """Reason for a deferral."""

    @property
    def failed(self) -> bool:
        """True if there is no result."""
        return api.has_errors(self.reported)

    def deferral(self, is_allowed: bool) -> api.ProviderDeferral | None:
        """Return the reason for a deferral, if the caller supports deferrals."""
        return self.deferred if is_allowed else None

    @property
    def warnings(self) -> api.ProviderDiagnostics:
        """Diagnostics other than errors."""
        return tuple(each for each in self.reported if each.severity is Severity.WARNING)


async def attempt(
    work: Callable[..., Any],
    *args: object,
    meta: Callable[[], object] | None = None,
    limit: float | None = None,
) -> AttemptResult:
    """Call user code, for at most `limit` seconds. `meta` is passed to functions that have such a
    parameter.
    """
    reported: list[api.ProviderDiagnostic] = []
    token = _warnings.set(reported)
    timer = asyncio.timeout(limit)
    try:
        if meta is not None and "meta" in inspect.signature(work).parameters:
            if (said := meta()) is not None:
                work = partial(work, meta=said)
        async with timer:
            if inspect.iscoroutinefunction(work):
                result = await work(*args)
            else:
                result = await asyncio.to_thread(work, *args)
        return AttemptResult(tuple(reported), result)
    except Exception as error:  # noqa: BLE001 - other people's code may raise anything
        if timer.expired():
            text = f"It took longer than the {limit:g} seconds that it may take"
            return AttemptResult((*reported, *problem("Timeout", f"{text}, and was given up.")))
        errors = list(_each(error))
        flags = [each.exists for each in errors if isinstance(each, ProviderError)]
        exists = next((flag for flag in flags if flag is not None), None)
        deferred = error.reason if isinstance(error, Deferred) else None
        return AttemptResult(
            (*reported, *[_diagnostic(each) for each in errors]), None, exists, deferred
        )
    finally:
        _warnings.reset(token)


def _each(error: Exception) -> Iterator[Exception]:
    if isinstance(error, ExceptionGroup):
        for one in error.exceptions:
            yield from _each(one)
    else:
        yield error


def _diagnostic(error: Exception) -> api.ProviderDiagnostic:
    if isinstance(error, ProviderError):
        try:
            path = attribute_path(error.attribute)
        except ValueError:
            path = None
        return api.ProviderDiagnostic(Severity.ERROR, error.summary, error.detail, path)
    if isinstance(error, Deferred):
        advice = (
            "Exclude it with -exclude, apply the rest, and apply again; nigari does that by "
            "itself with -allow-deferral."
        )
        detail = error.detail.rstrip()
        text = f"{as_sentence(detail)} {advice}" if detail else advice
        return api.ProviderDiagnostic(Severity.ERROR, error.summary, text)
    if isinstance(error, cty.CtyError):
        text = f"{error.message[:1].upper()}{as_sentence(error.message[1:])}"
        return api.ProviderDiagnostic(Severity.ERROR, "Unsuitable value", text, error.path or None)
    _log.error("An operation failed", exc_info=error)
    text = as_sentence(f"{type(error).__name__}: {error}")
    return api.ProviderDiagnostic(Severity.ERROR, "Operation failed", text)
