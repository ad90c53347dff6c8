"""Output values for other programs: `output -json` and `output -raw`.

As in OpenTofu, sensitive ones are shown too. No schema is needed.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.cty import STRING, CtyError, convert
from nigari.cty import json as cty_json
from nigari.diagnostics import Diagnostics
from nigari.state.json_text import escaped_for_html, flag_text, indented, object_text, quoted
from nigari.state.model import OutputState


def outputs_to_json(outputs: Mapping[str, OutputState]) -> str:
    """Write all outputs with their types, indented: `output -json`."""
    members = {}
    for name in sorted(outputs):
        output = outputs[name]
        parts = {"sensitive": flag_text(output.sensitive)}
        if output.deprecated:
            parts["deprecated"] = quoted(output.deprecated)
        parts["type"] = cty_json.type_to_json(output.value.type)
        parts["value"] = cty_json.value_to_json(output.value)
        members[name] = object_text(parts)
    return escaped_for_html(indented(object_text(members)))


def output_to_json(output: OutputState) -> str:
    """Write the value of one output: `output -json NAME`."""
    return cty_json.value_to_json(output.value)


def output_raw(name: str, output: OutputState, diags: Diagnostics) -> str | None:
    """Write the value of one output as bare text: `output -raw NAME`."""
    try:
        text = convert(output.value, STRING)
    except CtyError:
        text = None
    if text is None or text.is_null or not text.is_known:
        what = "null" if output.value.is_null else f"of type {output.value.type.friendly_name()}"
        diags.error(
            "Output has no raw form",
            f"The output {quoted(name)} is {what}; -raw prints strings, numbers and booleans only."
            " Use -json for anything else.",
        )
        return None
    return text.as_string()
