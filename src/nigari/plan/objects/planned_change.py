"""Planned changes: a configuration and a prior object, with a provider's help.

Asks the provider about one managed object: validate, plan, and plan once more as a new object if it
must be replaced. The result is a `Change`. Which instances exist and which objects are refreshed is
decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable

from nigari.addrs.absolute import AbsResourceInstance
from nigari.addrs.provider import AbsProviderInstance
from nigari.cty.errors import CtyError
from nigari.cty.marks import MarksAt, mark_with_paths, unmark_deep_with_paths
from nigari.cty.operations import apply_path, equals
from nigari.cty.paths import Path, path_text
from nigari.cty.values import Value, null
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.eval.nodes.resource import ephemeral_argument
from nigari.hcl.body import Body
from nigari.lang.marks import EPHEMERAL, SENSITIVE
from nigari.plan.model.changes import Action, Change, Reason
from nigari.plan.objects.prior_object import PriorObject
from nigari.plan.objects.proposed_object import open_computed_blocks, proposed_new
from nigari.plan.objects.provider_checks import ProviderFault, plan_faults, type_faults
from nigari.plan.objects.provider_deferral import ProviderDefers
from nigari.providers import api
from nigari.providers.diagnostics import located
from nigari.record import record
from nigari.running.provider_objects import with_schema_marks
from nigari.schema.marked_paths import attribute_at, without_collection_marks
from nigari.schema.provider import Schema

Ignore = Callable[[Value, Value], Value]
"""Returns the effective configuration, given the prior object and the configuration."""


@record
class DesiredObject:
    """The wanted state of one managed resource instance."""

    address: AbsResourceInstance
    config: Value
    """The configuration, with its marks."""
    schema: Schema
    provider: AbsProviderInstance
    body: Body
    creates_first: bool = False
    replaces: Reason = Reason.NONE
    """A reason to replace the object regardless of the provider's plan."""
    ignore: Ignore | None = None
    meta: Value | None = None
    previous_address: AbsResourceInstance | None = None
    forgets: bool = False
    """True if a replaced object is only forgotten and not destroyed."""
    may_defer: bool = False
    """True if the provider may defer it."""
    planned_private: bytes = b""
    """The opaque bytes of the first plan, if the object is planned again to be applied."""


class NoPlannedChange(Exception):
    """Planning failed, and the reason was reported."""


async def plan_change(
    provider: api.Provider, wanted: DesiredObject, prior: PriorObject | None, diags: Diagnostics
) -> Change | None:
    """Plan the change to the desired object; None after reporting why that failed.

    A provider that defers the change raises `ProviderDefers`.
    """
    try:
        return await _Conversation(provider, wanted, prior, diags).change()
    except NoPlannedChange:
        return None


class _Conversation:
    __slots__ = (
        "_block",
        "_config",
        "_diags",
        "_marks",
        "_nothing",
        "_prior",
        "_provider",
        "_wanted",
    )

    def __init__(
        self,
        provider: api.Provider,
        wanted: DesiredObject,
        prior: PriorObject | None,
        diags: Diagnostics,
    ) -> None:
        self._provider = provider
        self._wanted = wanted
        self._prior = prior
        self._diags = diags
        self._block = wanted.schema.block
        self._nothing = null(self._block.implied_type)
        self._config: Value = wanted.config
        self._marks: list[MarksAt] = []

    async def change(self) -> Change:
        wanted = self._wanted
        await self._validate()
        # OpenTofu: a tainted object must be replaced, so the provider plans a new one.
        sound = None if self._prior is None or self._prior.is_tainted else self._prior
        before = self._nothing if sound is None else sound.value
        config = self._effective_config(before)
        old = before if not before.contains_marked else before.unmark_deep()[0]
        private, identity = (b"", None) if sound is None else (sound.private, sound.identity)
        answer = await self._ask(old, config, private, identity)
        self._check(answer, old, config)
        after = answer.planned
        # OpenTofu: old SDKs set defaults on their own, so ignored changes may come back in their
        # plans. They are removed once more.
        if answer.legacy_type_system and wanted.ignore is not None and not before.is_null:
            after = wanted.ignore(old, after)
        paths = self._replace_paths(answer.requires_replace, old, after)
        action, reason = self._action(old, after, paths)
        if action.is_replace:
            answer = await self._ask_for_another(answer.planned_private)
            after = answer.planned
        after = self._marked(after)
        if self._prior is not None and sound is None:
            action, before = self._replacing(), self._prior.value
            reason = Reason.TAINTED if reason is Reason.NONE else reason
        # The state records sensitive paths, so a changed mark needs an update of the state.
        if action is Action.NO_OP and not _same_secrets(before, after):
            action = Action.UPDATE
        if action.is_replace and wanted.forgets:
            action = Action.FORGET_THEN_CREATE
        return Change(
            address=wanted.address,
            action=action,
            before=before,
            after=after,
            provider=wanted.provider,
            schema=wanted.schema,
            reason=reason,
            replace_paths=paths,
            private=answer.planned_private,
            previous_address=wanted.previous_address,
            identity=answer.identity,
        )

    async def _validate(self) -> None:
        self._config = config = self._storable(self._wanted.config)
        plain = config if not config.contains_marked else config.unmark_deep()[0]
        type_name = self._wanted.address.item.resource.type
        self._tell((await self._provider.validate_resource(type_name, plain)).diagnostics)

    def _effective_config(self, before: Value) -> Value:
        """Return the configuration without ignored changes and marks.

        The marks are retained for the planned object.
        """
        config, ignore = self._config, self._wanted.ignore
        if ignore is not None and not before.is_null:
            config = ignore(before, config)
        if config.contains_marked:
            config, marks = unmark_deep_with_paths(config)
            self._marks = without_collection_marks(self._block, marks)
        return open_computed_blocks(self._block, config)

    async def _ask_for_another(self, private: bytes) -> api.PlanResponse:
        """Plan the object that replaces the present one.

        OpenTofu: it has no prior object, and nothing to ignore changes of.
        """
        config = open_computed_blocks(self._block, self._wanted.config.unmark_deep()[0])
        answer = await self._ask(self._nothing, config, private, None)
        self._check_type(answer.planned)
        return answer

    async def _ask(
        self, prior: Value, config: Value, private: bytes, identity: Value | None
    ) -> api.PlanResponse:
        request = api.PlanRequest(
            type_name=self._wanted.address.item.resource.type,
            prior=prior,
            proposed=proposed_new(self._block, prior, config),
            config=config,
            prior_private=private,
            provider_meta=self._wanted.meta,
            identity=identity,
            may_defer=self._wanted.may_defer,
            planned_private=self._wanted.planned_private,
        )
        answer = await self._provider.plan(request)
        self._tell(answer.diagnostics)
        if answer.deferred is not None and self._wanted.may_defer:
            raise ProviderDefers(answer.deferred)
        return answer

    def _tell(self, reported: api.ProviderDiagnostics) -> None:
        if not reported:
            return
        wanted = self._wanted
        self._diags.extend(located(reported, self._block, wanted.body, str(wanted.address)))
        if api.has_errors(reported):
            raise NoPlannedChange

    def _storable(self, config: Value) -> Value:
        """Remove ephemeral marks, which only write-only arguments may have, and report others."""
        if not config.contains_marked:
            return config
        plain, marks = unmark_deep_with_paths(config)
        refused = [
            path for path, found in marks if EPHEMERAL in found and not self._is_write_only(path)
        ]
        for path in refused:
            wanted = self._wanted
            self._diags.append(
                ephemeral_argument(str(wanted.address), wanted.schema.block, wanted.body, path)
            )
        if refused:
            raise NoPlannedChange
        kept = [(path, found - {EPHEMERAL}) for path, found in marks]
        return mark_with_paths(plain, [each for each in kept if each[1]])

    # -- rules --------------------------------------------------------------------------------

    def _check(self, answer: api.PlanResponse, prior: Value, config: Value) -> None:
        self._check_type(answer.planned)
        # OpenTofu tolerates other faults of old SDKs, which cannot satisfy the rules.
        if answer.legacy_type_system:
            return
        faults = plan_faults(self._block, prior, config, answer.planned)
        self._refuse(faults)

    def _check_type(self, planned: Value) -> None:
        if planned.type is not self._block.implied_type:
            self._refuse(type_faults(self._block, planned))

    def _refuse(self, faults: list[ProviderFault]) -> None:
        for fault in faults:
            self._diags.append(invalid_plan(self._wanted, fault))
        if faults:
            raise NoPlannedChange

    def _replace_paths(
        self, asked: tuple[Path, ...], prior: Value, planned: Value
    ) -> tuple[Path, ...]:
        """Select the paths at which anything changes.

        OpenTofu: providers may list every attribute that could force a replacement.
        """
        if prior.is_null:
            return ()
        found: list[Path] = []
        for path in asked:
            old, new = _at(prior, path), _at(planned, path)
            if old is None and new is None:
                text = "a replacement is requested because of an attribute that does not exist"
                self._refuse([ProviderFault(path, text)])
            if old is None or new is None or not _is_same(old, new):
                found.append(path)
                continue
            # Write-only values are null in both objects, so only the provider sees their changes.
            attribute = attribute_at(self._block, path)
            if attribute is not None and attribute.write_only:
                found.append(path)
        return tuple(found)

    def _action(
        self, prior: Value, planned: Value, paths: tuple[Path, ...]
    ) -> tuple[Action, Reason]:
        forced = self._wanted.replaces
        if prior.is_null:
            return Action.CREATE, forced if forced is Reason.TRIGGERED else Reason.NONE
        if forced is Reason.NONE and not any(self._is_write_only(path) for path in paths):
            if _is_same(prior, planned):
                return Action.NO_OP, Reason.NONE
            if not paths:
                return Action.UPDATE, Reason.NONE
        return self._replacing(), forced if forced is not Reason.NONE else Reason.CANNOT_UPDATE

    def _is_write_only(self, path: Path) -> bool:
        attribute = attribute_at(self._block, path)
        return attribute is not None and attribute.write_only

    def _replacing(self) -> Action:
        first = self._wanted.creates_first
        return Action.CREATE_THEN_DELETE if first else Action.DELETE_THEN_CREATE

    def _marked(self, planned: Value) -> Value:
        if self._marks:
            planned = mark_with_paths(planned, self._marks)
        return with_schema_marks(planned, self._wanted.schema)


def _at(value: Value, path: Path) -> Value | None:
    try:
        return apply_path(value, path)
    except CtyError:
        return None


def _is_same(one: Value, other: Value) -> bool:
    if one is other:
        return True
    if one.type != other.type:
        return False
    truth = equals(one, other)
    return truth.is_known and truth.as_bool()


def _same_secrets(one: Value, other: Value) -> bool:
    if not one.contains_marked and not other.contains_marked:
        return True
    return _secrets(one) == _secrets(other)


def _secrets(value: Value) -> set[Path]:
    return {path for path, marks in unmark_deep_with_paths(value)[1] if SENSITIVE in marks}


def invalid_plan(wanted: DesiredObject, fault: ProviderFault) -> Diagnostic:
    """Build the error for a plan that breaks the rules."""
    where = path_text(fault.path).removeprefix(".")
    return Diagnostic(
        Severity.ERROR,
        "Invalid plan from the provider",
        f"The provider {wanted.provider.item.provider.display} made an invalid plan for "
        f"{wanted.address}{', at ' + where if where else ''}: {fault.text}. This is a bug in the "
        "provider and should be reported to its developers.",
        address=str(wanted.address),
    )
