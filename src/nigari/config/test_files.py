"""Test files: the command, variables and expectations of each `run` block.

Only arguments that must be literal are read; nothing else is evaluated. `nigari.config.test_mocks`
reads mocks and overrides.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.addrs.resource import Resource, ResourceInstance
from nigari.addrs.values import Check, InputVariable, OutputValue
from nigari.config.blocks.module_call import PassedProvider, decode_passed_providers, parse_source
from nigari.config.blocks.provider_config import ProviderConfig, decode_provider_config
from nigari.config.core.declared import (
    CheckRule,
    Declared,
    check_name,
    check_rule,
    dependencies,
    only_block,
    schema,
)
from nigari.config.core.literals import constant, constant_flag, constant_text
from nigari.config.test_mocks import (
    MOCK_PROVIDER,
    MOCK_PROVISIONER,
    NO_OVERRIDES,
    OVERRIDE_BLOCKS,
    MockProvider,
    MockProvisioner,
    Overrides,
    check_overrides,
    decode_mock_provider,
    decode_mock_provisioners,
    decode_overrides,
)
from nigari.cty.types import STRING
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import Attribute, Block, BlockSchema, Body, BodySchema, Content
from nigari.hcl.expressions import Expression
from nigari.hcl.static import expr_as_keyword
from nigari.hcl.traversal import Traversal
from nigari.lang.references import parse_reference
from nigari.lang.versions import parse_module_constraints
from nigari.record import record

_FILE = BodySchema(
    (),
    (
        BlockSchema("run", ("name",)),
        BlockSchema("variables"),
        BlockSchema("test"),
        BlockSchema("provider", ("name",)),
        BlockSchema(MOCK_PROVIDER, ("name",)),
        BlockSchema(MOCK_PROVISIONER, ("type",)),
        *OVERRIDE_BLOCKS,
    ),
)
_RUN = BodySchema(
    schema("command", "providers", "expect_failures", "state_key", "parallel", "skip").attributes,
    (
        *schema(blocks=("plan_options", "assert", "variables", "module")).blocks,
        BlockSchema(MOCK_PROVISIONER, ("type",)),
        *OVERRIDE_BLOCKS,
    ),
)
_SETTINGS = schema("parallel")
_MODULE = schema("source", "version")
CHECKABLE = (InputVariable, OutputValue, Check, Resource, ResourceInstance)
"""Types of objects that may be expected to fail."""
_OPTIONS = schema("mode", "refresh", "replace", "target")


@record
class RunModule:
    """The module that a run tests instead of the configuration."""

    source: str
    """The normalized source, regardless of its spelling: it names the state of the run."""
    version: str | None
    range: Range
    """Range of the source."""


@record
class RunOptions:
    """Plan options of a run."""

    is_refresh_only: bool = False
    refreshes: bool = True
    replaced: tuple[Traversal, ...] = ()
    targets: tuple[Traversal, ...] = ()


@record
class TestRun:
    """A `run` block: one command, and its assertions."""

    __test__ = False

    name: str
    is_plan: bool
    """True if nothing is applied."""
    options: RunOptions
    variables: Mapping[str, Expression]
    providers: tuple[PassedProvider, ...]
    asserts: tuple[CheckRule, ...]
    module: RunModule | None
    expected: tuple[Traversal, ...]
    """Objects whose conditions must fail."""
    overrides: Overrides
    state_key: str
    """Name of the run's state; empty for that of its module."""
    is_parallel: bool
    """True if it may run concurrently with the following ones."""
    is_skipped: bool
    provisioners: Mapping[str, MockProvisioner]
    """Mocked provisioners, by type."""
    block: Block

    @property
    def range(self) -> Range:
        """Range of the block header."""
        return self.block.def_range


@record
class TestFile:
    """A test file. Only arguments that must be literal have been read."""

    __test__ = False

    name: str
    """Path relative to the module directory."""
    runs: tuple[TestRun, ...] = ()
    variables: Mapping[str, Expression] = {}
    providers: Mapping[str, ProviderConfig] = {}
    mocks: Mapping[str, MockProvider] = {}
    overrides: Overrides = NO_OVERRIDES
    provisioners: Mapping[str, MockProvisioner] = {}
    """Provisioners mocked in all runs, by type."""

    def module_path(self, run: TestRun) -> tuple[str, ...]:
        """Return the names under which a run's module is installed."""
        return ("test", *self.name.removesuffix(".tftest.hcl").split("/"), run.name)


def decode_test_file(name: str, body: Body, diags: Diagnostics) -> TestFile:
    """Decode a test file, without the directories that its mocks name."""
    content = body.content(_FILE, diags)
    providers: dict[str, ProviderConfig] = {}
    mocks: dict[str, MockProvider] = {}
    runs: list[TestRun] = []
    settings = only_block(content, "test", diags)
    given = {} if settings is None else settings.body.content(_SETTINGS, diags).attributes
    is_parallel = constant_flag(given.get("parallel"), diags)
    for block in content.blocks:
        if block.type == "run":
            runs.append(_decode_run(block, is_parallel, diags))
        elif block.type == "provider":
            config = decode_provider_config(Declared(block, block.body), diags)
            if config is not None:
                # As in OpenTofu, the last of several with the same name wins.
                providers[str(config.addr)] = config
        elif block.type == MOCK_PROVIDER:
            mock = decode_mock_provider(block, diags)
            if mock is None:
                continue
            if mocks.setdefault(str(mock.config.addr), mock) is not mock:
                _report_second_mock(mock, mocks[str(mock.config.addr)], diags)
    return TestFile(
        name=name,
        runs=tuple(runs),
        variables=_variables(content, diags),
        providers=providers,
        mocks=mocks,
        overrides=decode_overrides(content, diags),
        provisioners=decode_mock_provisioners(content, diags),
    )


def _decode_run(block: Block, is_parallel: bool, diags: Diagnostics) -> TestRun:
    """Decode a run; `is_parallel` is the file's default."""
    check_name(block, 0, "run block name", diags)
    content = block.body.content(_RUN, diags)
    given = content.attributes
    rules = [check_rule(each, diags) for each in content.blocks_of("assert")]
    return TestRun(
        name=block.labels[0],
        is_plan=_is_plan(given.get("command"), diags),
        options=_decode_options(only_block(content, "plan_options", diags), diags),
        variables=_variables(content, diags),
        providers=decode_passed_providers(given.get("providers"), diags),
        asserts=tuple(rule for rule in rules if rule is not None),
        module=_decode_module(only_block(content, "module", diags), diags),
        expected=dependencies(given.get("expect_failures"), diags),
        overrides=decode_overrides(content, diags),
        state_key=constant_text(given.get("state_key"), diags),
        is_parallel=constant_flag(given.get("parallel"), diags, is_parallel),
        is_skipped=constant_flag(given.get("skip"), diags),
        provisioners=decode_mock_provisioners(content, diags),
        block=block,
    )


def _variables(content: Content, diags: Diagnostics) -> Mapping[str, Expression]:
    block = only_block(content, "variables", diags)
    if block is None:
        return {}
    return {name: each.expr for name, each in block.body.just_attributes(diags).items()}


def _is_plan(attribute: Attribute | None, diags: Diagnostics) -> bool:
    return _keyword(attribute, ("apply", "plan"), diags) == "plan"


def _keyword(attribute: Attribute | None, allowed: tuple[str, str], diags: Diagnostics) -> str:
    """Return the keyword of an argument, by default the first of those allowed."""
    if attribute is None:
        return allowed[0]
    word = expr_as_keyword(attribute.expr)
    if word not in allowed:
        diags.error(
            "Invalid keyword",
            f'The argument "{attribute.name}" must be {allowed[0]} or {allowed[1]}, without '
            "quotes.",
            attribute.expr.range,
        )
    return word or allowed[0]


def _decode_options(block: Block | None, diags: Diagnostics) -> RunOptions:
    if block is None:
        return RunOptions()
    given = block.body.content(_OPTIONS, diags).attributes
    is_refresh_only = _keyword(given.get("mode"), ("normal", "refresh-only"), diags) != "normal"
    refresh = given.get("refresh")
    refreshes = constant_flag(refresh, diags, default=True)
    if refresh is not None and is_refresh_only and not refreshes:
        diags.error(
            "Conflicting plan options",
            "A run with mode = refresh-only does nothing but refresh, so refresh cannot be false.",
            refresh.range,
        )
    return RunOptions(
        is_refresh_only,
        refreshes,
        dependencies(given.get("replace"), diags),
        dependencies(given.get("target"), diags),
    )


def _decode_module(block: Block | None, diags: Diagnostics) -> RunModule | None:
    if block is None:
        return None
    given = block.body.content(_MODULE, diags).attributes
    version = given.get("version")
    constraint = None if version is None else constant(version, STRING, diags)
    if version is not None and constraint is not None:
        parse_module_constraints(constraint.as_string(), diags, version.expr.range)
    source = given.get("source")
    if source is None:
        diags.error(
            "Module without a source",
            "The argument source of the module block selects the module to test. Add it.",
            block.def_range,
        )
        return None
    text = constant(source, STRING, diags)
    if text is None:
        return None
    parsed = parse_source(text.as_string(), version is not None, source.range, diags)
    if parsed is None:
        return None
    wanted = None if constraint is None else constraint.as_string()
    return RunModule(parsed.text, wanted, source.expr.range)


def check_run(run: TestRun, diags: Diagnostics) -> None:
    """Report impossible expected failures, and duplicate overrides."""
    for traversal in run.expected:
        reference = parse_reference(traversal, diags, in_tests=True)
        if reference is not None and not isinstance(reference.subject, CHECKABLE):
            diags.error(
                "Failure that cannot be expected",
                f"{reference.subject} has no conditions. Only input variables, output values, "
                "check blocks, resources and data sources of the tested module can be expected "
                "to fail.",
                reference.range,
            )
    check_overrides(run.overrides, diags)


def _report_second_mock(second: MockProvider, first: MockProvider, diags: Diagnostics) -> None:
    diags.error(
        "Duplicate mock_provider block",
        f"There is already a mock_provider block for {second.config.addr} at "
        f"{first.config.range}. Give one of them an alias, or put all mocks into one block.",
        second.config.range,
    )
