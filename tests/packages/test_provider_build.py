"""Packages of providers in Python: what is in them, and what cannot be built."""

import hashlib
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from nigari.addrs.provider import Provider
from nigari.lang.versions import Version
from nigari.packages.providers.provider_build import BuildError, build_packages, find_code
from nigari.packages.providers.provider_package import executable, find_packages

DEMO = Provider("example.com", "team", "demo")
VERSION = Version((1, 2, 0))
PLATFORMS = ["linux_amd64", "darwin_arm64"]


def script(base: Path) -> Path:
    path = base / "demo.py"
    path.write_text("import sys\nprint('script', sys.argv[1:])\n")
    return path


def directory(base: Path) -> Path:
    path = base / "my app"
    (path / "__pycache__").mkdir(parents=True)
    (path / "__pycache__" / "helper.pyc").write_bytes(b"")
    (path / ".hidden").write_text("")
    (path / "helper.py").write_text("NAME = 'directory'\n")
    (path / "__main__.py").write_text("import sys, helper\nprint(helper.NAME, sys.argv[1:])\n")
    return path


def package(base: Path) -> Path:
    path = base / "demo_provider"
    (path / "inner").mkdir(parents=True)
    (path / "__init__.py").write_text("")
    (path / "inner" / "__init__.py").write_text("NAME = 'package'\n")
    text = "import sys\nfrom .inner import NAME\nprint(NAME, sys.argv[1:])\n"
    (path / "__main__.py").write_text(text)
    return path


Make = Callable[[Path], Path]
PACKAGE = ["__init__.py", "__main__.py", "inner/__init__.py"]
CODE: list[tuple[str, Make, list[str]]] = [
    ("script", script, ["demo.py"]),
    ("directory", directory, ["__main__.py", "helper.py"]),
    ("package", package, [f"demo_provider/{name}" for name in PACKAGE]),
]


@pytest.mark.parametrize(("kind", "make", "names"), CODE)
def test_a_package_starts_its_code(kind: str, make: Make, names: list[str], tmp_path: Path) -> None:
    code = find_code(make(tmp_path))
    assert sorted(code.files) == names
    target = tmp_path / "the output"
    build_packages(code, DEMO, VERSION, PLATFORMS, target, sys.executable)
    found = find_packages(target / "mirror")
    assert sorted(each.platform for each in found) == sorted(PLATFORMS)
    program = executable(found[0].path, "demo")
    assert program is not None
    assert program.endswith("/terraform-provider-demo_v1.2.0")
    before = sorted(found[0].path.rglob("*"))
    done = subprocess.run([program, "a b"], capture_output=True, text=True, check=True)
    assert done.stdout == f"{kind} ['a b']\n"
    # What runs leaves nothing behind, since lock files have checksums of all files.
    assert sorted(found[0].path.rglob("*")) == before


def test_archives_and_checksums(tmp_path: Path) -> None:
    code = find_code(script(tmp_path))
    build_packages(code, DEMO, VERSION, PLATFORMS, tmp_path / "one")
    build_packages(code, DEMO, VERSION, PLATFORMS, tmp_path / "two")
    sums = (tmp_path / "one" / "terraform-provider-demo_1.2.0_SHA256SUMS").read_text()
    assert sums == (tmp_path / "two" / "terraform-provider-demo_1.2.0_SHA256SUMS").read_text()
    lines = [line.split("  ") for line in sums.splitlines()]
    listed = {name: checksum for checksum, name in lines}
    assert sorted(listed) == [
        "terraform-provider-demo_1.2.0_darwin_arm64.zip",
        "terraform-provider-demo_1.2.0_linux_amd64.zip",
        "terraform-provider-demo_1.2.0_manifest.json",
    ]
    for name, checksum in listed.items():
        data = (tmp_path / "one" / name).read_bytes()
        assert hashlib.sha256(data).hexdigest() == checksum
    manifest = json.loads(
        (tmp_path / "one" / "terraform-provider-demo_1.2.0_manifest.json").read_bytes()
    )
    assert manifest["metadata"]["protocol_versions"] == ["6.0"]
    with zipfile.ZipFile(
        tmp_path / "one" / "terraform-provider-demo_1.2.0_linux_amd64.zip"
    ) as zipped:
        modes = {each.filename: each.external_attr >> 16 & 0o777 for each in zipped.infolist()}
    assert modes == {"lib/demo.py": 0o644, "terraform-provider-demo_v1.2.0": 0o755}


def test_a_new_build_leaves_nothing_of_the_old_one(tmp_path: Path) -> None:
    path = directory(tmp_path)
    build_packages(find_code(path), DEMO, VERSION, PLATFORMS, tmp_path / "out")
    (path / "helper.py").unlink()
    build_packages(find_code(path), DEMO, VERSION, PLATFORMS, tmp_path / "out")
    assert list((tmp_path / "out").rglob("helper.py")) == []


def _missing(base: Path) -> Path:
    return base / "nothing"


def _without_main(base: Path) -> Path:
    (base / "empty").mkdir()
    return base / "empty"


def _odd_name(base: Path) -> Path:
    path = base / "odd-name"
    path.mkdir()
    (path / "__init__.py").write_text("")
    (path / "__main__.py").write_text("")
    return path


@pytest.mark.parametrize("make", [_missing, _without_main, _odd_name])
def test_what_cannot_be_built(make: Make, tmp_path: Path) -> None:
    with pytest.raises(BuildError):
        find_code(make(tmp_path))
