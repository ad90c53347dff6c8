"""`nigari hcldec`: decode HCL with a specification into JSON, as the program of that name does.

Flags, output and exit statuses are those of hcldec. The specification language and the decoding
itself are in `nigari.hcl`; here are files, standard input, variables and what is printed.
"""

from __future__ import annotations

from pathlib import Path

from nigari.cli.command import FLAG_LIST, FLAG_SWITCH, FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.views.diagnostics import show_diagnostics
from nigari.cty.errors import CtyError
from nigari.cty.json import value_to_json
from nigari.cty.json_text import escape_like_go, parse_json, quote
from nigari.cty.types import DYNAMIC
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics, Pos, Range
from nigari.diagnostics.render import JsonValue, no_context
from nigari.hcl.body import Body, merge_bodies
from nigari.hcl.decode import decode, variables
from nigari.hcl.decode_language import SpecFile, read_spec
from nigari.hcl.json_body import parse_json_body
from nigari.hcl.parser import parse_body
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.hcl.traversal import Traversal, TraverseAttr, TraverseIndex, TraverseRoot

_EXIT_USAGE = 1
_EXIT_DIAGNOSTICS = 2


class _Failure(Exception):
    """Something outside the input is wrong: the message says what."""


class _Decoder:
    """One run: the sources read so far and what is wrong with them."""

    def __init__(self, invocation: Invocation) -> None:
        self.invocation = invocation
        self.diags = Diagnostics()
        self.sources: dict[str, bytes] = {}

    def run(self) -> int:
        spec_file = self._option("spec", "s")
        if not spec_file:
            raise _Failure("The option --spec=FILE is required: it says what to decode.")
        spec = read_spec(self._parse(spec_file), self.diags)
        if self._failed():
            return self._stop()
        scope = self._scope(spec)
        body = merge_bodies(
            [self._parse(name) for name in self.invocation.arguments] or self._stdin()
        )
        if self._failed():
            return self._stop()
        if self.invocation.switch("var-refs"):
            import json

            found = [_reference_json(each, scope) for each in variables(body, spec.root)]
            self._write(json.dumps(found, indent=2, ensure_ascii=False))
            return 0
        value = decode(body, spec.root, scope, self.diags)
        if self._failed():
            return self._stop()
        self._write(self._result(value))
        return 0

    def _failed(self) -> bool:
        return self.diags.has_errors

    def _option(self, name: str, short: str) -> str:
        return self.invocation.text(name) or self.invocation.text(short)

    def _parse(self, filename: str) -> Body:
        try:
            data = Path(filename).read_bytes()
        except OSError as error:
            raise _Failure(f"Cannot read {filename}: {error.strerror}.") from None
        return self._parse_bytes(filename, data, filename.endswith(".json"))

    def _stdin(self) -> list[Body]:
        return [self._parse_bytes("<stdin>", self.invocation.terminal.read_all(), False)]

    def _parse_bytes(self, filename: str, data: bytes, is_json: bool) -> Body:
        self.sources[filename] = data
        source = Source.from_bytes(filename, data)
        return (parse_json_body if is_json else parse_body)(source, self.diags)

    def _scope(self, spec: SpecFile) -> Scope:
        names = dict(spec.variables)
        given = [*self.invocation.texts("vars"), *self.invocation.texts("V")]
        for position, text in enumerate(given):
            if text.lstrip().startswith("{"):
                body = self._parse_bytes(f"<vars argument {position}>", text.encode(), True)
            else:
                body = self._parse(text)
            for name, attribute in body.just_attributes(self.diags).items():
                names[name] = attribute.expr.value(Scope(), self.diags)
        # Without any, "not allowed" is a better word than "there is none of that name".
        return Scope(names or None, spec.functions or None)

    def _result(self, value: Value) -> str:
        with_type = self.invocation.switch("with-type")
        try:
            text = value_to_json(value, DYNAMIC if with_type else value.type)
        except CtyError as error:
            raise _Failure(f"The result has no JSON form: {error.message}.") from None
        if self.invocation.switch("keep-nulls"):
            return text
        return escape_like_go(_without_nulls(parse_json(text)))

    def _write(self, text: str) -> None:
        target = self._option("out", "o")
        if not target:
            self.invocation.terminal.out(text)
            return
        try:
            Path(target).write_text(f"{text}\n", encoding="utf-8")
        except OSError as error:
            raise _Failure(f"Cannot write {target}: {error.strerror}.") from None

    def _stop(self) -> int:
        terminal = self.invocation.terminal
        if self.invocation.text("diags") == "json":
            import json

            found = [_diagnostic_json(self.diags, i) for i in range(len(self.diags))]
            terminal.err(json.dumps({"diagnostics": found}, indent=2, ensure_ascii=False))
        else:
            show_diagnostics(terminal, self.diags, self.sources, no_context)
        return _EXIT_DIAGNOSTICS


def run(invocation: Invocation) -> int:
    """Decode the files, or standard input where none is given."""
    if invocation.text("diags") not in ("", "json"):
        invocation.terminal.err('The option --diags accepts only the value "json".')
        return _EXIT_DIAGNOSTICS
    try:
        return _Decoder(invocation).run()
    except _Failure as failure:
        invocation.terminal.err(f"\nError: {failure}\n")
        return _EXIT_USAGE


def _without_nulls(data: object) -> str:
    """The JSON text of parsed JSON, without the properties that are null; names sorted."""
    if isinstance(data, bytes):
        return data.decode()
    if isinstance(data, str):
        return quote(data)
    if isinstance(data, list):
        return f"[{','.join([_without_nulls(element) for element in data])}]"
    if isinstance(data, tuple):
        kept = sorted((name, value) for name, value in dict(data).items() if value is not None)
        return (
            "{" + ",".join([f"{quote(name)}:{_without_nulls(value)}" for name, value in kept]) + "}"
        )
    return {None: "null", True: "true", False: "false"}[data if isinstance(data, bool) else None]


def _diagnostic_json(diags: Diagnostics, position: int) -> dict[str, JsonValue]:
    found = diags[position]
    result: dict[str, JsonValue] = {"severity": found.severity.value, "summary": found.summary}
    if found.detail:
        result["detail"] = found.detail
    if found.subject is not None:
        result["subject"] = _range_json(found.subject)
    return result


def _reference_json(traversal: Traversal, scope: Scope) -> dict[str, object]:
    import json

    steps: list[dict[str, object]] = []
    for step in traversal.steps:
        place = _range_json(traversal.step_range(step))
        if isinstance(step, TraverseRoot):
            steps.append({"kind": "root", "name": step.name, "range": place})
        elif isinstance(step, TraverseAttr):
            steps.append({"kind": "attr", "name": step.name, "range": place})
        elif isinstance(step, TraverseIndex):
            key = json.loads(value_to_json(step.key, step.key.type))
            steps.append({"kind": "index", "key": key, "range": place})
    result: dict[str, object] = {"root_name": traversal.root_name}
    value = _current_value(traversal, scope)
    if value is not None:
        result["value"] = json.loads(value)
    result["steps"] = steps
    result["range"] = _range_json(traversal.range)
    return result


def _current_value(traversal: Traversal, scope: Scope) -> str | None:
    """The JSON of what a reference stands for now, if there is anything and it has one."""
    root = scope.variable(traversal.root_name)
    if root is None:
        return None
    diags = Diagnostics()
    value = traversal.split()[1].apply_rel(root, diags)
    if diags.has_errors:
        return None
    try:
        return value_to_json(value, value.type)
    except CtyError:
        return None


def _range_json(place: Range) -> dict[str, JsonValue]:
    return {
        "filename": place.filename,
        "start": _pos_json(place.start),
        "end": _pos_json(place.end),
    }


def _pos_json(pos: Pos) -> dict[str, JsonValue]:
    return {"line": pos.line, "column": pos.column, "byte": pos.byte}


COMMAND = Command(
    "hcldec",
    "Decodes HCL files, or standard input, with a specification, and prints the value as JSON. "
    "Several files are merged. A file whose name ends in .json is read as JSON syntax.",
    run,
    flags=(
        Flag("spec", FLAG_TEXT, "The specification (required)", "FILE"),
        Flag("s", FLAG_TEXT, "The same as -spec", "FILE"),
        Flag("vars", FLAG_LIST, "Variables for the input: a file, or JSON", "FILE-OR-JSON"),
        Flag("V", FLAG_LIST, "The same as -vars", "FILE-OR-JSON"),
        Flag("out", FLAG_TEXT, "Write to this file instead of standard output", "FILE"),
        Flag("o", FLAG_TEXT, "The same as -out", "FILE"),
        Flag("diags", FLAG_TEXT, 'How to show diagnostics: "json"; the default is text', "FORMAT"),
        Flag("var-refs", FLAG_SWITCH, "Print the references in the input instead of decoding it"),
        Flag("with-type", FLAG_SWITCH, "Print an object of the value and its type"),
        Flag("keep-nulls", FLAG_SWITCH, "Keep attributes whose value is null"),
    ),
    arguments="[FILE ...]",
    most_arguments=-1,
    examples=(Example("nigari hcldec -spec=server.hcldec server.hcl", "decodes one file"),),
)
