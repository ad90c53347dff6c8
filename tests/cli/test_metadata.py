"""What programs are told about the language."""

import json

from tests.cli.process import inside


def test_functions() -> None:
    document = json.loads(inside("metadata", "functions", "-json").out)
    assert document["format_version"] == "1.0"
    signatures = document["function_signatures"]
    assert signatures["core::format"] == signatures["format"]
    assert signatures["format"].pop("description")
    assert signatures["format"] == {
        "return_type": "string",
        "parameters": [{"name": "format", "type": "string"}],
        "variadic_parameter": {"name": "args", "is_nullable": True, "type": "dynamic"},
    }
    assert "parameters" not in signatures["timestamp"]
    assert signatures["merge"]["return_type"] == "dynamic"
    assert "list" not in signatures


def test_only_as_json() -> None:
    assert inside("metadata", "functions").code == 1
    assert inside("metadata").code == 1
