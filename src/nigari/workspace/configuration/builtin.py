"""The built-in provider as the evaluator meets it: without a process, and without waiting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nigari.addrs.provider import Provider
from nigari.addrs.resource import DATA, EPHEMERAL, MANAGED
from nigari.cty.function import Function, FunctionError
from nigari.cty.types import Type
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.workspace.context.asyncio_bridge import run_until_it_waits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.addrs.values import ProviderFunction
    from nigari.config.module import Module
    from nigari.eval.core.module_tree import ModuleInstance
    from nigari.eval.validate.run import ProviderValidation
    from nigari.hcl.body import Body
    from nigari.providers.api import ProviderDiagnostic
    from nigari.providers.builtin.functions import BuiltinFunction
    from nigari.schema.provider import ProviderSchema
    from nigari.state.model import ResourceState, State
    from nigari.workspace.configuration.modules import CalledModules


class BuiltinSchemas:
    """The schemas that are known without any provider process."""

    def __init__(self, has_store: bool = True, modules: CalledModules | None = None) -> None:
        """Create them with the block `store`, or as soon as one of the `modules` has one."""
        self._has_store = has_store
        self._modules = modules
        self._seen = 0

    def of(self, provider: Provider) -> ProviderSchema | None:
        """The schema of a built-in provider."""
        if not provider.is_builtin:
            return None
        from nigari.providers.builtin.schema import PLAIN_SCHEMA, SCHEMA

        if not self._has_store and self._modules is not None:
            # A module that refers to a store has been read before.
            loaded = self._modules.loaded
            if len(loaded) > self._seen:
                self._has_store = any(map(_has_store, loaded[self._seen :]))
                self._seen = len(loaded)
        return SCHEMA if self._has_store else PLAIN_SCHEMA


def has_store(root: ModuleInstance, state: State | None = None) -> bool:
    """Return whether any `terraform_data` has a block `store`, in the configuration or in the state.

    If none has, it has the attributes of OpenTofu's everywhere, so that whole objects are the same.
    """
    if state is not None and any(map(_stores, state.resources.values())):
        return True
    modules: dict[int, Module] = {}
    pending = [root]
    while pending:
        instance = pending.pop()
        modules[id(instance.module)] = instance.module
        for children in instance.children.values():
            pending.extend(children.values())
    return any(map(_has_store, modules.values()))


def _has_store(module: Module) -> bool:
    from nigari.providers.builtin.schema import TERRAFORM_DATA_NAME

    return any(
        resource.addr.type == TERRAFORM_DATA_NAME and _configures_store(resource.body)
        for resource in module.resources.values()
    )


def _configures_store(body: Body) -> bool:
    from nigari.hcl.body import BlockSchema, BodySchema
    from nigari.hcl.dynamic_template import DYNAMIC_BLOCK
    from nigari.providers.builtin.schema import STORE

    schema = BodySchema(blocks=(BlockSchema(STORE), DYNAMIC_BLOCK))
    content, _ = body.partial_content(schema, Diagnostics())
    return any(each.type == STORE or STORE in each.labels for each in content.blocks)


def _stores(resource: ResourceState) -> bool:
    import json

    from nigari.providers.builtin.schema import STORE, TERRAFORM_DATA_NAME

    if resource.address.item.type != TERRAFORM_DATA_NAME:
        return False
    return any(
        f'"{STORE}"' in stored.attributes and STORE in json.loads(stored.attributes)
        for instance in resource.instances.values()
        for _, stored, _ in instance.objects()
    )


def builtin_function(provider: Provider, function: ProviderFunction) -> Function | None:
    """A function of a built-in provider, which is there without any process."""
    if not provider.is_builtin:
        return None
    from nigari.eval.nodes.provider_functions import provider_parameter
    from nigari.providers.builtin.functions import ALL

    found = ALL.get(function.function)
    if found is None:
        return None
    parameters = [provider_parameter(each) for each in found.signature.parameters]
    return Function(tuple(parameters), None, found.signature.returns, _Calling(found))


class _Calling:
    """The implementation of a built-in provider's function."""

    __slots__ = ("_function",)

    def __init__(self, function: BuiltinFunction) -> None:
        self._function = function

    def __call__(self, args: list[Value], type_: Type) -> Value:
        response = self._function.call(args)
        if response.failure is not None:
            raise FunctionError(response.failure.text, response.failure.argument)
        return response.result


def ask_builtin(
    environ: Mapping[str, str], effect: ProviderValidation
) -> Sequence[ProviderDiagnostic]:
    """The diagnostics of a built-in provider for a configuration."""
    from nigari.eval.nodes.resource import ValidateConfig

    if not isinstance(effect, ValidateConfig):
        return ()
    from nigari.providers.builtin.schema import REMOTE_STATE_NAME
    from nigari.providers.builtin.terraform import TerraformProvider

    checker = None
    if effect.type_name == REMOTE_STATE_NAME:
        from nigari.workspace.states.remote_state import remote_state_checker

        checker = remote_state_checker(environ)
    provider = TerraformProvider(checker=checker)
    ask = {
        MANAGED: provider.validate_resource,
        DATA: provider.validate_data,
        EPHEMERAL: provider.validate_ephemeral,
    }[effect.mode]
    return run_until_it_waits(ask(effect.type_name, effect.config)).diagnostics
