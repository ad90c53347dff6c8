"""A lock that `tofu` holds stops Nigari, and the other way round; nobody's work is lost."""

import asyncio
import json
import time
from pathlib import Path

import pytest

from nigari.backends.lock_options import LockOptions
from nigari.cty import string
from nigari.diagnostics import Diagnostics
from nigari.state.draft import StateDraft
from nigari.state.model import OutputState
from tests.state.tofu import TofuDirectory

pytestmark = pytest.mark.real

SLOW = """
resource "terraform_data" "a" {
  provisioner "local-exec" { command = "touch started; while [ ! -e go ]; do sleep 0.05; done" }
}
"""
QUICK = """
resource "terraform_data" "a" {}
resource "terraform_data" "b" { count = fileexists("more") ? 1 : 0 }
"""


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < deadline, f"{path.name} did not appear"
        time.sleep(0.02)


def test_a_lock_of_tofu_stops_us_and_says_who(tmp_path: Path) -> None:
    directory = TofuDirectory(tmp_path, SLOW)
    directory.run("init")
    with directory.start("apply", "-auto-approve") as apply:
        wait_for(tmp_path / "started")
        diags = Diagnostics()
        assert not asyncio.run(directory.snapshots().lock("plan", LockOptions(), diags))
        assert [each.summary for each in diags] == ["Error acquiring the state lock"]
        assert "OperationTypeApply" in diags[0].detail
        assert "@" in diags[0].detail
        assert json.loads((tmp_path / ".terraform.tfstate.lock.info").read_text())["ID"] in (
            diags[0].detail
        )
        (tmp_path / "go").touch()
        apply.communicate()
    assert apply.returncode == 0
    assert "terraform_data.a" in directory.run("state", "list")


def test_we_wait_for_tofu(tmp_path: Path) -> None:
    directory = TofuDirectory(tmp_path, SLOW)
    directory.run("init")

    async def wait_and_read() -> list[str]:
        snapshots = directory.snapshots()
        diags = Diagnostics()

        async def release() -> None:
            await asyncio.sleep(0.5)
            (tmp_path / "go").touch()

        releasing = asyncio.create_task(release())
        assert await snapshots.lock("plan", LockOptions(timeout_seconds=30), diags), list(diags)
        await releasing
        assert await snapshots.read(diags)
        await snapshots.unlock(diags)
        return [address.text for address, _ in snapshots.state.instances()]

    with directory.start("apply", "-auto-approve") as apply:
        wait_for(tmp_path / "started")
        assert asyncio.run(wait_and_read()) == ["terraform_data.a"]
        apply.communicate()
    assert apply.returncode == 0


def test_a_lock_of_ours_stops_tofu_and_says_who(tmp_path: Path) -> None:
    directory = TofuDirectory(tmp_path, QUICK)
    directory.apply()
    snapshots = directory.snapshots()
    diags = Diagnostics()
    assert asyncio.run(snapshots.lock("nigari-test", LockOptions(), diags))
    code, output = directory.try_run("plan")
    assert code == 1
    assert "nigari-test" in output
    assert asyncio.run(snapshots.unlock(diags))
    directory.run("plan")
    assert not (tmp_path / ".terraform.tfstate.lock.info").exists()


@pytest.mark.parametrize("fresh", [True, False], ids=["no state yet", "with a state"])
@pytest.mark.parametrize("writing", [True, False], ids=["writing", "only holding"])
def test_a_waiting_tofu_keeps_its_apply(tmp_path: Path, fresh: bool, writing: bool) -> None:
    directory = TofuDirectory(tmp_path, QUICK)
    if fresh:
        directory.run("init")
    else:
        directory.apply()
        (tmp_path / "more").touch()
    snapshots = directory.snapshots()
    diags = Diagnostics()
    assert asyncio.run(snapshots.lock("nigari-test", LockOptions(), diags))
    with directory.start("apply", "-auto-approve", "-lock-timeout=30s") as apply:
        time.sleep(1.0)
        assert apply.poll() is None
        if writing:
            assert asyncio.run(snapshots.read(diags))
            draft = StateDraft(snapshots.state)
            draft.set_outputs({"ours": OutputState(string("x" * 100_000))})
            assert asyncio.run(snapshots.write(draft.finish(), diags)), list(diags)
        assert asyncio.run(snapshots.unlock(diags)), list(diags)
        output, _ = apply.communicate()
    assert apply.returncode == 0, output
    listed = directory.run("state", "list").split()
    assert listed == ["terraform_data.a"] if fresh else ["terraform_data.a", "terraform_data.b[0]"]
    pulled = json.loads(directory.run("state", "pull"))
    assert pulled["serial"] == (0 if fresh else 1) + int(writing) + 1


def test_many_writers_by_turns(tmp_path: Path) -> None:
    directory = TofuDirectory(tmp_path, QUICK)
    directory.apply()
    apply = ("apply", "-auto-approve", "-lock-timeout=60s")
    with (
        directory.start(*apply, "-replace=terraform_data.a") as one,
        directory.start(*apply, "-replace=terraform_data.a") as two,
    ):
        for index in range(20):
            snapshots = directory.snapshots()
            diags = Diagnostics()
            assert asyncio.run(
                snapshots.lock("nigari-test", LockOptions(timeout_seconds=60), diags)
            ), list(diags)
            assert asyncio.run(snapshots.read(diags)), list(diags)
            draft = StateDraft(snapshots.state)
            draft.set_outputs({"n": OutputState(string(str(index)))})
            assert asyncio.run(snapshots.write(draft.finish(), diags)), list(diags)
            assert asyncio.run(snapshots.unlock(diags))
            time.sleep(0.05)
        for process in (one, two):
            output, _ = process.communicate()
            code = process.returncode
            while code:
                # A `tofu` that looks for a holder just when that is done gives up.
                assert "lock.info: no such file" in output, output
                code, output = directory.try_run(*apply, "-replace=terraform_data.a")
    pulled = json.loads(directory.run("state", "pull"))
    assert pulled["serial"] == 1 + 20 + 2
    assert [each["name"] for each in pulled["resources"]] == ["a"]
