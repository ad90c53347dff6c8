"""`nigari plan` and `apply` beside `tofu`'s, as whole commands in the same directories, and plans of
module instances with other sources beside plans of others, which `tofu` does not have.

Without the real programs (`make peers`) there are no cases.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks.configurations import (
    SLOW_PROVIDER,
    instances,
    module_calls,
    module_instances,
    null_resources,
    resource_chains,
    slow_things,
    whole_references,
)
from benchmarks.harness import Case, Work
from scripts.peers import cache

_PEERS: Final = cache()
_OWN: Final = (sys.executable, "-m", "nigari")

# A process starts with the memory of the one that started it, so that must be a small one.
_GAUGE: Final = (
    "import resource, subprocess, sys;"
    "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);"
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
)

_SIZES: Final[tuple[tuple[str, Callable[[Path, int], Path], int, float], ...]] = (
    ("1,000 module calls", module_calls, 1000, 0.0),
    ("2,000 module calls", module_calls, 2000, 2.0),
    ("4,000 resources", resource_chains, 4000, 1.5),
    ("10,000 instances", instances, 10_000, 1.5),
    ("1,000 null_resource", null_resources, 1000, 1.0),
)
_VARIANTS: Final[tuple[tuple[int, int, int, int, float], ...]] = (
    (500, 2, 500, 1, 1.1),
    (2000, 1, 1000, 1, 2.2),
    (2000, 2000, 1000, 1000, 2.2),
)
"""Module instances and their sources, those of another plan, and how much more the first may cost."""
_OWN_SIZES: Final[tuple[tuple[str, Callable[[Path, int], Path], int], ...]] = (
    ("1,500 references to 1,500 instances", whole_references, 1500),
    ("3,000 references to 3,000 instances", whole_references, 3000),
)
"""What takes `tofu` minutes."""
_GROWTHS: Final = (
    ("2,000 module calls", "1,000 module calls"),
    ("3,000 references to 3,000 instances", "1,500 references to 1,500 instances"),
)
_SLOW: Final = 2000
_GROWTH: Final = 2.2
"""How much more twice as many may cost."""


def cases() -> list[Case]:
    """All comparisons."""
    tofu, plugin = _PEERS / "bin" / "tofu", _PEERS / "bin" / "terraform-provider-null"
    if not (tofu.is_file() and plugin.is_file()):
        return []
    bench = _Bench(Path(tempfile.mkdtemp(prefix="nigari-bench-")), str(tofu), plugin.parent)
    found: list[Case] = []
    for name, make, size, wanted in _SIZES:
        bench.make(name, make, size)
        found.append(bench.compared(name, wanted, "plan"))
        found.append(bench.memory(name))
    for name, make, size in _OWN_SIZES:
        bench.make(name, make, size)
    found += [bench.growth(*each) for each in _GROWTHS]
    found.append(bench.compared("1,000 null_resource", 1.0, "apply", "-auto-approve"))
    found += [bench.variants(*each) for each in _VARIANTS]
    found.append(bench.minimal_refresh())
    return found


class _Bench:
    """Directories that both programs work in."""

    def __init__(self, root: Path, tofu: str, plugins: Path) -> None:
        self._root = root
        self._tofu = tofu
        settings = root / "cli.tofurc"
        settings.write_text(
            "provider_installation {\n  dev_overrides {\n"
            f'    "hashicorp/null" = "{plugins}"\n'
            f'    "example.com/test/slow" = "{root}"\n  }}\n}}\n'
        )
        slow = root / "terraform-provider-slow"
        slow.write_text(f"#!{sys.executable}\n{SLOW_PROVIDER}")
        slow.chmod(0o755)
        self._environment = {**os.environ, "TF_CLI_CONFIG_FILE": str(settings)}

    def make(self, name: str, make: Callable[[Path, int], Path], size: int) -> None:
        """Write a configuration and have its modules installed."""
        make(self._directory(name), size)
        self.run(name, self._tofu, "get")()

    def compared(self, name: str, wanted: float, *command: str) -> Case:
        """The same command of both programs, each time without a state."""
        return Case(
            f"{command[0]} {name}",
            self.run(name, *_OWN, *command),
            "tofu",
            self.run(name, self._tofu, *command),
            wanted,
            wanted,
            prepare=self._forget(name),
        )

    def growth(self, large: str, small: str) -> Case:
        """A plan beside one of half the size."""
        return Case(
            f"plan {large}, growth",
            self.run(large, *_OWN, "plan"),
            "half of them",
            self.run(small, *_OWN, "plan"),
            1 / _GROWTH,
            1 / _GROWTH,
        )

    def variants(self, size: int, sources: int, others: int, of: int, most: float) -> Case:
        """A plan of module instances beside one of others."""
        name, other = (self._instances(*each) for each in ((size, sources), (others, of)))
        return Case(
            f"plan {name}",
            self.run(name, *_OWN, "plan"),
            other,
            self.run(other, *_OWN, "plan"),
            1 / most,
            1 / most,
        )

    def minimal_refresh(self) -> Case:
        """A plan of unchanged objects, each of which takes long to read, beside one that reads them."""
        name = f"{_SLOW:,} objects of 20 ms"
        slow_things(self._directory(name), _SLOW)
        self.run(name, *_OWN, "apply", "-auto-approve")()
        return Case(
            f"plan -minimal-refresh {name}",
            self.run(name, *_OWN, "plan", "-minimal-refresh"),
            "tofu plan",
            self.run(name, self._tofu, "plan"),
        )

    def _instances(self, size: int, sources: int) -> str:
        name = f"{size:,} instances of {sources:,} source{'s'[sources == 1 :]}"
        module_instances(self._directory(name), size, sources)
        self.run(name, *_OWN, "get")()
        return name

    def memory(self, name: str) -> Case:
        """How much memory planning takes at most."""
        return Case(
            f"plan {name}, memory",
            self._memory_of(name, *_OWN, "plan"),
            "tofu",
            self._memory_of(name, self._tofu, "plan"),
            1.0,
            1.0,
            gauge="MB",
        )

    def run(self, name: str, *command: str) -> Work:
        def run() -> None:
            subprocess.run(
                command,
                cwd=self._directory(name),
                env=self._environment,
                check=True,
                stdout=subprocess.DEVNULL,
            )

        return run

    def _memory_of(self, name: str, *command: str) -> Callable[[], float]:
        def run() -> float:
            done = subprocess.run(
                [sys.executable, "-S", "-c", _GAUGE, *command],
                cwd=self._directory(name),
                env=self._environment,
                check=True,
                capture_output=True,
            )
            return int(done.stdout) / 1024

        return run

    def _directory(self, name: str) -> Path:
        return self._root / name.replace(" ", "-").replace(",", "")

    def _forget(self, name: str) -> Work:
        def forget() -> None:
            for left in self._directory(name).glob("*.tfstate*"):
                left.unlink()

        return forget
