"""Latencies of language servers on the wire: python -m benchmarks.language_server [NAME=COMMAND ...]

One process of each server per workspace, as an editor starts it: the first diagnostics, then a warm-up,
then rounds of edits and requests. What counts are the median and the 95th percentile of answers, the
answers that came within two seconds, and the memory at the end. `terraform-ls` gets the same messages if
`make peers` has built it, and so do other servers, which are named with their commands, such as
`tofu-ls="tofu-ls serve -log-file=/dev/null"`. What they write to standard error is not read, so they
should write little.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from benchmarks.configurations import module_calls
from scripts.peers import cache
from tests.lsp.client import Client, ErrorAnswer, position_of

_LIMIT: Final = 2.0
"""Seconds after which an answer counts as a failure."""
_WARM_UP: Final = 10
_ROUNDS: Final = 60
_PAUSE: Final = 0.4
"""Seconds between rounds."""
_OURS: Final = (sys.executable, "-m", "nigari", "lsp")
_BROKEN: Final = "locals {\n  bench = [\n}\n"
_SMALL: Final = """\
variable "region" {
  type    = string
  default = "eu"
}
locals {
  name = "app-${var.region}"
}
resource "terraform_data" "app" {
  input = local.name
}
output "name" {
  value = terraform_data.app.output
}
"""


def _small(root: Path) -> Path:
    root.mkdir(parents=True)
    (root / "main.tf").write_text(_SMALL)
    return root


def _directories(root: Path, count: int = 2_000) -> Path:
    """So many module directories with two resources each; root modules call ten each."""
    for number in range(count):
        directory = root / f"m{number:04}"
        directory.mkdir(parents=True)
        text = _SMALL.replace('"app"', '"first"').replace("data.app", "data.first")
        text += 'resource "terraform_data" "second" {\n  input = terraform_data.first.id\n}\n'
        if number % 10 == 0:
            text += "".join(
                f'module "m{n:04}" {{\n  source = "../m{n:04}"\n  region = var.region\n}}\n'
                for n in range(number + 1, min(number + 10, count))
            )
        (directory / "main.tf").write_text(text)
    return root


_WORKSPACES: Final[Mapping[str, tuple[Callable[[Path], Path], str]]] = {
    "small module": (_small, "main.tf"),
    "one root, 2,000 module calls, 4,000 resources": (
        lambda at: module_calls(at, 2_000),
        "main.tf",
    ),
    "2,000 module directories, 4,000 resources": (_directories, "m0000/main.tf"),
}


def _requests(text: str) -> dict[str, dict[str, Any]]:
    """What is asked in each round: a method and the place in the text."""
    line = text.count("\n")
    found: dict[str, dict[str, Any]] = {}
    for name, mark in (("hover", "local.name"), ("definition", "local.name")):
        at = text.find(mark)
        at = text.find("source") if at < 0 else at
        found[name] = {"position": position_of(text, at + len("local.na"))}
    found["completion"] = {"position": {"line": line + 1, "character": len("  bench = var.")}}
    found["references"] = {
        "position": found["definition"]["position"],
        "context": {"includeDeclaration": True},
    }
    found["documentSymbol"] = {}
    return found


class _Obliging(Client):
    """A client that answers what servers ask: some wait for that before they do anything."""

    def _take(self, matches: Any) -> dict[str, Any]:  # noqa: ANN401 - as in the base class
        def answered(each: dict[str, Any]) -> bool:
            if "method" in each and "id" in each and not each.get("answered"):
                items = (each.get("params") or {}).get("items")
                self.send({"id": each["id"], "result": [None] * len(items) if items else None})
                each["answered"] = True
            return bool(matches(each))

        return super()._take(answered)


class _Run:
    """One server in one workspace."""

    def __init__(self, command: list[str], root: Path, name: str) -> None:
        self.times: dict[str, list[float]] = {}
        self.failures: dict[str, int] = {}
        self.memory = 0
        self._command, self._root, self._name = command, root, name

    def run(self) -> None:
        capabilities = {
            "textDocument": {
                "publishDiagnostics": {"relatedInformation": True},
                "completion": {"completionItem": {"snippetSupport": True}},
                "hover": {"contentFormat": ["markdown"]},
            }
        }
        environ = {"CHECKPOINT_DISABLE": "1"}
        begun = time.perf_counter()
        client = _Obliging(self._root, {}, capabilities, environ=environ, command=self._command)
        try:
            # The one that all servers know.
            client.language = "terraform"
            client.__enter__()
            self._note("initialize", begun)
            text = (self._root / self._name).read_text()
            begun = time.perf_counter()
            # Some servers publish nothing for a document without mistakes.
            client.open(self._name, text + _BROKEN)
            client.diagnostics(self._name)
            self._note("first diagnostics", begun)
            for number in range(_WARM_UP + _ROUNDS):
                self._round(client, text, number)
            self.memory = _memory(client.process.pid)
        finally:
            client.end()

    def _round(self, client: Client, text: str, number: int) -> None:
        is_counted = number >= _WARM_UP
        added = f"locals {{\n  bench = var.\n  n{number} = {number}\n}}\n"
        begun = time.perf_counter()
        client.change(self._name, text + added)
        for method, params in _requests(text).items():
            asked = time.perf_counter()
            document = {"textDocument": client.document(self._name), **params}
            try:
                client.request(f"textDocument/{method}", document)
            except ErrorAnswer:
                self.failures[method] = self.failures.get(method, 0) + 1
            if is_counted:
                self._note(method, asked)
        # An edit that breaks the syntax is answered with diagnostics; how soon is what is typed on.
        client.diagnostics(self._name)
        if is_counted:
            self._note("diagnostics after requests", begun)
        begun = time.perf_counter()
        client.change(self._name, text + _BROKEN)
        client.diagnostics(self._name)
        if is_counted:
            self._note("diagnostics of an edit", begun)
        client.forget()
        # As people do now and then, so that values are worked out in between.
        time.sleep(_PAUSE)

    def _note(self, what: str, begun: float) -> None:
        self.times.setdefault(what, []).append(time.perf_counter() - begun)


def _memory(pid: int) -> int:
    """The resident memory of a process in MB, where the system says so."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) // 1024
    except OSError:
        pass
    return 0


def main() -> None:
    """Run all servers in all workspaces, by turns."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("servers", nargs="*", metavar="NAME=COMMAND")
    parser.add_argument("--json", default="build/language-server.json")
    parser.add_argument(
        "--workspace",
        action="append",
        default=[],
        metavar="DIRECTORY:FILE",
        help="a workspace of your own in place of the generated ones, of which a copy is used",
    )
    arguments = parser.parse_args()
    servers = {"nigari": list(_OURS)}
    peer = cache() / "bin" / "terraform-ls"
    if peer.exists():
        servers["terraform-ls"] = [str(peer), "serve", f"-log-file={os.devnull}"]
    for each in arguments.servers:
        name, _, command = each.partition("=")
        servers[name] = shlex.split(command)
    rows = []
    own = dict(_copied(each) for each in arguments.workspace)
    for title, (make, name) in (own or _WORKSPACES).items():
        with tempfile.TemporaryDirectory() as directory:
            root = make(Path(directory) / "workspace")
            for server, command in servers.items():
                run = _Run(command, root, name)
                try:
                    run.run()
                except Exception as error:  # noqa: BLE001 - a peer may fail in many ways
                    print(f"{server}: {title}: {type(error).__name__}: {error}")
                rows += _rows(server, title, run)
    os.makedirs(os.path.dirname(arguments.json) or ".", exist_ok=True)
    Path(arguments.json).write_text(json.dumps(rows, indent=2))


def _copied(given: str) -> tuple[str, tuple[Callable[[Path], Path], str]]:
    """A workspace of which a copy is used, and the file that is edited in it."""
    directory, _, name = given.rpartition(":")
    return Path(directory).name, (lambda at: Path(shutil.copytree(directory, at)), name)


def _rows(server: str, title: str, run: _Run) -> list[dict[str, object]]:
    print(f"\n{title}: {server}, {run.memory} MB at the end")
    rows: list[dict[str, object]] = []
    for what, times in run.times.items():
        ordered = sorted(times)
        median = statistics.median(ordered)
        late = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
        slow = sum(1 for each in times if each > _LIMIT) + run.failures.get(what, 0)
        print(
            f"  {what:28} P50 {median * 1000:8.1f} ms   P95 {late * 1000:8.1f} ms   {slow} failed"
        )
        rows.append(
            {
                "server": server,
                "workspace": title,
                "what": what,
                "p50": median,
                "p95": late,
                "count": len(times),
                "failed": slow,
                "memory": run.memory,
            }
        )
    return rows


if __name__ == "__main__":
    main()
