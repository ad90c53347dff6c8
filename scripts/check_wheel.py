"""Runs the tests of the compiled packages on the wheel in `dist/`, in an environment of its own.

The sources are kept out of the way, so what is tested is what a user of the wheel gets.
"""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = ("tests/cty", "tests/hcl", "tests/regexp", "tests/conformance", "tests/test_misuse.py")
TOOLS = ("attrs", "hypothesis", "pydantic", "pytest", "pytest-xdist")
# A wheel that fell back to its sources would pass every test and show nothing.
PROVE = """
import nigari.cty.values, nigari.hcl.expressions
for module in (nigari.cty.values, nigari.hcl.expressions):
    assert not module.__file__.endswith(".py"), module.__file__
    print("testing", module.__file__)
"""


def main() -> None:
    """Install the newest wheel and run the tests."""
    wheels = sorted((ROOT / "dist").glob("nigari-*.whl"), key=lambda path: path.stat().st_mtime)
    if not wheels:
        sys.exit("there is no wheel in dist/: run `make wheel`")
    with tempfile.TemporaryDirectory(prefix="nigari-wheel-") as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / "bin" / "python")
        pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        subprocess.run([*pip, str(wheels[-1]), *TOOLS], check=True)
        subprocess.run([python, "-c", PROVE], cwd=folder, check=True)
        tests = [name for name in TESTS if (ROOT / name).exists()]
        options = ["-q", "-n", "2", "-o", "pythonpath=.", "-p", "no:cacheprovider"]
        command = [python, "-m", "pytest", *options, *tests]
        sys.exit(subprocess.run(command, cwd=ROOT, check=False).returncode)


if __name__ == "__main__":
    main()
