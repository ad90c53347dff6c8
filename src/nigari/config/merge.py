"""Merging of all files in a directory, before any block is decoded.

A block in an override file is merged over the block of the same name, so that each declaration is
decoded once, from one body. Owns the rules about duplicates and overrides. Deliberately unknown
here: the meaning of blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nigari.config.blocks.language import RequiredVersion, decode_language, decode_required_version
from nigari.config.blocks.provider_config import written_alias
from nigari.config.blocks.required_providers import RequiredProvider, decode_required_providers
from nigari.config.core.declared import Declared, schema
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import Attribute, AttributeSchema, Block, BlockSchema, Body, BodySchema
from nigari.hcl.suggestion import did_you_mean

TYPE_CHECKING = False
# Loading the encryption blocks costs start-up time, and few configurations have any.
if TYPE_CHECKING:
    from typing import Final

    from nigari.config.blocks.encryption import EncryptionBlock

Key = tuple[str, ...]

_FILE = BodySchema(
    (),
    (
        BlockSchema("resource", ("type", "name")),
        BlockSchema("data", ("type", "name")),
        BlockSchema("ephemeral", ("type", "name")),
        BlockSchema("action", ("type", "name")),
        BlockSchema("variable", ("name",)),
        BlockSchema("locals"),
        BlockSchema("output", ("name",)),
        BlockSchema("module", ("name",)),
        BlockSchema("provider", ("name",)),
        BlockSchema("terraform"),
        BlockSchema("moved"),
        BlockSchema("import"),
        BlockSchema("removed"),
        BlockSchema("check", ("name",)),
        BlockSchema("language"),
        BlockSchema("symbols", ("name",)),
        BlockSchema("required_providers"),
    ),
)
_QUERY_FILE = BodySchema(
    (),
    (
        BlockSchema("list", ("type", "name")),
        BlockSchema("variable", ("name",)),
        BlockSchema("locals"),
        BlockSchema("provider", ("name",)),
    ),
)
_TERRAFORM = BodySchema(
    (
        AttributeSchema("required_version"),
        AttributeSchema("experiments"),
        AttributeSchema("language"),
    ),
    (
        BlockSchema("backend", ("type",)),
        BlockSchema("cloud"),
        BlockSchema("required_providers"),
        BlockSchema("provider_meta", ("provider",)),
        BlockSchema("encryption"),
    ),
)
_UNNAMED = ("moved", "import", "removed")
# Blocks without a name cannot be matched with a declaration to override; OpenTofu excludes checks
# as well.
_NOT_OVERRIDABLE = frozenset((*_UNNAMED, "check", "language"))
_CONDITIONS = schema(blocks=("precondition", "postcondition"))
# OpenTofu: override files cannot change dependencies and conditions.
_REPEATABLE = schema("depends_on", blocks=("lifecycle",))
_FIXED = {
    "variable": schema(blocks=("validation",)),
    "output": schema("depends_on", blocks=("precondition",)),
    "module": schema("depends_on"),
    "resource": _REPEATABLE,
    "data": _REPEATABLE,
    "ephemeral": _REPEATABLE,
}
# OpenTofu merges these argument by argument, while other nested blocks are replaced by type.
_LAID_OVER = frozenset(("lifecycle", "_"))


class MergedBlocks:
    """Declarations in the files of a directory, by block type and name."""

    __slots__ = (
        "aside",
        "backend",
        "cloud",
        "encryption",
        "experiments",
        "locals",
        "named",
        "required_providers",
        "required_versions",
        "requirements",
        "unnamed",
    )

    def __init__(
        self, named: dict[str, dict[Key, Declared]], unnamed: dict[str, list[Declared]]
    ) -> None:
        self.named: dict[str, dict[Key, Declared]] = named
        self.unnamed: dict[str, list[Declared]] = unnamed
        self.aside: list[Declared] = []
        """Duplicate blocks, blocks before their overrides, and blocks that override nothing: they
        are decoded only to report their own mistakes.
        """
        self.locals: dict[str, Attribute] = {}
        self.required_versions: list[RequiredVersion] = []
        self.experiments: dict[str, Range] = {}
        self.required_providers: dict[str, RequiredProvider] = {}
        self.requirements: Block | None = None
        """The block that first declares the required providers."""
        self.backend: Block | None = None
        self.cloud: Block | None = None
        self.encryption: EncryptionBlock | None = None


def merge_files(
    primary: Sequence[Body], override: Sequence[Body], queries: Sequence[Body], diags: Diagnostics
) -> MergedBlocks:
    """Merge the declarations of files with those of query files and of override files."""
    found = MergedBlocks(
        {wanted.type: {} for wanted in _FILE.blocks if wanted.labels},
        {type_: [] for type_ in _UNNAMED},
    )
    found.named["provider_meta"] = {}
    found.named["list"] = {}
    for bodies, blocks in ((primary, _FILE), (queries, _QUERY_FILE)):
        for body in bodies:
            for block in body.content(blocks, diags).blocks:
                _add(block, found, diags)
    # A backend and a cloud block in primary files contradict each other; in override files either
    # one replaces both.
    if found.backend is not None and found.cloud is not None:
        _report_backend_and_cloud(found.backend, found.cloud, diags)
    for body in override:
        settings: list[Block] = []
        for block in body.content(_FILE, diags).blocks:
            _override(block, found, settings, diags)
        _override_settings(settings, found, diags)
    return found


# -- primary files ----------------------------------------------------------------------------


def _add(block: Block, found: MergedBlocks, diags: Diagnostics) -> None:
    type_ = block.type
    if type_ in found.named:
        _add_named(block, found, diags)
    elif type_ == "locals":
        for name, attribute in block.body.just_attributes(diags).items():
            first = found.locals.setdefault(name, attribute)
            if first is not attribute:
                _report_second_local(attribute, first, diags)
    elif type_ == "terraform":
        for inner in _terraform(block, found, diags):
            _add_setting(inner, found, diags)
    elif type_ == "language":
        language = decode_language(block, diags)
        found.required_versions.extend(language.versions)
        found.experiments.update(language.experiments)
    elif type_ == "required_providers":
        _report_stray_requirements(block, diags)
    else:
        found.unnamed[type_].append(Declared(block, block.body))


def _key(block: Block) -> Key:
    if block.type == "provider":
        alias = written_alias(block.body)
        # An alias that is not literal is an error, and no other block has that name.
        return block.labels[0], f"?{block.start}" if alias is None else alias
    return tuple(block.labels)


def _add_named(block: Block, found: MergedBlocks, diags: Diagnostics) -> None:
    declared = Declared(block, block.body)
    first = found.named[block.type].setdefault(_key(block), declared)
    if first is not declared:
        found.aside.append(declared)
        _report_second(declared, first, diags)


def _terraform(block: Block, found: MergedBlocks, diags: Diagnostics) -> list[Block]:
    """List the settings in a `terraform` block."""
    content = block.body.content(_TERRAFORM, diags)
    required_version = content.attributes.get("required_version")
    if required_version is not None:
        found.required_versions.append(decode_required_version(required_version, diags))
    return content.blocks


def _add_setting(block: Block, found: MergedBlocks, diags: Diagnostics) -> None:
    type_ = block.type
    if type_ == "backend":
        if found.backend is not None:
            _report_second_setting(block, found.backend.def_range, diags)
        else:
            found.backend = block
    elif type_ == "cloud":
        if found.cloud is not None:
            _report_second_setting(block, found.cloud.def_range, diags)
        else:
            found.cloud = block
    elif type_ == "provider_meta":
        _add_named(block, found, diags)
    elif type_ == "encryption":
        if found.encryption is not None:
            _report_second_setting(block, found.encryption.range, diags)
        else:
            from nigari.config.blocks.encryption import decode_encryption

            found.encryption = decode_encryption(block.body, block.def_range, diags)
    else:
        required = decode_required_providers(block, diags)
        if found.requirements is not None:
            _report_second_setting(block, found.requirements.def_range, diags)
        else:
            found.requirements = block
            found.required_providers.update(required)


# -- override files ---------------------------------------------------------------------------


def _override(block: Block, found: MergedBlocks, settings: list[Block], diags: Diagnostics) -> None:
    type_ = block.type
    if type_ in _NOT_OVERRIDABLE:
        _report_not_overridable(block, diags)
        if type_ == "language":
            decode_language(block, diags)
        elif type_ in _UNNAMED:
            found.aside.append(Declared(block, block.body))
    elif type_ in found.named:
        _override_named(block, found, diags)
    elif type_ == "locals":
        for name, attribute in block.body.just_attributes(diags).items():
            if name in found.locals:
                found.locals[name] = attribute
            else:
                _report_no_local(attribute, found.locals, diags)
    elif type_ == "terraform":
        settings.extend(_terraform(block, found, diags))
    else:
        _report_stray_requirements(block, diags)


def _override_named(block: Block, found: MergedBlocks, diags: Diagnostics) -> None:
    key = _key(block)
    named = found.named[block.type]
    base = named.get(key)
    if block.type in _FIXED:
        _check_fixed(block.body, _FIXED[block.type], diags)
    if base is not None:
        # The original body is decoded as well, so that mistakes in overridden parts are still
        # reported.
        if base.override is None:
            found.aside.append(base)
        from nigari.hcl.override_body import OverrideBody

        body = OverrideBody(base.body, block.body, _LAID_OVER)
        named[key] = Declared(base.block, body, block)
    elif block.type == "provider" and not key[1]:
        # The default configuration of a provider exists without being declared.
        named[key] = Declared(block, block.body)
    else:
        _report_nothing_to_override(block, named, diags)


def _check_fixed(body: Body, fixed: BodySchema, diags: Diagnostics) -> None:
    """Report parts of a declaration that override files cannot change."""
    content, _ = body.partial_content(fixed, Diagnostics())
    if "depends_on" in content.attributes:
        # An empty list changes nothing, and anything but a list is reported by its decoder.
        for element in (content.attributes["depends_on"].expr.static_list() or ())[:1]:
            _report_fixed("depends_on", element.range, diags)
    for block in content.blocks:
        if block.type == "lifecycle":
            conditions, _ = block.body.partial_content(_CONDITIONS, Diagnostics())
            for condition in conditions.blocks:
                _report_fixed(condition.type, condition.def_range, diags)
        else:
            _report_fixed(block.type, block.def_range, diags)


def _override_settings(blocks: list[Block], found: MergedBlocks, diags: Diagnostics) -> None:
    """Apply the settings of one override file; most may occur only once in it."""
    seen: dict[str, Block] = {}
    for block in blocks:
        type_ = block.type
        if type_ == "required_providers":
            found.required_providers.update(decode_required_providers(block, diags))
            continue
        if type_ == "provider_meta":
            found.aside.append(Declared(block, block.body))
            continue
        # OpenTofu: an override file with two backends is invalid, even though it may override those
        # of other files.
        first = seen.setdefault(type_, block)
        if first is not block:
            _report_second_setting(block, first.def_range, diags)
        elif type_ == "encryption":
            from nigari.config.blocks.encryption import decode_encryption, override_encryption

            over = decode_encryption(block.body, block.def_range, diags)
            found.encryption = override_encryption(found.encryption, over)
        else:
            # A backend override also removes a cloud block, and the other way round.
            found.backend = block if type_ == "backend" else None
            found.cloud = block if type_ == "cloud" else None


# -- what can be wrong ------------------------------------------------------------------------


_NOUNS: Final = {"data": "data source", "ephemeral": "ephemeral resource"}


def _title(block: Block) -> str:
    """Return a block's title: `resource "a" "b"`."""
    return " ".join([block.type, *[f'"{label}"' for label in block.labels]])


def _report_second(declared: Declared, first: Declared, diags: Diagnostics) -> None:
    block = declared.block
    hint = " Give one of them an alias, or a different alias." if block.type == "provider" else ""
    diags.error(
        f"Duplicate {_NOUNS.get(block.type, block.type)}",
        f"{_title(block)} was already declared at {first.range}. Each name can be declared only once "
        f"in a module.{hint}",
        declared.range,
    )


def _report_second_local(attribute: Attribute, first: Attribute, diags: Diagnostics) -> None:
    diags.error(
        "Duplicate local value",
        f"local.{attribute.name} was already declared at {first.range}. Each name can be "
        "declared only once in a module.",
        attribute.range,
    )


def _report_second_setting(block: Block, first: Range, diags: Diagnostics) -> None:
    diags.error(
        f"Duplicate {block.type} block",
        f"A module can have only one {block.type} block, and there is already one at {first}.",
        block.def_range,
    )


def _report_backend_and_cloud(backend: Block, cloud: Block, diags: Diagnostics) -> None:
    diags.error(
        "Conflicting backend and cloud blocks",
        "A module can have either a backend block or a cloud block, since its state is stored in "
        f"one location. There is a cloud block at {cloud.def_range}; remove one of the two.",
        backend.def_range,
    )


def _report_stray_requirements(block: Block, diags: Diagnostics) -> None:
    diags.error(
        "Misplaced required_providers block",
        "A required_providers block belongs inside a terraform block: write "
        "terraform { required_providers { ... } }.",
        block.type_range,
    )


def _report_not_overridable(block: Block, diags: Diagnostics) -> None:
    diags.error(
        "Misplaced block in an override file",
        f"{block.type} blocks cannot be overridden. Move this one to a file whose name does not "
        "end in override.",
        block.def_range,
    )


def _report_fixed(what: str, where: Range, diags: Diagnostics) -> None:
    diags.error(
        f"Override of {what}",
        f"An override file cannot change {what}. Change it where the block is first declared.",
        where,
    )


def _report_no_local(
    attribute: Attribute, known: Mapping[str, Attribute], diags: Diagnostics
) -> None:
    diags.error(
        "Nothing to override",
        f"There is no local.{attribute.name} in the other files. An override file can only "
        f"change what is declared there.{did_you_mean(attribute.name, known)}",
        attribute.range,
    )


def _report_nothing_to_override(
    block: Block, named: Mapping[Key, Declared], diags: Diagnostics
) -> None:
    same_type = [key[-1] for key in named if key[:-1] == tuple(block.labels[:-1])]
    hint = did_you_mean(block.labels[-1], same_type)
    diags.error(
        "Nothing to override",
        f"There is no {_title(block)} in the other files. An override file can only change what "
        f"is declared there.{hint}",
        block.def_range,
    )
