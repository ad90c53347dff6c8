"""The messages of plugins load with the oldest protobuf that we allow, and with the newest there is."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Final

import pytest

pytestmark = pytest.mark.real

ROOT: Final = Path(__file__).resolve().parents[2]
ROUND_TRIP: Final = """
import google.protobuf
from nigari.providers import client, serve
from nigari.providers.wire import plugin_pb2, protocol5_pb2 as pb5, protocol6_pb2 as pb
function = pb.Function(description_kind=pb.MARKDOWN, parameters=[pb.Function.Parameter(name="a")])
assert pb.Function.FromString(function.SerializeToString()) == function
schema = pb5.Schema(block=pb5.Schema.Block(attributes=[pb5.Schema.Attribute(name="a")]))
assert pb5.Schema.FromString(schema.SerializeToString()) == schema
assert plugin_pb2.StdioData.STDERR == 2
print(google.protobuf.__version__)
"""


def oldest() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = re.search(r"'protobuf>=([\d.]+)'", str(project))
    assert found
    return found[1]


@pytest.mark.parametrize("version", [f"=={oldest()}", "==6.*", ""], ids=["oldest", "6", "newest"])
def test_messages_load(version: str, tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target"]
    installed = subprocess.run(
        [*pip, str(tmp_path), f"protobuf{version}"], capture_output=True, text=True, check=False
    )
    if installed.returncode:
        pytest.skip(f"pip cannot install protobuf{version}: {installed.stderr.strip()[-200:]}")
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", ROUND_TRIP],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT / 'src'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith(version.strip("=*"))
