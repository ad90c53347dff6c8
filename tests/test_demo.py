"""The demo runs and shows what it promises."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_demo() -> None:
    command = [sys.executable, str(ROOT / "examples" / "demo.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert "Success! The configuration is valid." in done.stdout
    assert 'module.region["eu"].source = "./region-strict"' in done.stdout
    assert "output.summary ← output.summary of module.app ← var.owner of module.app" in done.stdout
    assert '"ada runs eu-west-1 (prod, audited) and us-east-1 (prod)"' in done.stdout
    assert "Not static: terraform_data.release.id ← terraform_data.release" in done.stderr
    assert "The environment is dev or prod." in done.stderr
    *_, made, two, none = done.stdout.split("$ find cloud -type f\n")
    assert "Apply complete! Resources: 6 added, 0 changed, 0 destroyed." in done.stdout
    assert made.startswith("cloud/ap-east-1/index.html\ncloud/ap-east-1/index.html.sha256\n")
    assert "Apply complete! Resources: 0 added, 0 changed, 2 destroyed." in made
    assert two.startswith("cloud/eu-west-1/index.html\n")
    assert "Destroy complete! Resources: 4 destroyed." in two
    assert none.strip() == ""
    # Two of the questions are meant to go wrong. The providers come from a mirror, which has them
    # for this machine only; the story has nothing else to complain of.
    assert done.stderr.count("Error: ") == 1
    said = done.stdout + done.stderr
    assert said.count("Warning: ") == said.count("Warning: Checksums for one platform only")
