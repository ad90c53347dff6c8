"""States: reading, writing and listing large ones, and what the commands around them cost.

Without the real `tofu` (`make peers`) the peer's column stays empty.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks.harness import Case
from nigari.diagnostics import Diagnostics
from nigari.state.draft import StateDraft
from nigari.state.files import format_state, parse_state
from scripts.peers import cache

_PEERS: Final = cache()
_RESOURCES: Final = 2000
_INSTANCES: Final = 10
_COUNT: Final = _RESOURCES * _INSTANCES


def cases() -> list[Case]:
    """All comparisons."""
    directory = Path(tempfile.mkdtemp(prefix="nigari-bench-"))
    path = directory / "terraform.tfstate"
    path.write_text(json.dumps(_state(), indent=2))
    tofu = _PEERS / "bin" / "tofu"
    listed = _process([str(tofu), "state", "list"], directory) if tofu.is_file() else None
    ours = [sys.executable, "-m", "nigari", "state", "list"]
    return [
        Case(
            f"read and write a state of {_COUNT}",
            _read_and_write(path),
            "state list",
            listed,
            wanted=0.33,
            wanted_compiled=0.33,
            work=_COUNT,
            unit="instances",
        ),
        Case(
            f"the command state list, {_COUNT} instances",
            _process(ours, directory),
            "state list",
            listed,
            wanted=0.33,
            wanted_compiled=0.33,
        ),
    ]


def _state() -> dict[str, object]:
    return {
        "version": 4,
        "terraform_version": "1.12.6",
        "serial": 1,
        "lineage": "bench",
        "outputs": {},
        "resources": [_resource(index) for index in range(_RESOURCES)],
        "check_results": None,
    }


def _resource(index: int) -> dict[str, object]:
    members: dict[str, object] = {"module": f"module.m{index % 50}"} if index % 4 else {}
    return {
        **members,
        "mode": "managed",
        "type": "terraform_data",
        "name": f"r{index}",
        "provider": 'provider["terraform.io/builtin/terraform"]',
        "instances": [_instance(index, key) for key in range(_INSTANCES)],
    }


def _instance(index: int, key: int) -> dict[str, object]:
    value = {"value": {"name": f"r{index}-{key}", "size": key}, "type": _TYPE}
    return {
        "index_key": key,
        "schema_version": 0,
        "attributes": {
            "id": f"{index:08x}-{key:04x}",
            "input": value,
            "output": value,
            "triggers_replace": None,
        },
        "sensitive_attributes": [],
        "dependencies": ["terraform_data.r0"] if index else [],
    }


_TYPE: Final = ["object", {"name": "string", "size": "number"}]


def _read_and_write(path: Path) -> Callable[[], None]:
    def run() -> None:
        file = parse_state(path.read_bytes(), Diagnostics())
        assert file is not None
        draft = StateDraft(file.state)
        format_state(type(file)(draft.finish(), file.lineage, file.serial + 1), True)

    return run


def _process(command: list[str], directory: Path) -> Callable[[], None]:
    settings = directory / "cli.tofurc"
    settings.write_text("")
    environ = {**os.environ, "TF_CLI_CONFIG_FILE": str(settings)}

    def run() -> None:
        subprocess.run(command, cwd=directory, env=environ, stdout=subprocess.DEVNULL, check=True)

    return run
