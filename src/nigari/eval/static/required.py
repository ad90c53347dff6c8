"""Requirements of modules that need not be written out: the sources of providers, and versions of
the program.

A provider's source is part of the addresses in a state, so one module decides about it: the root,
where its value is known before any other module is loaded. Versions of providers are only needed
to install them, and are worked out there.
"""

from __future__ import annotations

from collections.abc import Sequence

from nigari.addrs.provider import Provider, parse_provider
from nigari.config.blocks.language import RequiredVersion, check_required_version
from nigari.config.blocks.required_providers import RequiredProvider
from nigari.diagnostics import Range
from nigari.eval.core.instances import Frame
from nigari.eval.core.static_position import RequestValue, StaticPosition, fill_text
from nigari.eval.core.worklist import Need, Node


class RequiredSourceNode(Node):
    """The provider that the root module means by a local name, where its source is evaluated."""

    __slots__ = ("_request", "frame", "provider", "required")

    def __init__(self, frame: Frame, required: RequiredProvider, request: RequestValue) -> None:
        super().__init__()
        self.frame: Frame = frame
        self.required: RequiredProvider = required
        self.provider: Provider | None = None
        self._request = request

    @property
    def label(self) -> str:
        return self.frame.label(f"source of the required provider {self.required.name}")

    @property
    def range(self) -> Range:
        return self.required.range

    def fail(self) -> None:
        self.provider = None

    def step(self) -> Sequence[Need]:
        expr = self.required.source
        if expr is None:
            return ()
        if self.frame.parent is not None:
            _report_source_in_child(self)
            return ()
        text = fill_text(StaticPosition(self.label, self.frame, expr, self._request))
        if isinstance(text, str):
            self.provider = parse_provider(text, self.frame.run.diags, expr.range)
            return ()
        return text or ()


class ProgramVersion(Node):
    """A constraint on the program's version that is evaluated."""

    __slots__ = ("_request", "frame", "required")

    def __init__(self, frame: Frame, required: RequiredVersion, request: RequestValue) -> None:
        super().__init__()
        self.frame: Frame = frame
        self.required: RequiredVersion = required
        self._request = request

    @property
    def label(self) -> str:
        return self.frame.label("required version")

    @property
    def range(self) -> Range:
        return self.required.expr.range

    def fail(self) -> None:
        """A version that cannot be worked out has been reported."""

    def step(self) -> Sequence[Need]:
        slot = StaticPosition(self.label, self.frame, self.required.expr, self._request)
        text = fill_text(slot, takes_null=True)
        if isinstance(text, str):
            check_required_version(text, self.range, self.frame.run.diags)
            return ()
        return text or ()


def _report_source_in_child(node: RequiredSourceNode) -> None:
    name = node.required.name
    # The same for all instances of the module, so that it is reported once.
    module = node.frame.instance.addr.unkeyed
    node.frame.run.diags.error(
        "Provider source is not a literal",
        f"The source of the required provider {name} in {module} depends on a value. Provider "
        "sources are part of the addresses in a state, so only the root module can compute them. "
        f'Write a literal here, as in source = "hashicorp/{name}"; the version can be any static '
        "expression.",
        node.range if node.required.source is None else node.required.source.range,
    )
