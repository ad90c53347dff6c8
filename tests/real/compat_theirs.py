"""What the real libraries make of files: run in an environment where they are installed."""

import json
import sys
from pathlib import Path

import hcl2
import pygohcl
from hcl2.utils import SerializationOptions

OPTIONS = {
    "default": SerializationOptions(),
    "plain": SerializationOptions(
        strip_string_quotes=True,
        explicit_blocks=False,
        with_comments=False,
        preserve_heredocs=False,
    ),
    "wrapped": SerializationOptions(
        wrap_objects=True,
        wrap_tuples=True,
        force_operation_parentheses=True,
        preserve_scientific_notation=False,
    ),
}


def results(text: str) -> dict[str, object]:
    """Everything that is compared; null where the library gives up."""
    found: dict[str, object] = {}
    for name, options in OPTIONS.items():
        try:
            found[name] = hcl2.loads(text, serialization_options=options)
        except Exception:  # noqa: BLE001 - lark has many
            found[name] = None
    try:
        found["dumps"] = hcl2.dumps(hcl2.loads(text))
    except Exception:  # noqa: BLE001 - the same
        found["dumps"] = None
    for keep in (False, True):
        try:
            found[f"pygohcl {keep}"] = pygohcl.loads(text, keep)
        except (pygohcl.HCLParseError, pygohcl.HCLInternalError):
            found[f"pygohcl {keep}"] = None
    return found


if __name__ == "__main__":
    json.dump({path: results(Path(path).read_text("utf-8")) for path in sys.argv[1:]}, sys.stdout)
