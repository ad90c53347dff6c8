"""OpenTofu's own end-to-end tests of what comes from registries, with both programs.

They compare texts, and ours are our own; so a test may end at a place where it looks for a text. All
such places are listed, and so are those of differences that `docs/differences.md` promises. Whatever
else is amiss is a fault.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.real import program
from tests.real.e2e_world import EndToEnd

pytestmark = pytest.mark.real

TESTS: Final = [
    "TestPlanApplyInAutomation",
    "TestAutoApplyInAutomation",
    "TestPlanOnlyInAutomation",
    "TestEncryptionFlow",
    "TestEncryptionEnvironmentVariable",
    "TestInitProviders",
    "TestInitProvidersVendored",
    "TestInitProvidersLocalOnly",
    "TestInitProvidersCustomMethod",
    "TestInitProviders_pluginCache",
    "TestInit_fromModule",
    "TestInitProviderNotFound",
    "TestInitModuleArchive",
    "TestModuleOCISources",
    "TestPrimarySeparatePlan",
    "TestFunction_Simple",
    "TestFunction_ProviderUnconfigured",
    "TestFunction_Error",
    "TestProviderNetworkMirrorRetries",
    "TestProviderOCIMirrors",
    "TestProviderGlobalCache",
    "TestOpenTofuProvidersMirror",
    "TestOpenTofuProvidersMirrorWithLockFile",
    "TestOpenTofuProvidersMirrorBadLockfile",
    "TestProviderTampering",
    "TestProviderCacheJunkDirectory",
    "TestProviderCacheJunkSymlink",
    "TestProviderLocksFromPredecessorProject",
    "TestProviderLocksFromPredecessorProjectWithAbsoluteSourceAddr",
    "TestProvisioner",
    "TestMockProviderComputedBlockCleanup",
    "TestMockProviderWhenEphemeralInConfiguration",
    "TestVersionWithProvider",
]

PUBLIC: Final = {"TestProviderLocksFromPredecessorProject"}
"""What no program passes here: it knows the checksums of public packages."""

WORDS: Final = {
    "automation_test.go": "45 46 49 50 152 153 156 157 218 219 222 223",
    "encryption_test.go": "64",
    "init_test.go": "47 51 52 56 163 167 168 213 217 218 253 257 258 303 307 429 433 445 462 481 511"
    " 553 573",
    "module_archive_test.go": "35",
    "primary_test.go": "55 56 59 60 74 77",
    "provider_functions_test.go": "119",
    "provider_network_mirror_test.go": "144",
    "providers_tamper_test.go": "53 54 90 93 125 128 184 187 210 213 235 238 511 512 515 648 649 657"
    " 723",
}
"""The lines that look for a text of theirs."""

PROMISES: Final = {
    "plans are for the program that made them": {
        "automation_test.go:71",
        "primary_test.go:82",
        "provider_functions_test.go:43",
        "provider_functions_test.go:83",
    },
    "packages of providers that a command does not start are not looked at": {
        "providers_tamper_test.go:152",
        "providers_tamper_test.go:257",
        "providers_tamper_test.go:279",
    },
    "what is where a package belongs is replaced": {
        "providers_tamper_test.go:367",
        "providers_tamper_test.go:473",
    },
}

_KNOWN: Final = frozenset().union(
    *PROMISES.values(),
    *({f"{file}:{line}" for line in lines.split()} for file, lines in WORDS.items()),
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EndToEnd]:
    made = EndToEnd(tmp_path_factory.mktemp("e2e"))
    yield made
    made.close()


@pytest.mark.parametrize("name", TESTS)
def test_both_programs(world: EndToEnd, name: str) -> None:
    theirs = world.run(f"theirs-{name}", program("tofu"), name)
    ours = world.run(f"ours-{name}", Path(sys.executable).parent / "nigari", name)
    failed = {each for each, outcome in theirs.outcome.items() if outcome != "PASS"}
    assert failed == PUBLIC & {name}, theirs.text
    unknown = ours.places - theirs.places - _KNOWN
    assert not unknown, ours.text
    has_failed = "FAIL" in ours.outcome.values()
    assert has_failed is bool(name in PUBLIC or ours.places - theirs.places), ours.text
