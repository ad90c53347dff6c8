"""Configuration loading: directories of configuration files, and the declarations of each module.

from nigari import config

module = config.load_module("infra/network")
for name, variable in module.variables.items():
print(name, variable.type, variable.description)

A directory is a module, and its blocks are frozen. Expressions stay unevaluated: `nigari.hcl`
evaluates one, `nigari.load` a whole configuration. Deliberately unknown here: values, other
modules, and rules about the module tree. Importing this package is cheap.
"""

from __future__ import annotations

from nigari.lazy import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.addrs.provider import LocalProviderConfig, Provider
    from nigari.addrs.resource import Resource as ResourceAddr
    from nigari.addrs.resource import ResourceInstance, ResourceMode
    from nigari.config.blocks.backend import BackendBlock
    from nigari.config.blocks.checks import Check
    from nigari.config.blocks.encryption import (
        EncryptionBlock,
        EncryptionTarget,
        KeyProviderBlock,
        MethodBlock,
    )
    from nigari.config.blocks.imports import Import
    from nigari.config.blocks.language import RequiredVersion
    from nigari.config.blocks.lifecycle import Lifecycle
    from nigari.config.blocks.local import Local
    from nigari.config.blocks.module_call import ModuleCall, PassedProvider
    from nigari.config.blocks.moved import Moved
    from nigari.config.blocks.output import Output
    from nigari.config.blocks.provider_config import ProviderConfig
    from nigari.config.blocks.provisioner import Connection, Provisioner
    from nigari.config.blocks.removed import Removed
    from nigari.config.blocks.required_providers import ProviderMeta, RequiredProvider
    from nigari.config.blocks.resource import Resource
    from nigari.config.blocks.variable import Variable
    from nigari.config.core.declared import CheckRule, DependencyValue, Repetition
    from nigari.config.core.provider_ref import ProviderRef
    from nigari.config.core.written_address import WrittenAddress
    from nigari.config.load import load_module
    from nigari.config.module import Module
    from nigari.hcl.type_expressions import Defaults, TypeConstraint
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "nigari.addrs.provider": ("LocalProviderConfig", "Provider"),
            "nigari.addrs.resource": ("ResourceInstance", "ResourceMode"),
            "nigari.config.core.declared": ("CheckRule", "DependencyValue", "Repetition"),
            "nigari.config.core.provider_ref": ("ProviderRef",),
            "nigari.config.core.written_address": ("WrittenAddress",),
            "nigari.config.blocks.backend": ("BackendBlock",),
            "nigari.config.blocks.checks": ("Check",),
            "nigari.config.blocks.encryption": (
                "EncryptionBlock",
                "EncryptionTarget",
                "KeyProviderBlock",
                "MethodBlock",
            ),
            "nigari.config.blocks.imports": ("Import",),
            "nigari.config.blocks.language": ("RequiredVersion",),
            "nigari.config.blocks.lifecycle": ("Lifecycle",),
            "nigari.config.blocks.local": ("Local",),
            "nigari.config.blocks.module_call": ("ModuleCall", "PassedProvider"),
            "nigari.config.blocks.moved": ("Moved",),
            "nigari.config.blocks.output": ("Output",),
            "nigari.config.blocks.provider_config": ("ProviderConfig",),
            "nigari.config.blocks.provisioner": ("Connection", "Provisioner"),
            "nigari.config.blocks.removed": ("Removed",),
            "nigari.config.blocks.required_providers": ("ProviderMeta", "RequiredProvider"),
            "nigari.config.blocks.resource": ("Resource", "ResourceAddr"),
            "nigari.config.blocks.variable": ("Variable",),
            "load": ("load_module",),
            "module": ("Module",),
            "nigari.hcl.type_expressions": ("Defaults", "TypeConstraint"),
        },
    )

__all__ = [
    "BackendBlock",
    "Check",
    "CheckRule",
    "Connection",
    "Defaults",
    "DependencyValue",
    "EncryptionBlock",
    "EncryptionTarget",
    "Import",
    "KeyProviderBlock",
    "Lifecycle",
    "Local",
    "LocalProviderConfig",
    "MethodBlock",
    "Module",
    "ModuleCall",
    "Moved",
    "Output",
    "PassedProvider",
    "Provider",
    "ProviderConfig",
    "ProviderMeta",
    "ProviderRef",
    "Provisioner",
    "Removed",
    "Repetition",
    "RequiredProvider",
    "RequiredVersion",
    "Resource",
    "ResourceAddr",
    "ResourceInstance",
    "ResourceMode",
    "TypeConstraint",
    "Variable",
    "WrittenAddress",
    "load_module",
]
