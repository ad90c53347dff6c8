"""Settings of lint: `lint.hcl` in the directory of a module, or in one above it.

    lint {
      preset  = "recommended"
      rules   = ["policies"]
      exclude = ["legacy/**"]
    }

    rule "nigari:naming" {
      enabled  = true
      severity = "error"
    }

What a directory says counts more than what the directories above it say, each argument and each rule
by itself. The search ends at the top of the git repository.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatch

from nigari.cty.types import BOOL, STRING, ListType
from nigari.diagnostics import Diagnostics, Severity
from nigari.hcl.body import AttributeSchema, Block, BlockSchema, BodySchema
from nigari.hcl.quoting import quoted
from nigari.hcl.suggestion import did_you_mean
from nigari.lint.rule import RECOMMENDED, Rule
from nigari.lint.rule_list import RuleList
from nigari.record import ReadOnly, record, replace
from nigari.workspace.context.nigari_files import (
    BlockInstance,
    OwnFile,
    parse_own_file,
    read_own_file,
)
from nigari.workspace.context.working_directory import WorkingDirectory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

FILE_NAME: Final = "lint.hcl"
USUAL: Final = "recommended"
STRICT: Final = "strict"
PRESETS: Final = ("none", USUAL, STRICT)
_BUILT_IN: Final = ("core", "nigari")
_BLOCKS: Final = (BlockSchema("lint"), BlockSchema("rule", ("name",)))
_LINT: Final = BodySchema(
    (AttributeSchema("preset"), AttributeSchema("rules"), AttributeSchema("exclude"))
)
_RULE: Final = BodySchema((AttributeSchema("enabled"), AttributeSchema("severity")))


@record
class RuleSetting:
    """A file's setting for one rule."""

    enabled: bool = True
    severity: Severity | None = None


@record
class Settings:
    """The settings of one directory."""

    preset: str = USUAL
    rules: Mapping[str, RuleSetting] = ReadOnly({})
    """By identifier."""
    excluded: tuple[tuple[str, str], ...] = ()
    """Patterns of directories, each with the directory that they are seen from."""
    policies: tuple[str, ...] = ()
    """Absolute paths of files and directories with rules in Python."""

    def runs(self, rule: str, groups: Sequence[str], given: RuleList) -> bool:
        """Return whether a rule should run.

        The command line overrides files. A nonexistent rule has no groups.
        """
        if given:
            return given.allows(rule, groups)
        setting = self.rules.get(rule)
        if setting is not None:
            return setting.enabled
        if rule.partition(":")[0] not in _BUILT_IN:
            # Rules in Python run because the user names their files.
            return bool(groups)
        return self.preset == STRICT or (self.preset == USUAL and RECOMMENDED in groups)

    def severity(self, rule: str) -> Severity | None:
        """The severity that is set for a rule, if one is."""
        setting = self.rules.get(rule)
        return None if setting is None else setting.severity

    def excludes(self, path: str) -> bool:
        """Return whether a directory is excluded from reports."""
        return any(
            fnmatch(os.path.relpath(path, base).replace(os.sep, "/") + "/", f"{pattern}*")
            for base, pattern in self.excluded
        )


class SettingsFiles:
    """Reads the settings of directories, each file once."""

    def __init__(self, where: WorkingDirectory, rules: Iterable[Rule], diags: Diagnostics) -> None:
        self._where = where
        self._known_rules = frozenset(each.id for each in rules)
        self._diags = diags
        self._settings: dict[str, Settings] = {}
        self.sources: dict[str, bytes] = {}
        """The files that were read, for showing diagnostics."""

    def of(self, directory: str) -> Settings:
        """The settings of a directory, by its absolute path."""
        known = self._settings.get(directory)
        if known is None:
            above = os.path.dirname(directory)
            is_top = above == directory or os.path.exists(os.path.join(directory, ".git"))
            base = Settings() if is_top else self.of(above)
            known = self._settings[directory] = self._read(directory, base)
        return known

    def _read(self, directory: str, base: Settings) -> Settings:
        if not os.path.exists(os.path.join(directory, FILE_NAME)):
            return base
        root = self._where.absolute_root
        name = os.path.relpath(directory, root)
        if name.startswith(".."):
            name = directory
        where = replace(self._where, name=name, environment=None)
        file = read_own_file(where, FILE_NAME, _BLOCKS, self._diags)
        return base if file is None else self._evaluated(file, directory, base)

    def read(self, data: bytes) -> Settings:
        """Read the settings in a text, which stands for the file of the directory itself."""
        file = parse_own_file(self._where, FILE_NAME, data, _BLOCKS, self._diags)
        return self._evaluated(file, self._where.absolute_root, Settings())

    def _evaluated(self, file: OwnFile, directory: str, base: Settings) -> Settings:
        self.sources[file.path] = file.data
        for block in file.blocks_of("lint"):
            base = self._lint(BlockInstance(block, block.body, file.scope), directory, base)
        rules = dict(base.rules)
        for block in file.blocks_of("rule"):
            found = self._rule(file, block)
            if found is not None:
                rules[block.labels[0]] = found
        return replace(base, rules=rules)

    def _lint(self, instance: BlockInstance, directory: str, base: Settings) -> Settings:
        given = instance.body.content(_LINT, self._diags).attributes
        if "preset" in given:
            value = instance.value(given["preset"], STRING, self._diags)
            preset = base.preset if value is None else value.as_string()
            if preset not in PRESETS:
                self._diags.error(
                    "Invalid preset",
                    f"There is no preset {quoted(preset)}. Use none, recommended or strict.",
                    given["preset"].expr.range,
                )
            else:
                base = replace(base, preset=preset)
        texts: dict[str, list[str]] = {"rules": [], "exclude": []}
        for name, found in texts.items():
            if name in given:
                value = instance.value(given[name], ListType(STRING), self._diags)
                if value is not None:
                    found += [each.as_string() for each in value.sequence() if not each.is_null]
        policies = [os.path.normpath(os.path.join(directory, each)) for each in texts["rules"]]
        excluded = [(directory, each.removesuffix("**")) for each in texts["exclude"]]
        return replace(
            base,
            policies=(*base.policies, *policies),
            excluded=(*base.excluded, *excluded),
        )

    def _rule(self, file: OwnFile, block: Block) -> RuleSetting | None:
        name, diags = block.labels[0], self._diags
        instance = BlockInstance(block, block.body, file.scope)
        given = block.body.content(_RULE, diags).attributes
        if name not in self._known_rules and name.partition(":")[0] in _BUILT_IN:
            diags.warning(
                "Unknown rule",
                f"There is no rule {quoted(name)}.{did_you_mean(name, self._known_rules)}",
                block.label_ranges[0],
            )
        enabled, severity = True, None
        if "enabled" in given:
            value = instance.value(given["enabled"], BOOL, diags)
            enabled = value is None or value.data is True
        if "severity" in given:
            value = instance.value(given["severity"], STRING, diags)
            text = "" if value is None else value.as_string()
            severity = {each.value: each for each in Severity}.get(text)
            if severity is None and value is not None:
                diags.error(
                    "Invalid severity",
                    f'The severity of a rule is "error" or "warning", not {quoted(text)}.',
                    given["severity"].expr.range,
                )
        return RuleSetting(enabled, severity)
