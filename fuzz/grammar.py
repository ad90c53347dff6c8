"""Makes random expressions: of a wanted type most of the time, so that most of them evaluate.

Types are texts: `string`, `number`, `bool`, `any`, `list(string)`, `set(number)`, `map(bool)`,
`tuple`, `object`. The names that expressions use are those of the configuration in `FIXTURE`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

from fuzz.functions import FUNCTIONS, Signature
from fuzz.tree import Tree, leaf, listed, node

FIXTURE: Final = """\
variable "us" { type = string }
variable "un" { type = number }
variable "ub" { type = bool }
variable "ul" { type = list(string) }
variable "ut" { type = set(string) }
variable "um" { type = map(number) }
variable "uo" { type = object({ a = string, b = optional(number) }) }
variable "ua" { type = any }
variable "ss" {
  type      = string
  default   = "s3cret"
  sensitive = true
}
variable "sn" {
  type      = number
  default   = 7
  sensitive = true
}
variable "sl" {
  type      = list(string)
  default   = ["x", "y"]
  sensitive = true
}
variable "es" {
  type      = string
  default   = "ephemeral"
  ephemeral = true
}
locals {
  s = "text"
  n = 3
  b = true
  l = tolist(["a", "b", "c"])
  t = toset(["b", "a", "b"])
  m = tomap({ k = 1, j = 2 })
  o = { a = 1, b = "two", c = [true, null] }
  z = null
  p = [var.us, "known", var.sn]
  q = { u = var.un, k = "v", s = var.ss }
  w = tolist([{ a = "1", b = 2 }, { a = "2", b = null }])
}
"""

_NAMES: Final = {
    "string": ("local.s", "var.us", "var.ss", "var.es", "local.o.b", "local.p[0]", "local.q.s"),
    "number": ("local.n", "var.un", "var.sn", "local.m.k", "local.q.u"),
    "bool": ("local.b", "var.ub"),
    "list(string)": ("local.l", "var.ul", "var.sl", "local.w[*].a"),
    "list(number)": ("local.w[*].b",),
    "set(string)": ("local.t", "var.ut"),
    "map(number)": ("local.m", "var.um"),
    "object": ("local.o", "var.uo", "local.q", "local.w[0]"),
    "tuple": ("local.p", "local.o.c"),
    "any": ("local.z", "var.ua", "local.w"),
}
_STRINGS: Final = (
    "", "a", "b", "k", "hello", "Hello World", "true", "false", "1", "-3.5", "0x1F", "1e3", "null",
    "a,b,c", "é", "日本", "😀", "e\\u0301", "\\n", "a\\nb\\n", "\\t", "\\\"", "\\\\", "$${x}", "%%{y}",
    "$", "%", "10.0.0.0/16", "2024-02-29T12:30:00Z", "[1, 2]", "{\\\"a\\\": null}", "a: 1", "/a/../b",
    "\\u0000", "\\u200b", "-", " pad ", "%s", "%d-%v", "(a+)(b)?", "é\\u0301", "İ", "ß", "ﬁ",
)  # fmt: skip
_NUMBERS: Final = (
    "0", "1", "2", "3", "-1", "-2.5", "10", "0.1", "1.50", "1e3", "1e-7", "255", "256", "1e21",
    "9007199254740993", "18446744073709551616", "123456789012345678901234567890", "0.30000000000000004",
    "1e100", "2.5", "3.999999999999999999999",
)  # fmt: skip
_KEYS: Final = ("a", "b", "k", "id", '"a b"', '"é"', '"1"', '"for"', "null", "(local.s)", "1")
_PIECES: Final = (
    "", "", " ", "(", ")", "[", "]", "{", "}", '"', "${", "%{", "~", ".", "..", "...", ",", ":", "?",
    "=", "==", "=>", "!", "&", "&&", "|", "+", "-", "*", "/", "//", "#", "/*", "*/", "%", "<", "<<A",
    "\\", "'", "`", "@", "$", ";", "é", "0", "1e", "a", "for", "in", "if", "null", "::", "\t",
)  # fmt: skip
_MANGLED: Final = 0.05
_SIMPLE: Final = ("string", "number", "bool")
_ALL: Final = (*_SIMPLE, "list", "set", "map", "tuple", "object", "any")


class Grammar:
    """A source of expressions; the same seed gives the same ones."""

    def __init__(self, seed: int, depth: int = 4) -> None:
        self._random = random.Random(seed)
        self._depth = depth
        self._bound: list[str] = []
        self._in_template = False
        self._by_result: dict[str, list[Signature]] = {}
        for signature in FUNCTIONS:
            self._by_result.setdefault(signature.result.partition("(")[0], []).append(signature)

    def expression(self) -> Tree:
        """A new expression."""
        self._bound = []
        if self._chance(0.4):
            # Whatever its result, each function gets its turn.
            signature = self._random.choice(FUNCTIONS)
            tree = self._call(signature, signature.result, self._depth - 1)
        else:
            tree = self.make(self._any_type(), self._depth)
        return self._mangled(tree) if self._chance(_MANGLED) else tree

    def _mangled(self, tree: Tree) -> Tree:
        """The expression with a few characters changed, so that it may not even be one."""
        text = str(tree)
        for _ in range(self._random.choice((1, 1, 2))):
            at = self._random.randrange(len(text) + 1)
            until = min(len(text), at + self._random.choice((0, 0, 1, 2)))
            text = text[:at] + self._random.choice(_PIECES) + text[until:]
        return leaf(text)

    # -- choosing -------------------------------------------------------------------------------

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    def _any_type(self, depth: int = 2) -> str:
        kind = self._random.choice(_ALL if depth else _SIMPLE)
        if kind in ("list", "set", "map"):
            return f"{kind}({self._any_type(depth - 1)})"
        return kind

    def make(self, wanted: str, depth: int) -> Tree:
        """An expression of the type, or, now and then, of any other."""
        if self._chance(0.03):
            wanted = self._any_type()
        if depth <= 0 or self._chance(0.12):
            return self._plain(wanted)
        ways: list[tuple[float, Callable[[str, int], Tree]]] = [
            (4, self._constructed),
            (4, self._called),
            (1, self._conditional),
            (1, self._accessed),
            (0.4, self._parenthesised),
            (0.3, self._null),
        ]
        chosen = self._random.choices([way for _, way in ways], [weight for weight, _ in ways])
        return chosen[0](wanted, depth - 1)

    # -- leaves ---------------------------------------------------------------------------------

    def _plain(self, wanted: str) -> Tree:
        if self._bound and self._chance(0.4):
            return leaf(self._random.choice(self._bound))
        if wanted in _NAMES and self._chance(0.4):
            return leaf(self._random.choice(_NAMES[wanted]))
        if self._chance(0.04):
            return leaf("null")
        return self._constructed(wanted, 0)

    def _null(self, wanted: str, depth: int) -> Tree:
        return leaf("null") if self._chance(0.5) else self.make(wanted, depth)

    def _parenthesised(self, wanted: str, depth: int) -> Tree:
        return node("(@)", self.make(wanted, depth))

    # -- by type --------------------------------------------------------------------------------

    def _constructed(self, wanted: str, depth: int) -> Tree:
        kind, _, rest = wanted.partition("(")
        element = rest.removesuffix(")") or "any"
        if kind == "string":
            return self._string(depth)
        if kind == "number":
            return self._number(depth)
        if kind == "bool":
            return self._bool(depth)
        if kind == "list":
            return node("tolist(@)", self._sequence(element, depth))
        if kind == "set":
            return node("toset(@)", self._sequence(element, depth))
        if kind == "map":
            return node("tomap(@)", self._mapping(element, depth))
        if kind == "tuple":
            return self._sequence("", depth)
        if kind == "object":
            return self._mapping("", depth)
        return self.make(self._any_type(), depth)

    def _string(self, depth: int) -> Tree:
        if not depth or self._chance(0.4):
            return leaf(f'"{self._random.choice(_STRINGS)}"')
        return self._template(depth)

    def _template(self, depth: int) -> Tree:
        # The real console reads lines: a heredoc in it must have a bracket right around it.
        heredoc = (
            () if self._in_template else ("(<<EOT\n${@}\nEOT\n)", "(<<-EOT\na ${@}\nb\nEOT\n)")
        )
        shape = self._random.choice(
            (
                *heredoc, '"@"', '"a${@}b"', '"${@}"', '"${@}${@}"', '"x ${~ @ ~} y"',
                '"%{ if @ }yes%{ else }${@}%{ endif }"', '"%{ for i in @ }${i},%{ endfor }"',
                '"%{ if @ ~} a %{~ endif }"',
            )
        )  # fmt: skip
        if shape == '"@"':
            return leaf(f'"{self._random.choice(_STRINGS)}{self._random.choice(_STRINGS)}"')
        children = []
        outer, self._in_template = self._in_template, True
        for piece in shape.split("@")[:-1]:
            if piece.endswith("if "):
                children.append(self.make("bool", depth - 1))
            elif piece.endswith("in "):
                children.append(self.make(f"list({self._any_type(0)})", depth - 1))
            else:
                children.append(self.make(self._random.choice(_SIMPLE), depth - 1))
        self._in_template = outer
        return node(shape, *children)

    def _number(self, depth: int) -> Tree:
        if not depth or self._chance(0.3):
            return leaf(self._random.choice(_NUMBERS))
        operator = self._random.choice("+-*/%+-*")
        if self._chance(0.1):
            return node("-@", self.make("number", depth))
        return self._joined(operator, "number", depth)

    def _bool(self, depth: int) -> Tree:
        if not depth or self._chance(0.2):
            return leaf(self._random.choice(("true", "false")))
        choice = self._random.random()
        if choice < 0.15:
            return node("!@", self.make("bool", depth))
        if choice < 0.4:
            operator = self._random.choice(("&&", "||"))
            kind = "bool"
        elif choice < 0.65:
            operator = self._random.choice(("<", "<=", ">", ">="))
            kind = "number"
        else:
            operator = self._random.choice(("==", "!="))
            kind = self._any_type()
        return self._joined(operator, kind, depth)

    def _joined(self, operator: str, kind: str, depth: int) -> Tree:
        # Now and then without parentheses, so that precedence matters.
        shape = f"@ {operator} @" if self._chance(0.3) else f"(@ {operator} @)"
        return node(shape, self.make(kind, depth - 1), self.make(kind, depth - 1))

    def _sequence(self, element: str, depth: int) -> Tree:
        if depth and self._chance(0.25):
            return self._for_sequence(element or self._any_type(1), depth)
        count = self._random.choice((0, 1, 1, 2, 2, 3))
        children = [self.make(element or self._any_type(1), depth - 1) for _ in range(count)]
        return listed("[", children, "]")

    def _mapping(self, element: str, depth: int) -> Tree:
        if depth and self._chance(0.2):
            return self._for_mapping(element or self._any_type(1), depth)
        keys = self._random.sample(_KEYS, self._random.choice((0, 1, 1, 2, 2, 3)))
        pairs = [
            node(f"{key} = @", self.make(element or self._any_type(1), depth - 1)) for key in keys
        ]
        return listed("{", pairs, "}")

    def _for_sequence(self, element: str, depth: int) -> Tree:
        source = self.make(self._collection(), depth - 1)
        name, key = f"x{len(self._bound)}", f"i{len(self._bound)}"
        self._bound += [name, key]
        result = self.make(element, depth - 1)
        condition = self.make("bool", depth - 1) if self._chance(0.3) else None
        del self._bound[-2:]
        names = name if key not in str(result) else f"{key}, {name}"
        if condition is None:
            return node(f"[for {names} in @ : @]", source, result)
        if key in str(condition):
            names = f"{key}, {name}"
        return node(f"[for {names} in @ : @ if @]", source, result, condition)

    def _for_mapping(self, element: str, depth: int) -> Tree:
        source = self.make(self._collection(), depth - 1)
        name, key = f"x{len(self._bound)}", f"i{len(self._bound)}"
        self._bound += [name, key]
        index = (
            self.make("string", 1) if self._chance(0.5) else leaf(self._random.choice((key, name)))
        )
        result = self.make(element, depth - 1)
        del self._bound[-2:]
        group = "..." if self._chance(0.3) else ""
        return node(f"{{for {key}, {name} in @ : @ => @{group}}}", source, index, result)

    def _collection(self) -> str:
        kind = self._random.choice(("list", "set", "map", "tuple", "object"))
        return kind if kind in ("tuple", "object") else f"{kind}({self._any_type(1)})"

    # -- whatever the type ----------------------------------------------------------------------

    def _conditional(self, wanted: str, depth: int) -> Tree:
        return node(
            "@ ? @ : @" if self._chance(0.2) else "(@ ? @ : @)",
            self.make("bool", depth - 1),
            self.make(wanted, depth - 1),
            self.make(wanted, depth - 1),
        )

    def _accessed(self, wanted: str, depth: int) -> Tree:
        shape = self._random.choice(("[@][0]", "[@][@]", "{a = @}.a", '{a = @}["a"]', "[@][*]",
                                     "@[*]", "@.*.a", "@[*].a", "[{a = @}][*].a", "@.a", "@[0]",
                                     "@[@]", '@["a"]', "[[@]][0].0"))  # fmt: skip
        children = []
        for piece in shape.split("@")[1:]:
            if piece.startswith(("[*]", ".*", ".a", "[0]", '["a"]', "[")) and shape.startswith("@"):
                children.append(self.make(self._collection(), depth - 1))
            else:
                children.append(self.make(wanted, depth - 1))
        if shape.endswith("[@]"):
            children[-1] = self.make(self._random.choice(("number", "string")), 1)
        return node(shape, *children)

    def _called(self, wanted: str, depth: int) -> Tree:
        kind = wanted.partition("(")[0]
        fitting = self._by_result.get(kind, [])
        if not fitting or self._chance(0.25):
            fitting = self._by_result["any"]
        return self._call(self._random.choice(fitting), wanted, depth)

    def _call(self, signature: Signature, wanted: str, depth: int) -> Tree:
        arguments = []
        for parameter in signature.parameters:
            optional = parameter.endswith("?")
            if optional and self._chance(0.5):
                break
            arguments.append(self._argument(parameter.rstrip("?"), wanted, depth))
        if signature.variadic:
            count = self._random.choice((0, 1, 1, 2))
            arguments += [self._argument(signature.variadic, wanted, depth) for _ in range(count)]
        closing = ")"
        if signature.variadic and arguments and self._chance(0.1):
            arguments[-1] = self.make(f"list({signature.variadic})", depth - 1)
            closing = "...)"
        prefix = "core::" if self._chance(0.03) else ""
        return listed(f"{prefix}{signature.name}(", arguments, closing)

    def _argument(self, parameter: str, wanted: str, depth: int) -> Tree:
        if parameter.startswith("="):
            return leaf(self._random.choice(parameter[1:].split("¦")))
        if parameter == "result":
            return self.make(wanted, depth - 1)
        if parameter == "collection":
            return self.make(self._collection(), depth - 1)
        if parameter in ("list", "set", "map"):
            return self.make(f"{parameter}({self._any_type(1)})", depth - 1)
        return self.make(self._any_type() if parameter == "any" else parameter, depth - 1)
