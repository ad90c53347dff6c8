"""List resource types: classes whose generator finds existing objects of a resource type.

Each object that the generator yields is an instance of the resource type's class. Limits are
the caller's business: it stops the generator.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

from nigari import cty
from nigari.hcl.evaluation import as_sentence
from nigari.providers import api
from nigari.providers.base import problem
from nigari.providers.python.attempt import AttemptResult, attempt
from nigari.providers.python.fields import Fields
from nigari.providers.python.results import END, Results
from nigari.schema.coerce import coerce

# As in `attempt`, `Any` stands for methods that may be async or not.


@dataclass(frozen=True, slots=True)
class Listed:
    """An object that a query found, with a name that people recognise."""

    instance: object
    name: str


@dataclass(frozen=True, slots=True)
class ListType:
    """A query for objects of one resource type."""

    fields: Fields
    """Arguments of the query."""
    listed: Fields
    """Attributes of the resources that it finds."""

    async def found(
        self, request: api.ListRequest, settings: object
    ) -> AsyncGenerator[api.ListEvent, None]:
        """Run the generator of a query, one object at a time."""
        made = await attempt(self.fields.to_instance, request.config)
        if made.failed:
            yield api.ListEvent(diagnostics=made.reported)
            return
        query: Any = made.result
        try:
            results = Results(query.list(settings), "list")
        except TypeError as error:
            yield api.ListEvent(diagnostics=self._wrong(error))
            return
        try:
            while (outcome := await results.next()).result is not END:
                event = self._event(outcome, request.include_resource)
                yield event
                if api.has_errors(event.diagnostics):
                    return
            if outcome.reported:
                yield api.ListEvent(diagnostics=outcome.reported)
        finally:
            await results.close()

    def _event(self, outcome: AttemptResult, include_resource: bool) -> api.ListEvent:
        if outcome.failed:
            return api.ListEvent(diagnostics=outcome.reported)
        found = outcome.result
        listed = found if isinstance(found, Listed) else Listed(found, "")
        try:
            value = coerce(self.listed.block, self.listed.to_value(listed.instance))
        except (TypeError, AttributeError, cty.CtyError) as error:
            return api.ListEvent(diagnostics=self._wrong(error))
        identity = self.listed.identity_of(value)
        return api.ListEvent(
            display_name=listed.name or _name(identity),
            identity=identity,
            resource=value if include_resource else None,
            diagnostics=outcome.reported,
        )

    def _wrong(self, error: Exception) -> api.ProviderDiagnostics:
        text = as_sentence(f"{self.fields.owner.__name__}: {error}")
        return problem("Wrong value from the provider", text)


def _name(identity: cty.Value | None) -> str:
    """Name an object by the parts of its identity."""
    parts = {} if identity is None else identity.mapping()
    return ", ".join(str(part.to_python()) for part in parts.values() if not part.is_null)
