"""The demo runs, shows what it promises, and keeps the secret."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_demo() -> None:
    command = [sys.executable, str(ROOT / "examples" / "demo.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert '"us":"nigari-us:8001"' in done.stdout
    assert "endpoint = (not known yet)" in done.stdout
    assert "login    = (sensitive)" in done.stdout
    assert "broken = port + regions" in done.stdout
    assert "hunter2" not in done.stdout + done.stderr
