"""Every example runs and shows what it promises."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (
            "interdependent_blocks.py",
            [
                "local.skipped, local.first, server.web",
                '"address":"10.0.2.4"',
                "network.a →",
                "on cycle.hcl line 4",
            ],
        ),
        (
            "evaluate_hcl.py",
            [
                '"us":"nigari-us:8001"',
                "endpoint = (not known yet)",
                "login    = (sensitive)",
                "broken = port + regions",
            ],
        ),
        ("ahead_of_time.py", ['"name":"build-staging"', "the same value: True"]),
        (
            "gradual_evaluation.py",
            [
                "plan:  endpoint = (known after apply)",
                "apply: endpoint = 10.0.0.7:5432",
                'Did you mean "address"?',
            ],
        ),
        (
            "python_api.py",
            [
                "'port': '${8000 + 80}'",
                "Service(name='api', port=8080",
                "title = shout(local.who)   # evaluated",
                "  owner = var.owner",
            ],
        ),
    ],
)
def test_example(name: str, shown: list[str]) -> None:
    command = [sys.executable, str(EXAMPLES / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == ""
    for part in shown:
        assert part in done.stdout
