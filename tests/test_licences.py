"""The licences of everything that `pip install nigari` brings allow any use, and are known."""

from __future__ import annotations

import json
import re
from importlib.metadata import PackageNotFoundError, distribution
from typing import Final

import pytest
from packaging.requirements import Requirement

from scripts.bundled_packages import bundled_packages, document
from tests.cli.process import ROOT

PERMISSIVE: Final = (
    *("Apache", "BSD", "MIT", "ISC", "MPL-2.0", "Mozilla Public License 2.0", "PSF", "0BSD"),
    *("Unlicense", "LGPL-2.0-or-later", "EPL-2.0"),
)
"""Terms that let the library be used, unchanged, in any program; asyncssh and pysequoia are the weak copyleft ones."""


def dependencies(name: str, extras: frozenset[str] = frozenset()) -> set[str]:
    """The distributions that one requires on this machine, at any depth."""
    found: set[str] = set()
    waiting = [(name, extras)]
    while waiting:
        current, wanted = waiting.pop()
        for text in distribution(current).requires or ():
            requirement = Requirement(text)
            marker = requirement.marker
            if marker and not any(marker.evaluate({"extra": extra}) for extra in ("", *wanted)):
                continue
            if requirement.name not in found:
                found.add(requirement.name)
                waiting.append((requirement.name, frozenset(requirement.extras)))
    return found


def licence(name: str) -> str:
    """What a distribution declares: an expression, classifiers, or a free text."""
    metadata = distribution(name).metadata
    classifiers = [each for each in metadata.get_all("Classifier") or () if each.count("::") > 1]
    licences = [each for each in classifiers if each.startswith("License ::")]
    expression = metadata.get_all("License-Expression") or ["; ".join(licences)]
    text: str = expression[0] or (metadata.get_all("License") or [""])[0]
    return text.partition("\n")[0]


NAMES: Final = sorted(dependencies("nigari"))


def test_there_are_dependencies() -> None:
    assert len(NAMES) > 10


@pytest.mark.parametrize("name", NAMES)
def test_the_licence_is_known_and_permissive(name: str) -> None:
    try:
        text = licence(name)
    except PackageNotFoundError:
        pytest.skip("not installed on this machine")
    parts = [part for part in re.split(r"\s+(?:AND)\s+|;", text) if part.strip(" ()")]
    assert parts, "no licence is declared"
    assert all(any(known in part for known in PERMISSIVE) for part in parts), text


def test_the_bill_of_materials_lists_what_is_bundled_with_licences() -> None:
    lock = json.loads((ROOT / "page" / "package-lock.json").read_text(encoding="utf-8"))
    names = {each["name"] for each in bundled_packages(lock)}
    assert {"preact", "d3-dag", "d3-array", "internmap"} <= names
    assert not names & {"esbuild", "typescript", "axe-core", "playwright-core"}
    components = document(lock, "1.0")["components"]
    assert all(each["purl"].startswith("pkg:npm/") and each["licenses"] for each in components)
