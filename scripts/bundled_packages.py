"""The bill of materials of the wheel (PEP 770): the packages that are bundled into the page of `nigari explore`.

Everything else that Nigari uses is a dependency in the metadata. Used by `scripts/compile_hook.py`.
"""

import json
from pathlib import Path
from typing import Any

BUNDLED = ("d3-dag", "preact")
"""What the page imports; the other packages of page/package.json are tools."""


def bundled_packages(lock: dict[str, Any]) -> list[dict[str, Any]]:
    """The entries of a lock file that the bundled packages lead to, each with its name."""
    packages = lock["packages"]
    waiting, found = list(BUNDLED), {}
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = packages[f"node_modules/{name}"]
            waiting.extend(found[name].get("dependencies", {}))
    return [{"name": name, **found[name]} for name in sorted(found)]


def document(lock: dict[str, Any], version: str) -> dict[str, Any]:
    """The document in CycloneDX; it has no time, so that equal builds have equal documents."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "name": "nigari",
                "version": version,
                "purl": f"pkg:pypi/nigari@{version}",
            }
        },
        "components": [
            {
                "type": "library",
                "name": each["name"],
                "version": each["version"],
                "purl": f"pkg:npm/{each['name']}@{each['version']}",
                "licenses": [{"expression": each["license"]}],
            }
            for each in bundled_packages(lock)
        ],
    }


def write(root: Path, target: Path, version: str) -> None:
    """Write the document for the sources in a directory."""
    lock = json.loads((root / "page" / "package-lock.json").read_text(encoding="utf-8"))
    target.write_text(json.dumps(document(lock, version), indent=2) + "\n", encoding="utf-8")
