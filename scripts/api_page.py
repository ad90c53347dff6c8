"""Writes docs/python/api: the public surface, from the names and docstrings of the code.

    python -m scripts.api_page

Whatever these pages list keeps its name and meaning; everything else may change without notice.
"""

from __future__ import annotations

import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Final

DOORS: Final = (
    "nigari",
    "nigari.aio",
    "nigari.backends",
    "nigari.config",
    "nigari.cty",
    "nigari.diagnostics",
    "nigari.events",
    "nigari.fleet",
    "nigari.hcl",
    "nigari.hcl.decode",
    "nigari.hcl.interdependent",
    "nigari.hcl.static",
    "nigari.compat.hcl2",
    "nigari.compat.pygohcl",
    "nigari.lint",
    "nigari.providers.python",
    "nigari.testing",
    "nigari.providers.testing",
)
WITH_EXAMPLES: Final = (
    "Remain",
    "nigari.hcl.decode",
    "nigari.hcl.interdependent",
    "nigari.hcl.static",
)
PLACE: Final = Path(__file__).resolve().parents[1] / "docs" / "python" / "api"
_HEAD: Final = """# API reference

These pages list the public API: every name here can be imported, and keeps its name and meaning as the
[versioning rule](../../policy.md) says. Names that aren't listed can change at any time. The pages are
generated from the docstrings.

| module | purpose |
| --- | --- |
"""
_QUOTED: Final = re.compile(r"(: |-> )'([^']*)'")
"""Annotations are kept as texts."""
_ADDRESS: Final = re.compile(r" at 0x[0-9a-f]+")


def pages() -> dict[str, str]:
    """The text of each page by its file name: the index, and a page for each module."""
    found = {"index.md": _HEAD}
    for door in DOORS:
        module = importlib.import_module(door)
        found["index.md"] += f"| [`{door}`]({door}.md) | {_sentence(module)} |\n"
        entries = [_entry(name, getattr(module, name)) for name in sorted(module.__all__)]
        found[f"{door}.md"] = "\n".join(
            [f"# `{door}`\n\n{_summary(module)}\n", *_examples(module), *entries]
        )
    return found


def members(kind: type) -> Iterator[tuple[str, object]]:
    """The public members that a class has, also from a base that is no class for users, in the order
    of names.
    """
    found: dict[str, object] = {}
    for base in reversed(kind.__mro__):
        if base is kind or (base.__module__ == kind.__module__ and not _has_own_entry(base)):
            found.update(vars(base))
    for name, member in sorted(found.items()):
        if not name.startswith("_") and _callable(member) is not None:
            yield name, member


def _has_own_entry(kind: type) -> bool:
    doors = map(importlib.import_module, DOORS)
    return any(
        kind.__name__ in door.__all__ and getattr(door, kind.__name__) is kind for door in doors
    )


def _callable(member: object) -> object:
    """The function behind a member; None where there is none."""
    if isinstance(member, property):
        return member.fget
    if isinstance(member, classmethod | staticmethod):
        return member.__func__
    return member if inspect.isroutine(member) else None


def _entry(name: str, found: object) -> str:
    if inspect.isclass(found):
        lines = [f"## class `{name}`\n", f"{_summary(found)}\n", *_examples(found)]
        lines.extend(f"- `{field}`" for field in _fields(found))
        for member, value in members(found):
            is_property = isinstance(value, property)
            text = member if is_property else f"{member}{_signature(value)}"
            lines.append(f"- `{text}`: {_summary(value)}")
        return "\n".join(lines).rstrip() + "\n"
    if inspect.isroutine(found):
        return f"## `{name}{_signature(found)}`\n\n{_summary(found)}\n"
    if inspect.ismodule(found):
        return f"## module `{name}`\n\n{_summary(found)}\n"
    return f"## `{name}`\n"


def _fields(kind: type) -> list[str]:
    """What objects of a class hold, with the types where they are declared."""
    slots = vars(kind).get("__slots__", ())
    hints: dict[str, object] = vars(kind).get("__annotations__", {})
    names = [slots] if isinstance(slots, str) else list(slots)
    return [
        f"{each}: {hints[each]}" if isinstance(hints.get(each), str) else each
        for each in names
        if not each.startswith("_")
    ]


def _signature(member: object) -> str:
    function = _callable(member)
    if not callable(function):
        return "()"
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):
        return "(...)"
    kept = [each for name, each in found.parameters.items() if name != "self"]
    text = str(found.replace(parameters=kept))
    return _QUOTED.sub(r"\1\2", _ADDRESS.sub("", text)).replace("\n", " ")


def _summary(found: object) -> str:
    """The first paragraph of a docstring, on one line."""
    text = inspect.getdoc(found) or ""
    return " ".join(text.partition("\n\n")[0].split())


def _examples(found: object) -> list[str]:
    """The example that ends a docstring: it begins with an import, and can be run."""
    is_shown = getattr(found, "__name__", "") in WITH_EXAMPLES
    text = inspect.getdoc(found) or ""
    example = re.search(r"\n\n *(from|import) \w", text)
    if not is_shown or example is None:
        return []
    source = textwrap.dedent(text[example.start() + 2 :])
    return [f"```python\n{source}\n```\n"]


def _sentence(found: object) -> str:
    """The first sentence of a docstring."""
    return _summary(found).split(". ")[0].rstrip(".") + "."


def main() -> None:
    """Write all pages, and remove those of modules that are no longer public."""
    PLACE.mkdir(exist_ok=True)
    written = pages()
    for path in PLACE.glob("*.md"):
        if path.name not in written:
            path.unlink()
    for name, text in written.items():
        (PLACE / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
