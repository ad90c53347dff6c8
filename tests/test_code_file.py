"""The code file: what is in it is what Python would import, and anything odd is as good as nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_MAIN = """\
import sys
from nigari.code_file import use_code_file, update_code_file
use_code_file()
from nigari.many import *
print(sum(values), sorted({type(sys.modules[each].__loader__).__name__ for each in names}))
update_code_file()
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package with many modules, and the code file's own module in it."""
    source = Path(sys.modules["nigari"].__path__[0])
    folder = tmp_path / "nigari"
    (folder / "inner").mkdir(parents=True)
    (folder / "__init__.py").touch()
    for name in ("code_file.py", "system_calls.py"):
        (folder / name).write_bytes((source / name).read_bytes())
    (folder / "inner" / "__init__.py").write_text("from nigari.inner import m0\n")
    for number in range(30):
        (folder / "inner" / f"m{number}.py").write_text(f"VALUE = {number}\n")
    lines = [f"from nigari.inner import m{number}" for number in range(30)]
    lines.append(f"values = [{', '.join(f'm{number}.VALUE' for number in range(30))}]")
    lines.append("names = [f'nigari.inner.m{number}' for number in range(30)]")
    (folder / "many.py").write_text("\n".join(lines) + "\n")
    return tmp_path


def run(package: Path, *flags: str) -> str:
    environment = {"PYTHONPATH": str(package), "PATH": os.environ["PATH"]}
    command = [sys.executable, *flags, "-c", _MAIN]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout.strip()


def files(package: Path) -> list[Path]:
    return list((package / "nigari" / "__pycache__").glob("*.code*"))


WITHOUT = "435 ['SourceFileLoader']"
WITH = "435 ['_Loader']"


def test_the_second_run_uses_the_code_of_the_first(package: Path) -> None:
    assert run(package) == WITHOUT
    (file,) = files(package)
    written = file.stat().st_mtime_ns
    assert [run(package), run(package)] == [WITH, WITH]
    assert file.stat().st_mtime_ns == written


def test_a_source_that_has_changed_counts(package: Path) -> None:
    run(package)
    (package / "nigari" / "inner" / "m3.py").write_text("VALUE = 10003\n")
    assert run(package) == "10435 ['SourceFileLoader', '_Loader']"
    (package / "nigari" / "inner" / "m4.py").unlink()
    with pytest.raises(subprocess.CalledProcessError):
        run(package)


def test_when_many_have_changed_the_file_is_written_again(package: Path) -> None:
    run(package)
    for number in range(25):
        (package / "nigari" / "inner" / f"m{number}.py").write_text(f"VALUE = {number + 100}\n")
    assert run(package).endswith("['SourceFileLoader', '_Loader']")
    assert run(package) == "2935 ['_Loader']"


@pytest.mark.parametrize("damage", [slice(0), slice(10), slice(-1), slice(1, None)])
def test_a_damaged_file_is_not_used(package: Path, damage: slice) -> None:
    run(package)
    (file,) = files(package)
    file.write_bytes(file.read_bytes()[damage])
    assert run(package) == WITHOUT
    assert run(package) == WITH


def test_nothing_is_written_where_python_writes_nothing(package: Path) -> None:
    assert run(package, "-B") == WITHOUT
    assert not files(package)


def test_optimised_code_is_left_to_python(package: Path) -> None:
    run(package)
    assert [run(package, "-O"), run(package, "-OO")] == [WITHOUT, WITHOUT]


def test_nothing_is_written_where_nothing_can_be(package: Path) -> None:
    run(package)
    (file,) = files(package)
    file.unlink()
    file.mkdir()
    assert run(package) == WITHOUT
    assert files(package) == [file]
