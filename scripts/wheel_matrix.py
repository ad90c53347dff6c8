"""Writes the table of docs/install.md: for which systems and Pythons each dependency has a wheel.

    python -m scripts.wheel_matrix

It asks the package index about everything that `pip install nigari` brings here. Packages whose newest release has
no compiled parts are left out.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.tags import Tag, cpython_tags
from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version

from scripts.package_index import project

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs" / "install.md"
_HEAD: Final = "<!-- written by scripts/wheel_matrix.py -->\n"

PYTHONS: Final = ("3.11", "3.12", "3.13", "3.14", "3.14t", "3.15", "3.15t")
SYSTEMS: Final[Mapping[str, tuple[str, ...]]] = {
    "Linux x86-64": tuple(f"manylinux_2_{minor}_x86_64" for minor in range(34, 4, -1)),
    "Linux ARM": tuple(f"manylinux_2_{minor}_aarch64" for minor in range(34, 16, -1)),
    "Alpine x86-64": ("musllinux_1_2_x86_64", "musllinux_1_1_x86_64"),
    "Alpine ARM": ("musllinux_1_2_aarch64", "musllinux_1_1_aarch64"),
    "macOS x86-64": tuple(
        f"macosx_{each}_{kind}"
        for kind in ("x86_64", "universal2")
        for each in ("15_0", "14_0", "13_0", "12_0", "11_0", *(f"10_{n}" for n in range(16, 8, -1)))
    ),
    "macOS ARM": tuple(
        f"macosx_{each}_{kind}"
        for kind in ("arm64", "universal2")
        for each in ("15_0", "14_0", "13_0", "12_0", "11_0", *(f"10_{n}" for n in range(16, 8, -1)))
    ),
    "Windows x86-64": ("win_amd64",),
    "Windows ARM": ("win_arm64",),
}


def dependencies() -> dict[str, SpecifierSet]:
    """All packages that an installation from this directory brings, with the versions that are allowed."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
    done = subprocess.run(
        [*command, "--report=-", str(ROOT)], capture_output=True, text=True, check=True
    )
    described = [each["metadata"] for each in json.loads(done.stdout)["install"]]
    allowed: dict[str, SpecifierSet] = {
        canonicalize_name(each["name"]): SpecifierSet() for each in described
    }
    (ours,) = (each for each in described if each["name"] == "nigari")
    for requirement in map(Requirement, ours["requires_dist"]):
        name = canonicalize_name(requirement.name)
        if name in allowed:
            allowed[name] &= requirement.specifier
    del allowed["nigari"]
    return dict(sorted(allowed.items()))


def wheels_of(name: str, allowed: SpecifierSet) -> list[tuple[Version, list[frozenset[Tag]]]]:
    """The tags of each wheel of the allowed releases of a package, the newest release first."""
    found = project(name)
    releases = []
    for version in sorted(map(Version, found["releases"]), reverse=True):
        files = [each for each in found["releases"].get(str(version), ()) if not each["yanked"]]
        if version in allowed and files:
            wheels = (each["filename"] for each in files if each["packagetype"] == "bdist_wheel")
            releases.append((version, [parse_wheel_filename(each)[3] for each in wheels]))
    return releases


def tags(python: str, platforms: Iterable[str]) -> set[Tag]:
    """The tags that a Python accepts; a free-threaded one has no stable interface."""
    major, minor = map(int, python.rstrip("t").split("."))
    plain = f"cp{major}{minor}"
    names = [_legacy(each) for each in platforms]
    platforms = [each for pair in names for each in pair]
    if python.endswith("t"):
        return set(cpython_tags((major, minor), [f"{plain}t"], platforms)) - {
            tag for tag in cpython_tags((major, minor), [plain], platforms) if tag.abi == "abi3"
        }
    return set(cpython_tags((major, minor), [plain], platforms))


_OLD_NAMES: Final = {"2_17": "2014", "2_12": "2010", "2_5": "1"}


def _legacy(platform: str) -> list[str]:
    """A platform with its older name, if it has one."""
    match = re.fullmatch(r"manylinux_(2_\d+)_(\w+)", platform)
    old = _OLD_NAMES.get(match[1]) if match else None
    return [platform, f"manylinux{old}_{match[2]}"] if match and old else [platform]


def cell(releases: list[tuple[Version, list[frozenset[Tag]]]], platforms: Iterable[str]) -> str:
    """For which Pythons one of the wheels works on a system, if not the newest release then an older one."""
    newest = releases[0][0]
    older: dict[Version, list[str]] = {}
    missing = []
    for python in PYTHONS:
        accepted = tags(python, platforms)
        for version, wheels in releases:
            if any(not wheel.isdisjoint(accepted) for wheel in wheels):
                older.setdefault(version, []).append(python)
                break
        else:
            missing.append(python)
    older.pop(newest, None)
    if missing == list(PYTHONS):
        return "–"
    parts = [f"not {', '.join(missing)}"] if missing else []
    for version, pythons in older.items():
        is_all = len(pythons) + len(missing) == len(PYTHONS)
        parts.append(f"{'release' if is_all else ', '.join(pythons) + ':'} {version}")
    return "; ".join(parts) or "all"


def table() -> str:
    """A row for each package with compiled parts."""
    lines = [f"| package | {' | '.join(SYSTEMS)} |", f"| --- |{' --- |' * len(SYSTEMS)}"]
    for name, allowed in dependencies().items():
        releases = wheels_of(name, allowed)
        if any(tag.platform == "any" for wheel in releases[0][1] for tag in wheel):
            continue
        cells = [cell(releases, platforms) for platforms in SYSTEMS.values()]
        lines.append(f"| {name} {releases[0][0]} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the table into the page."""
    before, head, rest = PAGE.read_text(encoding="utf-8").partition(_HEAD)
    if not head:
        sys.exit(f"{PAGE} has no line {_HEAD}")
    after = rest.partition("\n\n")[2]
    PAGE.write_text(f"{before}{_HEAD}{table()}\n{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
