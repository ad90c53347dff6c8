"""`make outside`: both programs in the directories of public repositories, and what differs.

python -m tests.outside [-most N] [-only PART] [-results FOLDER]

Details go to a folder outside this repository, one file for each directory.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

from tests.outside.beside import Programs
from tests.outside.checkouts import Trees, directories, git_directory, names, snapshots
from tests.outside.differences import differences
from tests.outside.plugins import real_plugins

_PROGRAMS: list[Programs] = []


def _chosen(tree: Path, most: int) -> list[Path]:
    """Directories of a tree, evenly over all of it where there are too many."""
    found = directories(tree)
    step = max(1.0, len(found) / most)
    return [found[int(position * step)] for position in range(min(most, len(found)))]


@contextmanager
def stubs(root: Path) -> Iterator[dict[str, object]]:
    """Stubs for all providers that the trees below a folder need, as programs attach to them."""
    command = [sys.executable, "-m", "tests.outside.stub", str(root)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())
        process.terminate()


def _examine(directory: Path, results: Path, root: Path) -> tuple[str, list[str], list[str]]:
    name = str(directory.relative_to(root))
    found = _PROGRAMS[0].run(directory)
    listed = list(differences(found))
    state = "/".join(
        f"{each}={said.status}" for each, said in found.theirs.items() if each != "show"
    )
    path = results / (name.replace("/", "+") + ".txt")
    if listed:
        told = [f"== {each.kind} ({each.reason or 'OPEN'})\n{each.detail}\n" for each in listed]
        path.write_text(f"{directory}\n{state}\n" + "\n".join(told))
    else:
        path.unlink(missing_ok=True)
    told = [f"{each.kind}: {each.reason or 'OPEN'}" for each in listed]
    stopped = {
        text.split(": ")[2] for text in found.theirs["plan"].summaries if text.startswith("error")
    }
    return f"{name} {state}", told, sorted(stopped)


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare both programs on public repositories.")
    parser.add_argument("-most", type=int, default=25, help="directories of each repository")
    parser.add_argument("-only", default="", help="directories whose path contains this")
    parser.add_argument("-from-file", type=Path, help="a file that lists directories")
    parser.add_argument("-work", type=Path, default=snapshots() / "work")
    parser.add_argument("-workers", type=int, default=2)
    given = parser.parse_args()
    trees = Trees(given.work / "trees")
    results = given.work / "results"
    results.mkdir(parents=True, exist_ok=True)
    chosen: list[Path] = []
    missing = [name for name in names() if git_directory(name) is None]
    for name in names():
        if name not in missing:
            chosen += _chosen(trees.unpack(name), given.most)
    if given.from_file:
        chosen = [trees.root / line for line in given.from_file.read_text().split()]
    # In an order of its own, so that a run that is cut short has seen something of everything.
    chosen = sorted(
        (each for each in chosen if given.only in str(each)),
        key=lambda each: zlib.crc32(str(each.relative_to(trees.root)).encode()),
    )
    with stubs(trees.root) as made, real_plugins() as plugins:
        attached = {**made, **plugins}
        (given.work / "attached.json").write_text(json.dumps(attached))
        _PROGRAMS.append(Programs(attached, given.work))
        print(f"{len(names()) - len(missing)} repositories, {len(chosen)} directories", flush=True)
        _run(chosen, results, trees.root, given.workers)


def _run(chosen: list[Path], results: Path, root: Path, workers: int) -> None:
    kinds: Counter[str] = Counter()
    verdicts: Counter[str] = Counter()
    ended: Counter[str] = Counter()
    stops: Counter[str] = Counter()
    begun = time.monotonic()
    with ProcessPoolExecutor(workers, get_context("fork")) as pool:
        futures = [pool.submit(_examine, each, results, root) for each in chosen]
        for number, future in enumerate(as_completed(futures), 1):
            name, found, stopped = future.result()
            stops.update(stopped)
            kinds.update(found)
            is_open = any(each.endswith("OPEN") for each in found)
            verdicts["open" if is_open else "explained" if found else "equal"] += 1
            ended[name.split()[-1]] += 1
            moment = time.monotonic() - begun
            print(f"{number} {moment:.0f}s {name}: {', '.join(found) or 'equal'}", flush=True)
    tables = (
        ("How far tofu got", ended),
        ("What stopped tofu", stops),
        ("Differences by kind", kinds),
        ("Directories", verdicts),
    )
    for title, counted in tables:
        print(f"\n{title}:")
        for kind, count in counted.most_common(30):
            print(f"{count:6} {kind}")
    print(f"\nDetails are in {results}")


if __name__ == "__main__":
    main()
