"""Action types: classes whose `invoke` does something when an action is triggered or invoked."""

import inspect
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

from nigari import cty
from nigari.hcl.evaluation import as_sentence
from nigari.providers import api
from nigari.providers.base import problem
from nigari.providers.python.attempt import attempt
from nigari.providers.python.fields import Fields
from nigari.providers.python.results import END, Results

# As in `attempt`, `Any` stands for methods that may be async or not.


@dataclass(frozen=True, slots=True)
class ActionType:
    """Something that the provider can do besides changing objects."""

    fields: Fields
    """Arguments of the action."""

    async def plan(
        self, config: cty.Value, settings: object, may_defer: bool
    ) -> api.PlanActionResponse:
        """Call `plan`, if the class has it. Unknown arguments are `UNKNOWN`."""
        if not hasattr(self.fields.owner, "plan"):
            return api.PlanActionResponse()
        made = await attempt(self.fields.to_instance, config, True)
        if made.failed:
            return api.PlanActionResponse(made.reported)
        outcome = await attempt(made.result.plan, settings)
        deferral = outcome.deferral(may_defer)
        reported = outcome.reported if deferral is None else outcome.warnings
        return api.PlanActionResponse(reported, deferral)

    async def invoke(
        self, config: cty.Value, settings: object
    ) -> AsyncGenerator[api.ActionEvent, None]:
        """Call `invoke`; what a generator yields is progress."""
        made = await attempt(self.fields.to_instance, config)
        if made.failed:
            yield _end(made.reported)
            return
        work: Any = made.result.invoke
        if not (inspect.isgeneratorfunction(work) or inspect.isasyncgenfunction(work)):
            yield _end((await attempt(work, settings)).reported)
            return
        results = Results(work(settings), "invoke")
        reported: api.ProviderDiagnostics = ()
        try:
            while (outcome := await results.next()).result is not END:
                reported += outcome.reported
                if outcome.failed:
                    break
                if not isinstance(outcome.result, str):
                    reported += self._wrong(outcome.result)
                    break
                yield api.ActionEvent(outcome.result)
            else:
                reported += outcome.reported
        finally:
            await results.close()
        yield _end(reported)

    def _wrong(self, result: object) -> api.ProviderDiagnostics:
        text = f"{self.fields.owner.__name__}: invoke yields texts, not {result!r}"
        return problem("Wrong value from the provider", as_sentence(text))


def _end(reported: api.ProviderDiagnostics) -> api.ActionEvent:
    return api.ActionEvent(is_end=True, diagnostics=reported)
