"""Runs the test suites of python-hcl2 and pygohcl on `nigari.compat`.

    python -m scripts.compat_suites hcl2 CHECKOUT
    python -m scripts.compat_suites pygohcl CHECKOUT

CHECKOUT is the project's repository at the version to be like. Nothing of it is kept here. What is
tested of python-hcl2 is what its users call; the tests of its grammar's classes and of its query
language have nothing here that they could test.
"""

import importlib
import shutil
import sys
import tempfile
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# Where python-hcl2 has the things that its suites import.
HCL2 = {
    "hcl2.api": ("nigari.compat.hcl2",),
    "hcl2.builder": ("nigari.compat.hcl2.builder",),
    "hcl2.const": ("nigari.compat.hcl2.const",),
    "hcl2.utils": ("nigari.compat.hcl2.utils",),
    "hcl2.deserializer": ("nigari.compat.hcl2.deserializer", "nigari.compat.hcl2.tree"),
    "hcl2.formatter": ("nigari.compat.hcl2.formatter", "nigari.compat.hcl2.tree"),
    "hcl2.reconstructor": ("nigari.compat.hcl2.tree",),
    "hcl2.transformer": ("nigari.compat.hcl2.tree",),
    "hcl2.rules": (),
    "hcl2.rules.base": ("nigari.compat.hcl2.tree",),
    "hcl2.query": (),
    "hcl2.query.body": ("nigari.compat.hcl2.query",),
    "lark": (),
    "lark.tree": ("nigari.compat.hcl2.tree",),
}
HCL2_TESTS = (
    "test/unit/test_api.py",
    "test/unit/test_builder.py",
    "test/unit/query/test_attributes.py",
    "test/unit/query/test_blocks.py",
    "test/integration/test_round_trip.py",
    "test/integration/test_specialized.py",
)


def stand_in(library: str) -> None:
    """Let a library's name, and those of its modules, mean ours."""
    sys.modules[library] = importlib.import_module(f"nigari.compat.{library}")
    for name, homes in HCL2.items() if library == "hcl2" else ():
        module = types.ModuleType(name)
        for home in homes:
            found = vars(importlib.import_module(home))
            vars(module).update({k: v for k, v in found.items() if not k.startswith("__")})
        sys.modules[name] = module


def main() -> None:
    """Run the tests of one library from a copy without the library itself."""
    library, checkout = sys.argv[1], Path(sys.argv[2])
    stand_in(library)
    import pytest

    with tempfile.TemporaryDirectory() as folder:
        tests = "test" if library == "hcl2" else "tests"
        shutil.copytree(checkout / tests, Path(folder) / tests)
        chosen = HCL2_TESTS if library == "hcl2" else ("tests",)
        paths = [str(Path(folder) / each) for each in chosen]
        options = [
            "-q",
            "-p",
            "no:cacheprovider",
            f"--rootdir={folder}",
            "--tb=line",
            *sys.argv[3:],
        ]
        sys.path.insert(0, folder)
        sys.exit(pytest.main([*options, *paths]))


if __name__ == "__main__":
    main()
