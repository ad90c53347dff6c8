"""Addresses of values in a module, other than resources and modules."""

from __future__ import annotations

from nigari.addrs.address import Address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar


class NamedValue(Address):
    """A root name and one attribute; each subclass has its root."""

    __slots__ = ("name",)

    root: ClassVar[str] = ""
    name: str

    def __init__(self, name: str) -> None:
        self.name = name
        self.text: str = f"{self.root}.{name}"


class InputVariable(NamedValue):
    """`var.region`."""

    __slots__ = ()
    root = "var"


class LocalValue(NamedValue):
    """`local.tags`."""

    __slots__ = ()
    root = "local"


class OutputValue(NamedValue):
    """`output.vpc_id`; only expressions in test files use this form, others go through the call."""

    __slots__ = ()
    root = "output"


class Check(NamedValue):
    """`check.certificate`, a `check` block; only test files refer to it."""

    __slots__ = ()
    root = "check"


class CountAttr(NamedValue):
    """`count.index`."""

    __slots__ = ()
    root = "count"


class EachAttr(NamedValue):
    """`each.key` and `each.value`."""

    __slots__ = ()
    root = "each"


class PathAttr(NamedValue):
    """`path.module`, `path.root` and `path.cwd`."""

    __slots__ = ()
    root = "path"


class TerraformAttr(NamedValue):
    """`terraform.workspace`."""

    __slots__ = ()
    root = "terraform"


class TofuAttr(TerraformAttr):
    """`tofu.workspace`, the same value as `terraform.workspace`."""

    __slots__ = ()
    root = "tofu"


class SymbolsAttr(NamedValue):
    """`symbols.network`, the values of a symbol library."""

    __slots__ = ()
    root = "symbols"


class SymbolFunction(Address):
    """A function of a symbol library: `symbols::network::subnets`.

    In an argument that is a type, it names one of the library's types.
    """

    __slots__ = ("function", "library")

    library: str
    """Name of the `symbols` block in the module."""
    function: str

    def __init__(self, library: str, function: str) -> None:
        self.library = library
        self.function = function
        self.text: str = f"symbols::{library}::{function}"


class Self(Address):
    """`self`, the resource instance whose block the expression is in."""

    __slots__ = ()

    def __init__(self) -> None:
        self.text = "self"


SELF = Self()


class Caller(Address):
    """`caller`, the resource instance that triggers the action whose block the expression is in."""

    __slots__ = ()

    def __init__(self) -> None:
        self.text = "caller"


CALLER = Caller()


class ProviderFunction(Address):
    """A function of a provider: `provider::aws::arn_parse`."""

    __slots__ = ("alias", "function", "provider")

    provider: str
    """Local name of the provider in the module."""
    alias: str
    """Alias of the provider configuration; empty for the default one."""
    function: str

    def __init__(self, provider: str, alias: str, function: str) -> None:
        self.provider = provider
        self.alias = alias
        self.function = function
        owner = f"{provider}::{alias}" if alias else provider
        self.text: str = f"provider::{owner}::{function}"
