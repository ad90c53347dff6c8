"""Build hook: compiles `nigari.cty`, `nigari.hcl` and `nigari.regexp` with mypyc where NIGARI_COMPILE=1.

Without that setting it compiles nothing and asks for nothing, so `pip install .` gives the pure
sources and needs no compiler. Every wheel gets completion scripts and manual pages, and one with the page of
`nigari explore` its bill of materials. The compiled wheel holds the sources too; Python prefers the
extension modules beside them.
"""

import os
import runpy
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGES = ("nigari/cty", "nigari/hcl", "nigari/regexp")
# mypyc makes one library for all modules, so that calls between them are direct.
GROUP = "nigari_compiled"
# The code that mypyc writes is indented ever deeper, and to check that takes gcc many times as long
# as to compile it.
COMPILER_FLAGS = ["-Wno-misleading-indentation"]


def wanted() -> bool:
    """Tell whether this build is to be compiled."""
    return os.environ.get("NIGARI_COMPILE", "") not in ("", "0")


def modules(source: Path) -> list[str]:
    """Give the modules to compile, relative to the source folder.

    A package's `__init__.py` only re-exports and stays interpreted.
    """
    return sorted(
        str(path.relative_to(source))
        for package in PACKAGES
        for path in (source / package).rglob("*.py")
        if path.name != "__init__.py"
    )


def compile_into(source: Path, output: Path) -> list[Path]:
    """Compile the modules found in `source`; give the built libraries, relative to `output`."""
    from mypyc.build import mypycify
    from setuptools import Distribution
    from setuptools.command.build_ext import build_ext

    before = Path.cwd()
    os.chdir(source)
    try:
        extensions = mypycify(
            ["--config-file=", "--python-version=3.11", *modules(source)],
            opt_level="3",
            debug_level="0",
            group_name=GROUP,
            target_dir=str(output / "c"),
        )
        if sys.platform != "win32":
            for extension in extensions:
                extension.extra_compile_args += COMPILER_FLAGS
        command = build_ext(Distribution({"name": "nigari", "ext_modules": extensions}))
        command.build_lib = str(output / "lib")
        command.build_temp = str(output / "temp")
        command.parallel = os.cpu_count()
        command.ensure_finalized()
        command.run()
    finally:
        os.chdir(before)
    return [path.relative_to(output / "lib") for path in (output / "lib").rglob("*.so")]


class CompileHook(BuildHookInterface[Any]):
    """What hatchling calls before and after it makes a wheel."""

    def dependencies(self) -> list[str]:
        """Ask for the compiler only where it is used."""
        return ["mypy[mypyc]>=1.14", "setuptools>=75"] if wanted() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add files for shells, the bill of materials and, where wanted, the compiled libraries."""
        if version == "editable":
            return
        self.output = Path(tempfile.mkdtemp(prefix="nigari-compile-"))
        root = Path(self.root)
        shell_files = runpy.run_path(str(root / "scripts/shell_files.py"))
        for name in shell_files["write"](self.output):
            build_data["shared_data"][str(self.output / name)] = name
        if (root / "src/nigari/explore/static").is_dir():
            target = self.output / "nigari.cdx.json"
            packages = runpy.run_path(str(root / "scripts/bundled_packages.py"))
            packages["write"](root, target, self.metadata.version)
            build_data["sbom_files"].append(str(target))
        if not wanted():
            return
        built = compile_into(Path(self.root) / "src", self.output)
        if not built:
            sys.exit("mypyc built nothing")
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        for path in built:
            build_data["force_include"][str(self.output / "lib" / path)] = str(path)

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Throw away what the compiler left."""
        output: Path | None = getattr(self, "output", None)
        if output is not None:
            shutil.rmtree(output)
