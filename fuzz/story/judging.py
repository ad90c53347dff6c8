"""What a step and a difference are about, for whoever explains the difference."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from fuzz.story.comparing import by_name
from fuzz.story.difference import ABSENT, Difference, plain
from fuzz.story.telling import Step
from tests.real.alike import Tree

_OWNED: Final = re.compile(r"^(?:missing|more) (?:\[.*\]|\w+ \S+) with (\S+)$", re.MULTILINE)


def destroys(step: Step, command: list[str]) -> bool:
    """Whether a command is, plans or carries out a destroy."""
    return command[0] == "destroy" or any("-destroy" in each for each in step.commands)


def like(difference: Difference, *patterns: str) -> bool:
    return any(re.match(pattern, difference.kind) for pattern in patterns)


def is_located(difference: Difference) -> bool:
    """Whether it is known what a difference is about: something that has no address, or instances."""
    if like(difference, "exit code", "diagnostics"):
        return (
            bool(complaints(difference, "reported", "missing", "more"))
            or bool(printed(difference))
            or like(difference, r"diagnostics: [-+]warning")
        )
    if like(difference, "calls", "provisioners", "reads"):
        lines = [line for line in difference.text.splitlines() if '["look"' not in line]
        return all(_OWNED.match(line) for line in lines if '"look"' not in line)
    if like(difference, "events: (more|missing|planned)", "(state: resources|plan: resource_)"):
        return (
            bool(instances(difference))
            or '"data.' in difference.text
            or ".data." in difference.text
        )
    return True


def is_part(step: Step) -> bool:
    return any(word.startswith(("-target", "-exclude")) for c in step.commands for word in c)


def singled_out(step: Step, option: str) -> list[str]:
    """What the commands of a step name with `-target` or `-exclude`."""
    words = [word.partition("=") for command in step.commands for word in command]
    return [unquoted(address) for name, _, address in words if name == option]


def block_at(text: str, line: int) -> str:
    """The top-level block of a file that a line is in."""
    blocks = re.split(r"(?m)^}\n", text)
    at = 0
    for block in blocks:
        at += block.count("\n") + 1
        if line <= at:
            return block.strip()
    return ""


def name_of(block: str) -> str:
    """What others call a block by, up to the kind of what it declares."""
    return ".".join(re.findall(r'"(\w+)"', block.partition("\n")[0]))


def calls(text: str, directories: set[str]) -> set[str]:
    """The names of those module calls in a text that use one of these directories."""
    found = re.findall(r'module "(\w+)" {.*?source = "[./]*(\w+)"', text, re.DOTALL)
    return {name for name, directory in found if directory in directories}


def dependents(text: str, names: set[str]) -> set[str]:
    """The names of blocks, and of all blocks of their file that need one of them."""
    blocks = {
        name: block for block in re.split(r"(?m)^}\n", text) if (name := name_of(block.strip()))
    }
    found, pending = set(names), list(names)
    while pending:
        pattern = rf"\b{re.escape(pending.pop())}\b"
        fresh = {name for name, block in blocks.items() if re.search(pattern, block)} - found
        found |= fresh
        pending += fresh
    return found


def sides_of(difference: Difference) -> list[str]:
    lines = [line.strip() for line in difference.text.splitlines()]
    return [line for line in lines if line.startswith(("theirs ", "ours "))]


def subjects(difference: Difference) -> set[str]:
    """The resources that a difference is about, as addresses without keys."""
    return {without_keys(each) for each in instances(difference)}


def instances(difference: Difference) -> set[str]:
    """The instances that a difference is about, as addresses without quotes."""
    text = difference.text
    found = re.findall(r'"addr": "((?:[^"\\]|\\.)*)"', text)
    found += re.findall(r"^resource_(?:changes|drift) (\S+)", text, re.MULTILINE)
    stored = r"^resources (\S*?)\.managed\.(\S+(?: deposed(?: again)*\])?)"
    for module, resource in re.findall(stored, text, re.MULTILINE):
        found.append(f"{module}.{resource}" if module else resource)
    found += re.findall(r"^(?:missing|more) \w+ \S+ with (?!nothing:)(\S+): ", text, re.MULTILINE)
    found += _OWNED.findall(text)
    return {unquoted(each) for each in found}


def unquoted(address: str) -> str:
    """An address as it is compared here: without quotes, and without the key of what has none."""
    return address.replace("\\", "").replace('"', "").removesuffix("[None]")


@dataclass(frozen=True)
class Complaint:
    """An error in the text of a difference: where it is, what it is about, and its summary."""

    file: str
    line: int
    address: str
    summary: str

    def block(self, files: dict[str, str]) -> str:
        """Return the top-level block that it points into; nothing if it points nowhere."""
        return block_at(files.get(self.file, ""), self.line) if self.line else ""


def complaints(difference: Difference, *words: str) -> list[Complaint]:
    """Return the errors that are `missing`, `more`, or `reported` by the program that failed."""
    pattern = rf"^(?:{'|'.join(words)}) error (?:(\S+):(\d+)|nowhere) with (.+?): (.*)$"
    found = re.findall(pattern, difference.text.partition("--- ours")[0], re.MULTILINE)
    return [
        Complaint(file, int(line or 0), "" if at == "nothing" else unquoted(at), summary)
        for file, line, at, summary in found
    ]


def printed(difference: Difference) -> list[tuple[str, int]]:
    """Return the files and lines of what a command that has no events has printed."""
    found = re.findall(r"^  on (?:\S*/work/)?(\S+) line (\d+)", difference.text, re.MULTILINE)
    return [(file, int(line)) for file, line in found]


def is_declared_there(found: Complaint, files: dict[str, str]) -> bool:
    """Whether an error points into the block of the resource that it is about, or to its import."""
    name, block = ".".join(without_keys(found.address).split(".")[-2:]), found.block(files)
    is_import = block.startswith("import ") and f"  to = {without_keys(found.address)}" in block
    return bool(name) and (is_import or name_of(block).endswith(name))


def called(difference: Difference) -> Iterator[tuple[str, str]]:
    """The calls that a difference is about: whether they are missing or more, and of what."""
    for line in difference.text.splitlines():
        for address in _OWNED.findall(line):
            yield line.partition(" ")[0], unquoted(address)


def gone(step: Step) -> set[str]:
    """The instances of the state whose objects are no longer there; `terraform_data` has none."""
    return {
        unquoted(address)
        for identifier, address in step.before.objects_of().items()
        if without_keys(address).split(".")[-2] != "terraform_data"
        and step.objects.get(identifier, step.before.objects.get(identifier)) is None
    }


def is_forgotten(address: str, step: Step) -> bool:
    """Whether a resource, named without keys, is forgotten once it is no longer wanted."""
    unwanted = {without_keys(each) for each in step.before.unwanted()}
    for old, new in (command[2:] for command in step.commands if command[:2] == ["state", "mv"]):
        before, after = without_keys(old), without_keys(new)
        unwanted |= {
            f"{after}{each.removeprefix(before)}" for each in unwanted if each.startswith(before)
        }
    unwanted |= {new for new, old in moved(step).items() if old in unwanted}
    if address in unwanted:
        return True
    if " destroy = false" in declaration(address, step.files):
        return True
    # A module may say it of what it declared, and each of its callers, too.
    within, text = address, step.files["main.tf"]
    while True:
        said = re.findall(r"(?m)^  from = (\S+)\n  lifecycle {\n    destroy = false", text)
        if any(within == each or within.startswith(f"{each}.") for each in said):
            return True
        if within.count(".") < 2 or not within.startswith("module."):
            return False
        _, called, within = within.split(".", 2)
        text = called_text(called, text, step.files)


def moved(step: Step) -> dict[str, str]:
    """Where resources were that have moved, by where they are; without keys."""
    found: dict[str, str] = {}
    pending = [without_keys(each) for each in step.before.addresses()]
    met = set[str]()
    while pending:
        each = pending.pop()
        for target in _targets(each, step.files):
            if target not in met:
                found[target] = found.pop(each, each)
                met.add(target)
                pending.append(target)
    return found


def _targets(address: str, files: dict[str, str]) -> Iterator[str]:
    """Where `moved` blocks say that a resource has gone."""
    for name, text in files.items():
        pairs = re.findall(r"(?m)^moved {\n  from = (\S+)\n  to +=  *(\S+)$", text)
        way = "" if name == "main.tf" else r"(?:module\.\w+\.)+"
        for old, new in (map(without_keys, pair) for pair in pairs):
            met = re.match(rf"({way}){re.escape(old)}(?=\.|$)", address)
            if met and _file_of(met[1], files) == name:
                yield f"{met[1]}{new}{address[met.end() :]}"


def _file_of(way: str, files: dict[str, str]) -> str:
    """The file of the module that the beginning of an address leads to; nothing if there is none."""
    at = "main.tf"
    for name in re.findall(r"module\.(\w+)\.", way):
        found = re.search(rf'module "{name}" {{.*?source = "([^"]+)"', files[at], re.DOTALL)
        if found is None:
            return ""
        at = posixpath.normpath(posixpath.join(posixpath.dirname(at), found[1], "main.tf"))
    return at


def is_as_before(step: Step, difference: Difference) -> bool:
    """Whether our state has everywhere what it had before."""
    before = by_name(json.loads(plain(json.loads(json.dumps(step.before.state)))))
    lines = difference.text.splitlines()
    return all(
        json.loads(ours.removeprefix("  ours   ")) == _at(before, path.split(" "))
        for path, ours in zip(lines[::3], lines[2::3], strict=True)
    )


def is_in_world(step: Step, difference: Difference) -> bool:
    """Whether our plan has for all objects the attributes that they have in the world."""
    identifiers = {unquoted(address): name for name, address in step.before.objects_of().items()}
    lines = difference.text.splitlines()
    for path, ours in zip(lines[::3], lines[2::3], strict=True):
        _, address, _, _, name = path.split(" ")[:5]
        known = {**step.before.objects, **step.objects}
        found = known.get(identifiers.get(unquoted(address), "")) or {}
        if json.loads(ours.removeprefix("  ours   ")) != found.get(name):
            return False
    return True


def _at(tree: Tree, path: list[str]) -> Tree:
    for name in path:
        if not isinstance(tree, dict):
            return ABSENT
        tree = tree.get(name, ABSENT)
    return tree


def without_keys(address: str) -> str:
    return re.sub(r"\[[^]]*\]", "", address)


def called_text(name: str, text: str, files: dict[str, str]) -> str:
    """What the module declares that a call uses; nothing if there is no such call."""
    found = re.search(rf'module "{name}" {{.*?source = "[./]*(\w+)"', text, re.DOTALL)
    return "" if found is None else files[f"{found[1]}/main.tf"]


def declaration(address: str, files: dict[str, str]) -> str:
    """The text of the block that an address without keys names; nothing if there is none."""
    *steps, kind, name = address.split(".")
    text = files["main.tf"]
    for called in (step for step in steps if step not in ("module", "data", "ephemeral")):
        text = called_text(called, text, files)
    return next(
        (each for each in re.split(r"(?m)^}$", text) if f'"{kind}" "{name}" {{' in each), ""
    )


def are_apart(address: str, other: str) -> bool:
    """Whether an instance is in another instance of a module than another one."""
    for (name, key), (other_name, other_key) in zip(
        _module_steps(address), _module_steps(other), strict=False
    ):
        if (name, key) != (other_name, other_key):
            return name == other_name
    return False


def _module_steps(address: str) -> list[tuple[str, str]]:
    """The names and keys of the module instances that an instance is in."""
    return re.findall(r"module\.(\w+)(\[[^]]*\])?\.", address)
