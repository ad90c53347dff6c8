"""`nigari refresh`: what people see of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.process import inside
from tests.plan.cloud import REQUIRED, Cloud, install


@pytest.fixture
def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    monkeypatch.chdir(tmp_path)
    Path("main.tf").write_text(
        REQUIRED + 'provider "cloud" { region = "eu" }\nvariable "content" { default = "x" }\n'
        'resource "cloud_box" "b" {\n  name = "b"\n  content = var.content\n}\n'
        'output "o" { value = cloud_box.b.content }\n'
    )
    return install(monkeypatch)


def test_what_is_found_is_stored_and_shown(cloud: Cloud) -> None:
    assert inside("apply", "-auto-approve").code == 0
    cloud.objects["eu", "b"] = "changed"
    done = inside("refresh", "-no-color", "-var=content=changed")
    assert done.code == 0, done.out + done.err
    assert "cloud_box.b: Refreshing state..." in done.out
    assert 'o = "changed"' in done.out
    assert inside("output", "-raw", "o").out == "changed"


def test_without_objects_there_is_nothing_to_refresh(cloud: Cloud) -> None:
    done = inside("refresh", "-no-color")
    assert done.code == 0, done.out + done.err
    assert "Warning: State is empty" in done.out
    assert not cloud.objects


def test_a_mistake_is_told(cloud: Cloud) -> None:
    Path("main.tf").write_text('output "o" { value = nothing.x }\n')
    done = inside("refresh", "-no-color")
    assert done.code == 1
    assert "Error: " in done.err
