"""`list` blocks while planning a query: each instance asks its provider for existing objects.

The value of an instance is an object whose `data` has everything that was found, so that other
`list` blocks can refer to it. Nothing of a query becomes part of a plan.
"""

from __future__ import annotations

from contextlib import aclosing

from nigari.addrs.keys import InstanceKey, key_text
from nigari.addrs.resource import MANAGED, Resource
from nigari.cty.values import Value, null, object_value, string, tuple_value
from nigari.eval.core.module_tree import InstanceData
from nigari.eval.nodes.resource import resource_schema
from nigari.events import FoundObject
from nigari.plan.nodes.instances import InstanceNode
from nigari.plan.nodes.resources import PlannedResource
from nigari.plan.objects.generated_resource import written_import, written_resource
from nigari.providers import api
from nigari.providers.diagnostics import located
from nigari.record import replace
from nigari.running.provider_objects import with_schema_marks
from nigari.running.requests import about_block, list_request
from nigari.schema.config_block import CONFIG
from nigari.schema.provider import Schema


class ListResource(PlannedResource):
    """A `list` block of the root module."""

    __slots__ = ()

    def instance(self, key: InstanceKey, data: InstanceData) -> ListInstance:
        return ListInstance(self, key, data, len(self.instances))


class ListInstance(InstanceNode):
    """One instance of a `list` block."""

    __slots__ = ("_number", "found", "listed")

    def __init__(
        self, owner: ListResource, key: InstanceKey, data: InstanceData, number: int
    ) -> None:
        super().__init__(owner, key, data)
        self._number = number
        """Number of earlier instances of the block."""
        self.found: list[FoundObject] = []
        self.listed: Schema | None = None
        """The schema of the resources that are listed."""

    async def perform(self) -> None:
        """Ask the provider for objects, up to the limit."""
        run, config = self.owner.run, self.config
        assert config is not None
        self.listed = listed = await self._listed_schema()
        request = None if listed is None else self._request(config)
        if listed is None or request is None:
            self.fail()
            return
        run.listener.query_started(self.address, config.attribute(CONFIG))
        if not self._report(about_block((await self.running.validate_list(request)).diagnostics)):
            self.fail()
            return
        if not await self._search(request, listed):
            self.fail()
            return
        run.listener.query_finished(self.address, len(self.found))
        data = tuple_value([_as_value(each) for each in self.found])
        self.value: Value = object_value({"data": data, CONFIG: config.attribute(CONFIG)})

    async def _search(self, request: api.ListRequest, listed: Schema) -> bool:
        """Collect objects until the limit is reached; False if the provider fails."""
        async with aclosing(self.running.list_resources(request)) as events:
            while len(self.found) < request.limit:
                event = await anext(events, None)
                if event is None:
                    break
                if not self._report(about_block(event.diagnostics)):
                    return False
                if event.identity is not None:
                    self._note(event, event.identity, listed)
        return True

    def _note(self, event: api.ListEvent, identity: Value, listed: Schema) -> None:
        """Add an object to the result."""
        state = null(listed.block.implied_type)
        if event.resource is not None:
            state = with_schema_marks(event.resource, listed)
        version = 0 if listed.identity is None else listed.identity.version
        found = FoundObject(event.display_name, identity, version, state)
        if self.owner.run.options.lists_whole:
            found = self._with_blocks(found, listed)
        self.found.append(found)
        self.owner.run.listener.query_found(self.address, found)

    def _with_blocks(self, found: FoundObject, listed: Schema) -> FoundObject:
        """Add the blocks that import the object."""
        resource, key = self.owner.resource, self.address.item.key
        # Terraform: names count the objects, and the instances of the block if it is repeated.
        order = "" if key is None else f"_{self._number}"
        name = f"{resource.addr.name}{order}_{len(self.found)}"
        address = Resource(MANAGED, resource.addr.type, name)
        provider = f"{resource.provider_name}.{resource.provider_alias}".rstrip(".")
        provider += key_text(self.provider_address.item.key)
        config = written_resource(address, provider, listed.block, found.state)
        import_config = written_import(address, provider, found.identity)
        return replace(found, config=config.rstrip(), import_config=import_config.rstrip())

    async def _listed_schema(self) -> Schema | None:
        """Find the schema of the resources; None after reporting that they have no identity."""
        type_name = self.owner.resource.addr.type
        offered = (await self.running.schema()).schema
        managed = Resource(MANAGED, type_name, self.owner.resource.addr.name)
        listed = None if offered is None else resource_schema(offered, managed)
        if listed is None or listed.identity is None:
            self.frame.run.diags.error(
                "Resources without identity",
                f'The provider lists resources of type "{type_name}", but has no identity schema '
                "for them. This is a bug in the provider.",
                self.owner.resource.type_range,
                address=str(self.address),
            )
            return None
        return listed

    def _request(self, config: Value) -> api.ListRequest | None:
        """Build the request; None after reporting why the block can't be used."""
        if not config.is_wholly_known:
            self.frame.run.diags.error(
                "Query of unknown values",
                f"{self.address} depends on values that are known only after apply. Apply the "
                "configuration first, or use other values here.",
                self.owner.resource.range,
                address=str(self.address),
            )
            return None
        type_name = self.owner.resource.addr.type
        request = list_request(type_name, config, self.owner.run.options.lists_whole)
        if isinstance(request, api.ListRequest):
            return request
        self._report(request)
        return None

    def _report(self, reported: api.ProviderDiagnostics) -> bool:
        """Report what the provider says; False if it has failed."""
        body = self.owner.resource.body
        self.frame.run.diags.extend(located(reported, self.schema.block, body, str(self.address)))
        return not api.has_errors(reported)


def _as_value(found: FoundObject) -> Value:
    """Build the data of one object, as references to the query see it."""
    name = string(found.display_name)
    return object_value({"display_name": name, "identity": found.identity, "state": found.state})
