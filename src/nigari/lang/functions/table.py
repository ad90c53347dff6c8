"""Function table: all built-in functions by name, each also as `core::` with its name.

A table is cheap to create: it holds names, and loads the module of a theme when one of its
functions is first looked up. Libraries are loaded when a function that uses one is called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from nigari.cty.function import Function
from nigari.cty.types import Type
from nigari.cty.values import Value, unknown
from nigari.lang.files import Files
from nigari.lang.functions.host_environment import HostEnvironment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


CORE: Final = "core::"
IMPURE: Final = frozenset({"bcrypt", "timestamp", "uuid"})
"""Functions whose result differs from call to call."""
CALLERS: Final = frozenset({"templatefile", "templatestring"})
"""Functions that call other functions."""
_READERS: Final = "file"
"""The beginning of the names of all functions that read files."""
CONSOLE_ONLY: Final = "type"
NOT_IN_CONSOLE: Final = "plantimestamp"


def function_table(
    files: Files,
    base_directory: str,
    *,
    home_directory: str | None = None,
    plan_timestamp: str | None = None,
    deferral: Callable[[str], object] | None = None,
    console: bool = False,
    root: str = "",
) -> FunctionTable:
    """Build the table for expressions that are evaluated in a directory.

    With a `deferral`, impure functions return an unknown value; it maps the function's name to the
    cause. `plantimestamp` does the same without a `plan_timestamp`. The console has `type` in its
    place. `root` is the absolute path to which the directory is relative, if that is not the
    process's own directory.
    """
    host = HostEnvironment(files, base_directory, home_directory, plan_timestamp, deferral, root)
    return FunctionTable(host, console)


def is_steady(name: str) -> bool:
    """Return whether a call always has the same result for the same arguments."""
    bare = name.removeprefix(CORE)
    if bare in IMPURE or bare in CALLERS or bare.startswith(_READERS):
        return False
    return bare in _THEMES


class FunctionTable(Mapping[str, Function]):
    """A mapping of names to functions, which are created when they are looked up."""

    __slots__ = ("_made", "_themes", "_host")

    def __init__(self, host: HostEnvironment, console: bool) -> None:
        self._host = host
        self._made: dict[str, Function] = {}
        self._themes = dict(_THEMES)
        del self._themes[NOT_IN_CONSOLE if console else CONSOLE_ONLY]

    def __getitem__(self, name: str) -> Function:
        function = self._made.get(name)
        if function is None:
            function = self._make(name)
        return function

    def __iter__(self) -> Iterator[str]:
        yield from self._themes
        for name in self._themes:
            yield CORE + name

    def __len__(self) -> int:
        return 2 * len(self._themes)

    def calling(self, name: str, functions: Mapping[str, Function]) -> Function:
        """Return a function bound to the other functions that it can call."""
        bare = name.removeprefix(CORE)
        return self._themes[bare](self._host, functions)[bare]

    def _make(self, name: str) -> Function:
        bare = name.removeprefix(CORE)
        functions = self._themes[bare](self._host, self)
        for made, function in functions.items():
            if made not in self._themes:
                continue
            if made in IMPURE and self._host.deferral is not None:
                function = _deferred(function, made, self._host.deferral)
            self._made[made] = self._made[CORE + made] = function
        return self._made[name]


class _Deferred:
    """Implementation of a function that must not be called yet."""

    __slots__ = ("deferral", "name")

    def __init__(self, name: str, deferral: Callable[[str], object]) -> None:
        self.name = name
        self.deferral = deferral

    def implementation(self, args: list[Value], expected: Type) -> Value:
        return unknown(expected).with_causes((self.deferral(self.name),))


def _deferred(function: Function, name: str, deferral: Callable[[str], object]) -> Function:
    return Function(
        function.parameters,
        function.variadic,
        function.return_type,
        _Deferred(name, deferral).implementation,
        function.refine,
        function.description,
    )


# -- themes -------------------------------------------------------------------------------------

_Functions = Mapping[str, Function]
_Theme = Callable[[HostEnvironment, Mapping[str, Function]], _Functions]


def _arithmetic(host: HostEnvironment, around: _Functions) -> _Functions:
    from nigari.cty.stdlib import arithmetic, sequences

    return {
        "abs": arithmetic.ABSOLUTE,
        "ceil": arithmetic.CEIL,
        "floor": arithmetic.FLOOR,
        "log": arithmetic.LOG,
        "max": arithmetic.MAX,
        "min": arithmetic.MIN,
        "parseint": arithmetic.PARSE_INT,
        "pow": arithmetic.POW,
        "range": sequences.RANGE,
        "signum": arithmetic.SIGNUM,
    }


def _cty_strings(host: HostEnvironment, around: _Functions) -> _Functions:
    from nigari.cty.stdlib import string_lists, strings

    return {
        "chomp": strings.CHOMP,
        "compact": string_lists.COMPACT,
        "indent": strings.INDENT,
        "join": string_lists.JOIN,
        "lower": strings.LOWER,
        "sort": string_lists.SORT,
        "split": string_lists.SPLIT,
        "strrev": strings.REVERSE,
        "substr": strings.SUBSTR,
        "title": strings.TITLE,
        "trim": strings.TRIM,
        "trimprefix": strings.TRIM_PREFIX,
        "trimspace": strings.TRIM_SPACE,
        "trimsuffix": strings.TRIM_SUFFIX,
        "upper": strings.UPPER,
    }


def _formats(host: HostEnvironment, around: _Functions) -> _Functions:
    from nigari.cty.stdlib import format as formatting

    return {"format": formatting.FORMAT, "formatlist": formatting.FORMAT_LIST}


def _patterns(host: HostEnvironment, around: _Functions) -> _Functions:
    from nigari.cty.stdlib import regular_expressions

    return {"regex": regular_expressions.REGEX, "regexall": regular_expressions.REGEX_ALL}


def _cty_collections(host: HostEnvironment, around: _Functions) -> _Functions:
    from nigari.cty.stdlib import collections, mappings, sequences, sets

    return {
        "chunklist": sequences.CHUNK_LIST,
        "coalescelist": sequences.COALESCE_LIST,
        "concat": sequences.CONCAT,
        "contains": collections.CONTAINS,
        "distinct": sequences.DISTINCT,
        "element": sequences.ELEMENT,
        "flatten": sequences.FLATTEN,
        "keys": mappings.KEYS,
        "merge": mappings.MERGE,
        "reverse": sequences.REVERSE_LIST,
        "setintersection": sets.SET_INTERSECTION,
        "setproduct": collections.SET_PRODUCT,
        "setsubtract": sets.SET_SUBTRACT,
        "setunion": sets.SET_UNION,
        "slice": sequences.SLICE,
        "values": mappings.VALUES,
        "zipmap": mappings.ZIPMAP,
    }


def _notations(host: HostEnvironment, around: _Functions) -> _Functions:
    from nigari.cty.stdlib import csv_text, json_text

    return {
        "csvdecode": csv_text.CSV_DECODE,
        "jsondecode": json_text.JSON_DECODE,
        "jsonencode": json_text.JSON_ENCODE,
    }


def _dates(host: HostEnvironment, around: _Functions) -> _Functions:
    from nigari.cty.stdlib import timestamps

    return {"formatdate": timestamps.FORMAT_DATE, "timeadd": timestamps.TIME_ADD}


def _assumptions(host: HostEnvironment, around: _Functions) -> _Functions:
    from nigari.lang.functions import assumptions

    return assumptions.FUNCTIONS


def _try_can(host: HostEnvironment, around: _Functions) -> _Functions:
    from nigari.lang.functions import try_can

    return try_can.FUNCTIONS


def _collections(host: HostEnvironment, around: _Functions) -> _Functions:
    from nigari.lang.functions import collections

    return collections.FUNCTIONS


def _conversion(host: HostEnvironment, around: _Functions) -> _Functions:
    from nigari.lang.functions import conversion

    return conversion.FUNCTIONS


def _encoding(host: HostEnvironment, around: _Functions) -> _Functions:
    from nigari.lang.functions import encoding

    return encoding.FUNCTIONS


def _filesystem(host: HostEnvironment, around: _Functions) -> _Functions:
    from nigari.lang.functions import filesystem

    return filesystem.functions(host)


def _hashes(host: HostEnvironment, around: _Functions) -> _Functions:
    from nigari.lang.functions import hashes

    return hashes.functions(host)


def _marking(host: HostEnvironment, around: _Functions) -> _Functions:
    from nigari.lang.functions import marking

    return marking.FUNCTIONS


def _networks(host: HostEnvironment, around: _Functions) -> _Functions:
    from nigari.lang.functions import networks

    return networks.FUNCTIONS


def _paths(host: HostEnvironment, around: _Functions) -> _Functions:
    from nigari.lang.functions import paths

    return paths.functions(host)


def _strings(host: HostEnvironment, around: _Functions) -> _Functions:
    from nigari.lang.functions import strings

    return strings.FUNCTIONS


def _templates(host: HostEnvironment, around: _Functions) -> _Functions:
    from nigari.lang.functions import templates

    return templates.functions(host, around)


def _text_encodings(host: HostEnvironment, around: _Functions) -> _Functions:
    from nigari.lang.functions import text_encodings

    return text_encodings.FUNCTIONS


def _times(host: HostEnvironment, around: _Functions) -> _Functions:
    from nigari.lang.functions import times

    return times.functions(host)


def _yaml(host: HostEnvironment, around: _Functions) -> _Functions:
    from nigari.lang.functions import yaml

    return yaml.FUNCTIONS


_NAMES: Final[tuple[tuple[_Theme, str], ...]] = (
    (_arithmetic, "abs ceil floor log max min parseint pow range signum"),
    (
        _assumptions,
        (
            "assumeequal assumelistlength assumelistlengthmax assumelistlengthmin assumemaplength "
            "assumemaplengthmax assumemaplengthmin assumenotnull assumesetlength assumesetlengthmax "
            "assumesetlengthmin assumestringprefix"
        ),
    ),
    (_try_can, "can try"),
    (
        _collections,
        "alltrue anytrue coalesce index length list lookup map matchkeys one sum transpose",
    ),
    (_conversion, "convert tobool tolist tomap tonumber toset tostring type"),
    (
        _cty_collections,
        (
            "chunklist coalescelist concat contains distinct element flatten keys merge reverse "
            "setintersection setproduct setsubtract setunion slice values zipmap"
        ),
    ),
    (
        _cty_strings,
        (
            "chomp compact indent join lower sort split strrev substr title trim trimprefix trimspace "
            "trimsuffix upper"
        ),
    ),
    (_dates, "formatdate timeadd"),
    (_encoding, "base64decode base64encode base64gunzip base64gzip urldecode urlencode"),
    (_filesystem, "file filebase64 fileexists fileset"),
    (_formats, "format formatlist"),
    (
        _hashes,
        (
            "base64sha256 base64sha512 bcrypt filebase64sha256 filebase64sha512 filemd5 filesha1 "
            "filesha256 filesha512 md5 rsadecrypt sha1 sha256 sha512 uuid uuidv5"
        ),
    ),
    (_marking, "ephemeralasnull issensitive nonsensitive sensitive"),
    (_networks, "cidrcontains cidrhost cidrnetmask cidrsubnet cidrsubnets"),
    (_notations, "csvdecode jsondecode jsonencode"),
    (_paths, "abspath basename dirname pathexpand"),
    (_patterns, "regex regexall"),
    (_strings, "endswith replace startswith strcontains"),
    (_templates, "templatefile templatestring"),
    (_text_encodings, "textdecodebase64 textencodebase64"),
    (_times, "plantimestamp timecmp timestamp"),
    (_yaml, "yamldecode yamlencode"),
)
_THEMES: Final = {name: theme for theme, names in _NAMES for name in names.split()}
