"""Versions, and the two grammars of version constraints.

Module versions and `required_version` use one grammar, provider versions a stricter one; the same
text may have different meanings (`~> 1` has no upper limit for a module and means `< 2.0.0` for a
provider). Deliberately unknown here: the available versions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache, total_ordering

from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.quoting import quoted
from nigari.record import record

# Patterns are stored as texts and compiled on first use.
_VERSION = (
    r"v?(?P<numbers>[0-9]+(?:\.[0-9]+)*?)"
    r"(?:-(?P<numeric>[0-9]+[0-9A-Za-z~-]*(?:\.[0-9A-Za-z~-]+)*)"
    r"|-?(?P<alpha>[A-Za-z~-]+[0-9A-Za-z~-]*(?:\.[0-9A-Za-z~-]+)*))?"
    r"(?:\+(?P<metadata>[0-9A-Za-z~-]+(?:\.[0-9A-Za-z~-]+)*))?"
)
_LOOSE_CONSTRAINT = rf"(?P<operator><=|>=|!=|~>|<|>|=|)\s*{_VERSION}"
_STRICT_CONSTRAINT = (
    r"(?P<operator>[^0-9A-Za-z\s.*]*)(?P<space>[\sv]*)"
    r"(?P<numbers>(?:[0-9]+|[*xX])(?:\.(?:[0-9]+|[*xX]))*)"
    r"(?:-(?P<pre>[0-9A-Za-z.-]+))?(?:\+(?P<metadata>[0-9A-Za-z.-]+))?"
)
_OPERATORS = ("=", "!=", ">", ">=", "<", "<=", "~>")
_OPERATOR_ORDER = {">": 1, ">=": 2, "=": 3, "~>": 4, "<=": 6, "<": 7, "!=": 8}
_MOST_DIGITS = 18
"""Maximum digits of a version number, which fit into a 64-bit integer."""

_ExtraKey = tuple[tuple[int, int, str], ...]
_Key = tuple[tuple[int, ...], bool, _ExtraKey]


@total_ordering
class Version:
    """A version: three or more numbers, a pre-release tag and build metadata."""

    __slots__ = ("_key", "metadata", "numbers", "prerelease", "text")

    numbers: tuple[int, ...]
    """Major, minor, patch, and further numbers; at least three."""
    prerelease: str
    metadata: str

    def __init__(self, numbers: tuple[int, ...], prerelease: str = "", metadata: str = "") -> None:
        self.numbers = numbers + (0,) * (3 - len(numbers))
        self.prerelease = prerelease
        self.metadata = metadata
        text = ".".join(map(str, self.numbers))
        if prerelease:
            text += f"-{prerelease}"
        self.text: str = f"{text}+{metadata}" if metadata else text
        significant = len(self.numbers)
        while significant > 3 and self.numbers[significant - 1] == 0:
            significant -= 1
        self._key = (self.numbers[:significant], not prerelease, _extra_key(prerelease))

    def is_same_release(self, other: Version) -> bool:
        """Check that neither version precedes the other; build metadata is ignored."""
        return self._key == other._key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and (
            self._key == other._key and self.metadata == other.metadata
        )

    def __hash__(self) -> int:
        return hash((self._key, self.metadata))

    def precedence(self) -> _Key:
        """Return the sort key of versions, which excludes build metadata."""
        return self._key

    def __lt__(self, other: Version) -> bool:
        if self._key != other._key:
            return self._key < other._key
        return _extra_key(self.metadata) < _extra_key(other.metadata)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Version {self.text}>"


def newest(versions: Iterable[Version]) -> Version | None:
    """Return the newest version.

    Build metadata is ignored, so that the first of several versions that differ in nothing else
    wins: go-version's Compare treats them as equal, and only a greater version replaces an earlier
    one.
    """
    return max(versions, key=Version.precedence, default=None)


def _extra_key(extra: str) -> _ExtraKey:
    """Sort pre-release tags: numbers by size and before words, fewer parts before more."""
    if not extra:
        return ()
    return tuple(
        (0, int(part), "") if part.isdigit() and len(part) <= _MOST_DIGITS else (1, 0, part)
        for part in extra.split(".")
    )


_NO_VERSION = Version((0, 0, 0))


def parse_version(text: str) -> Version | None:
    """Parse a module version: `1.2`, `v1.2.3`, `1.2.3-beta1`, `1.2.3.4`."""
    match = re.fullmatch(_VERSION, text)
    return None if match is None else _loose_version(match)


def parse_exact_version(text: str) -> Version | None:
    """Parse a provider version: at most three numbers, without a leading `v`."""
    match = re.fullmatch(_STRICT_CONSTRAINT, text)
    if match is None or match["operator"] or match["space"]:
        return None
    numbers = _numbers(match["numbers"])
    if numbers is None or len(numbers) > 3:
        return None
    return Version(numbers, match["pre"] or "", match["metadata"] or "")


def _loose_version(match: re.Match[str]) -> Version | None:
    numbers = _numbers(match["numbers"])
    if numbers is None:
        return None
    prerelease = match["alpha"] or match["numeric"] or ""
    return Version(numbers, prerelease, match["metadata"] or "")


def _numbers(text: str) -> tuple[int, ...] | None:
    parts = text.split(".")
    if any(not part.isdigit() or len(part) > _MOST_DIGITS for part in parts):
        return None
    return tuple(map(int, parts))


@record
class Constraint:
    """A single condition on a version: `>= 1.2`."""

    operator: str
    """One of `=`, `!=`, `>`, `>=`, `<`, `<=`, `~>`."""
    version: Version
    given: int
    """Number of version numbers as written."""


class ModuleConstraints:
    """Conditions that a module version must all meet; also for `required_version`."""

    __slots__ = ("items", "text")

    items: tuple[Constraint, ...]
    text: str
    """The original text."""

    def __init__(self, items: tuple[Constraint, ...], text: str) -> None:
        self.items = items
        self.text = text

    def allows(self, version: Version) -> bool:
        """Check that the version meets every condition."""
        return all(_module_allows(item, version) for item in self.items)

    @property
    def names_prerelease(self) -> bool:
        """True if any condition has a pre-release tag."""
        return any(item.version.prerelease for item in self.items)

    def newest(self, versions: Iterable[Version]) -> Version | None:
        """Return the newest allowed version; a pre-release only if a condition names it with `=`."""
        # OpenTofu's module installer ignores pre-releases unless a constraint requires exactly that
        # version.
        return newest(
            version
            for version in versions
            if self.allows(version)
            and (not version.prerelease or _is_requested(self.items, version))
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ModuleConstraints) and self.items == other.items

    def __hash__(self) -> int:
        return hash(self.items)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<ModuleConstraints {self.text}>"


class ProviderConstraints:
    """Conditions that a provider version must all meet."""

    __slots__ = ("items", "text")

    items: tuple[Constraint, ...]
    text: str
    """The canonical text of these conditions, as in the dependency lock file."""

    def __init__(self, items: Iterable[Constraint] = ()) -> None:
        unique = {_canonical_text(item): item for item in items}
        ordered = sorted(unique.items(), key=lambda pair: _canonical_order(pair[1]))
        self.items = tuple(item for _, item in ordered)
        self.text = ", ".join(text for text, _ in ordered)

    def allows(self, version: Version) -> bool:
        """Check that the version meets every condition; a pre-release must be named with `=`.

        0.0.0 stands for an unspecified version and is never allowed.
        """
        return (
            version != _NO_VERSION
            and all(_provider_allows(item, version) for item in self.items)
            and (not version.prerelease or _is_requested(self.items, version))
        )

    def newest(self, versions: Iterable[Version]) -> Version | None:
        """Return the newest allowed version."""
        return newest(version for version in versions if self.allows(version))

    def __and__(self, other: ProviderConstraints) -> ProviderConstraints:
        return ProviderConstraints((*self.items, *other.items))

    def __bool__(self) -> bool:
        return bool(self.items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProviderConstraints) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<ProviderConstraints {self.text}>"


def _is_requested(items: tuple[Constraint, ...], version: Version) -> bool:
    return any(item.operator == "=" and item.version.is_same_release(version) for item in items)


def _module_allows(item: Constraint, version: Version) -> bool:
    limit = item.version
    if item.operator == "=":
        return version.is_same_release(limit)
    if item.operator == "!=":
        return not version.is_same_release(limit)
    # go-version (prereleaseCheck): a pre-release only matches a limit that is a pre-release of the
    # same numbers.
    if version.prerelease and (not limit.prerelease or version.numbers != limit.numbers):
        return False
    if item.operator != "~>":
        return _compares(item.operator, version, limit)
    # go-version (constraintPessimistic): a limit with a pre-release never matches a release.
    if limit.prerelease and not version.prerelease:
        return False
    # go-version compares as many numbers as the constraint has, so a shorter version cannot match.
    if len(version.numbers) < len(limit.numbers) or not _compares(">=", version, limit):
        return False
    # "~> 1.2" fixes all written numbers except for the last, which may grow.
    fixed = item.given - 1
    last = len(limit.numbers) - 1
    return (
        version.numbers[:fixed] == limit.numbers[:fixed]
        and version.numbers[last] >= limit.numbers[last]
    )


def _provider_allows(item: Constraint, version: Version) -> bool:
    limit = item.version
    if item.operator == "=":
        # go-versions: equality includes build metadata, unlike order.
        return version == limit
    if item.operator == "!=":
        return version != limit
    if item.operator != "~>":
        return _compares(item.operator, version, limit)
    # go-versions: "~> 1.2.3" allows new patch releases, "~> 1.2" and "~> 1" new minor releases.
    major, minor, _ = limit.numbers
    above = (major, minor + 1) if item.given == 3 else (major + 1,)
    return _compares(">=", version, limit) and _compares("<", version, Version(above))


def _compares(operator: str, version: Version, limit: Version) -> bool:
    same = version.is_same_release(limit)
    if operator == ">":
        return not same and version > limit
    if operator == ">=":
        return same or version > limit
    if operator == "<":
        return not same and version < limit
    return same or version < limit


def _canonical_text(item: Constraint) -> str:
    version = item.version
    if item.operator == "~>" and item.given < 3:
        major, minor, _ = version.numbers
        text = f"{major}.{minor}"
        if version.prerelease:
            text += f"-{version.prerelease}"
        if version.metadata:
            text += f"+{version.metadata}"
    else:
        text = version.text
    return text if item.operator == "=" else f"{item.operator} {text}"


def _canonical_order(item: Constraint) -> tuple[Version, int]:
    order = _OPERATOR_ORDER[item.operator]
    return item.version, order + 1 if item.operator == "~>" and item.given < 3 else order


def parse_module_constraints(
    text: str, diags: Diagnostics, subject: Range | None = None
) -> ModuleConstraints | None:
    """Parse the version constraints of a module, or a `required_version`.

    `subject` is their range in the configuration; without it, diagnostics point into the text.
    """
    found = _module_constraints(text)
    if isinstance(found, ModuleConstraints):
        return found
    _report_constraint(text, *found, diags, subject)
    return None


@lru_cache(maxsize=1024)
def _module_constraints(text: str) -> ModuleConstraints | tuple[int, int]:
    """Parse the constraints, or return the range of the invalid piece. The result is cached, as
    many calls share one.
    """
    items = []
    for start, end in _pieces(text):
        match = re.compile(_LOOSE_CONSTRAINT).fullmatch(text, start, end)
        version = None if match is None else _loose_version(match)
        if match is None or version is None:
            return start, end
        given = match["numbers"].count(".") + 1
        items.append(Constraint(match["operator"] or "=", version, given))
    return ModuleConstraints(tuple(items), text)


def parse_provider_constraints(
    text: str, diags: Diagnostics, subject: Range | None = None
) -> ProviderConstraints | None:
    """Parse the version constraints of a provider, including those in a dependency lock file.

    `subject` is their range in the configuration; without it, diagnostics point into the text.
    """
    items = []
    for start, end in _pieces(text):
        match = re.compile(_STRICT_CONSTRAINT).fullmatch(text, start, end)
        item = None if match is None else _strict_constraint(match)
        if item is None:
            _report_constraint(text, start, end, diags, subject, strict=True)
            return None
        items.append(item)
    return ProviderConstraints(items)


def _strict_constraint(match: re.Match[str]) -> Constraint | None:
    operator = match["operator"] or "="
    spaces = ("", " ") if match["operator"] else ("",)
    numbers = _numbers(match["numbers"])
    if operator not in _OPERATORS or match["space"] not in spaces:
        return None
    if numbers is None or len(numbers) > 3:
        return None
    version = Version(numbers, match["pre"] or "", match["metadata"] or "")
    return Constraint(operator, version, len(numbers))


def _pieces(text: str) -> list[tuple[int, int]]:
    """Return the offsets of the conditions between commas, without the spaces around them."""
    pieces = []
    offset = 0
    for piece in text.split(","):
        start = offset + len(piece) - len(piece.lstrip())
        pieces.append((start, max(start, offset + len(piece.rstrip()))))
        offset += len(piece) + 1
    return pieces


def _report_constraint(
    text: str,
    start: int,
    end: int,
    diags: Diagnostics,
    subject: Range | None,
    strict: bool = False,
) -> None:
    from nigari.hcl.source import Source

    piece = text[start:end]
    diags.error(
        "Invalid version constraint",
        f"{quoted(piece)} is not a valid version constraint. {_constraint_mistake(piece, strict)}",
        subject or Source("", text).range(start, end),
    )


_MISTAKES = (
    (r"", "There must be a condition such as >= 1.2.0 between commas."),
    (r"=>.*", "The operator for a version or a newer one is >=."),
    (r"=<.*", "The operator for a version or an older one is <=."),
    (r"(==|===).*", "The operator for exactly one version is a single =."),
    (r"\^.*", "For the newest version with the same major number, write ~> with two numbers."),
    (r"~[^>].*", "The operator for compatible versions is ~>."),
    (r".*\|\|.*", "Alternatives are not supported: all conditions must be met."),
    (r"[<>=!~]+", "The operator must be followed by a version number."),
    (
        r".*[0-9.][*xX](\..*)?|[<>=!~ ]*[*xX].*",
        "Wildcards are not supported: leave out the numbers that may vary and write ~> in front.",
    ),
    (r".*[0-9A-Za-z]\s+([<>=!~]|[0-9]).*", "Separate conditions with commas."),
    (r"[<>=!~]*\s*latest", "Leave the version out to get the newest one."),
)
_STRICT_MISTAKES = (
    (r"[<>=!~]*\s*v.*", "Write the version of a provider without a v in front."),
    (r"[<>=!~]+(\s{2,}|[^\S ]).*", "Put at most one space after the operator."),
    (r"[<>=!~]*\s*[0-9]+(\.[0-9]+){3,}.*", "The version of a provider has at most three numbers."),
)


def _constraint_mistake(piece: str, strict: bool) -> str:
    for pattern, advice in (*_MISTAKES, *_STRICT_MISTAKES) if strict else _MISTAKES:
        if re.fullmatch(pattern, piece, re.DOTALL):
            return advice
    return (
        "Write an operator (=, !=, >, >=, <, <= or ~>) and a version number such as 1.2.0. "
        "Separate several conditions, which must all be met, with commas."
    )
