"""Runs every case of every `bench_*.py` here, prints a table and writes JSON."""

import argparse
import importlib
import json
import os
import platform
import sys
from pathlib import Path

from benchmarks.harness import Result, run
from benchmarks.page import write_page

_ROW = "{:<46} {:>12} {:>14} {:>12} {:>9} {:>7}  {}"


def compiled() -> bool:
    """Tell whether the nigari at hand was compiled by mypyc."""
    values = importlib.import_module("nigari.cty.values")
    return not str(values.__file__).endswith(".py")


def duration(seconds: float) -> str:
    """Write a time in a unit that suits it."""
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def amount(result: Result, best: float) -> str:
    """Write what was measured."""
    return f"{best:.0f} {result.case.gauge}" if result.case.gauge else duration(best)


def row(result: Result, is_compiled: bool) -> str:
    """Write one line of the table."""
    case = result.case
    wanted = case.wanted_compiled if is_compiled else case.wanted
    verdict = {True: "ok", False: "LESS", None: ""}[result.reaches(is_compiled)]
    if case.work:
        verdict += f"  {case.work / result.ours:.3g} {case.unit}/s"
    return _ROW.format(
        case.name,
        amount(result, result.ours),
        case.peer_name or "-",
        "-" if result.peer is None else amount(result, result.peer),
        "-" if result.ratio is None else f"{result.ratio:.1f} x",
        f"{wanted:g} x" if wanted else "-",
        verdict,
    ).rstrip()


def as_json(results: list[Result], is_compiled: bool) -> dict[str, object]:
    """Give the results as plain data."""
    return {
        "python": platform.python_version(),
        "compiled": is_compiled,
        "cases": [
            {
                "name": result.case.name,
                result.case.gauge or "seconds": result.ours,
                "peer": result.case.peer_name or None,
                f"peer_{result.case.gauge or 'seconds'}": result.peer,
                "ratio": result.ratio,
                "wanted": (result.case.wanted_compiled if is_compiled else result.case.wanted)
                or None,
                "reached": result.reaches(is_compiled),
            }
            for result in results
        ],
    }


def main() -> int:
    """Run the cases whose name contains one of the words given, or all."""
    parser = argparse.ArgumentParser(prog="benchmarks")
    parser.add_argument("words", nargs="*", help="only cases whose name contains one of these")
    parser.add_argument("--json", type=Path, help="write the results here")
    parser.add_argument("--page", type=Path, help="write the page about speed here")
    arguments = parser.parse_args()
    # A program that is installed has its bytecode; one that may not write it compiles every time.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    is_compiled = compiled()
    print(f"nigari {'compiled' if is_compiled else 'pure'}, Python {platform.python_version()}")
    print(_ROW.format("case", "nigari", "peer", "its time", "ratio", "wanted", ""))
    results: list[Result] = []
    for path in sorted(Path(__file__).parent.glob("bench_*.py")):
        for case in importlib.import_module(f"benchmarks.{path.stem}").cases():
            if arguments.words and not any(word in case.name for word in arguments.words):
                continue
            results.append(run(case))
            print(row(results[-1], is_compiled), flush=True)
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(as_json(results, is_compiled), indent=2) + "\n")
    if arguments.page:
        write_page(results, arguments.page, amount)
    missed = [result for result in results if result.reaches(is_compiled) is False]
    if missed:
        print(f"{len(missed)} of {len(results)} cases are slower than wanted")
    return 0


if __name__ == "__main__":
    sys.exit(main())
