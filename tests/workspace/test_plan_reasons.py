"""Why something is planned: tables with one row per meaning, and that every chain is true."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import pytest

import nigari
from nigari.workspace.explain.explanation import Explanation
from nigari.workspace.plans.change_reasons import ArgumentReason, ChangeReasons

MAIN = """
variable "env" {
  default = "dev"
}
variable "size" {
  type = number
}
variable "keys" {
  type    = list(string)
  default = ["a", "b"]
}
variable "password" {
  default   = "hunter2"
  sensitive = true
}
locals {
  name   = "${var.env}-app"
  both   = merge({ left = var.env }, { right = var.size })
  titles = { for key in var.keys : key => "${key} ${local.name}" }
}
resource "terraform_data" "first" {
  input = {
    name   = local.name
    kind   = var.size > 3 ? "big" : var.env
    secret = var.password
    plain  = "same"
  }
  triggers_replace = local.both.right
}
resource "terraform_data" "titled" {
  for_each = local.titles
  input    = each.value
}
resource "terraform_data" "waiting" {
  input = terraform_data.first.id
  lifecycle {
    replace_triggered_by = [terraform_data.first]
  }
}
module "inner" {
  source   = "./inner"
  for_each = toset(var.keys)
  config   = { name = local.name, size = var.size }
}
output "inner" {
  value = module.inner["b"].name
}
"""
INNER = """
variable "config" {}
resource "terraform_data" "it" {
  input = var.config.name
}
output "name" {
  value = terraform_data.it.output
}
"""


@pytest.fixture
def infra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory in which everything is applied."""
    (tmp_path / "nothing.tfrc").touch()
    monkeypatch.setenv("TF_CLI_CONFIG_FILE", str(tmp_path / "nothing.tfrc"))
    found = tmp_path / "infra"
    (found / "inner").mkdir(parents=True)
    (found / "main.tf").write_text(MAIN)
    (found / "inner" / "main.tf").write_text(INNER)
    (found / "terraform.tfvars").write_text("\nsize = 5\n")
    monkeypatch.chdir(tmp_path)
    session = nigari.open(found)
    session.init()
    session.apply()
    return found


def reasons(directory: Path, **variables: object) -> dict[str, ChangeReasons]:
    """The reasons of a plan, from the plan itself and from a file, which tell the same."""
    plan = nigari.open(directory, variables=variables).plan()
    plan.save(directory / "saved")
    found = plan.why()
    again = nigari.open(directory).read_plan(directory / "saved").why()
    assert list(map(str, again)) == list(map(str, found))
    return {each.address: each for each in found}


def argument(change: ChangeReasons, path: str) -> ArgumentReason:
    return next(each for each in change.arguments if each.path == path)


def names(found: ArgumentReason) -> list[str]:
    assert found.explanation is not None
    return [root.name for root in found.explanation.roots()]


def test_the_chain_of_an_argument(infra: Path) -> None:
    (infra / "terraform.tfvars").write_text("\nsize = 9\n")
    change = reasons(infra, env="prod")["terraform_data.first"]
    assert (change.action, change.why) == (
        "replace",
        "because triggers_replace cannot be changed in place",
    )
    name = argument(change, "input.name")
    assert (name.before.to_python(), name.after.to_python()) == ("dev-app", "prod-app")
    assert name.explanation is not None
    local = name.explanation.parts[0]
    assert (local.name, local.kind, local.line) == (
        "local.name",
        "local",
        'name   = "${var.env}-app"',
    )
    (root,) = name.explanation.roots()
    assert (root.name, root.giver) == ("var.env", "the caller")
    forcing = argument(change, "triggers_replace")
    assert forcing.forces_replacement
    assert not name.forces_replacement
    # Only the half of the object that is used matters, and where its value is written is told.
    assert forcing.explanation is not None
    (size,) = forcing.explanation.roots()
    assert (size.name, size.giver, size.given_at and size.given_at.start.line) == (
        "var.size",
        "terraform.tfvars",
        2,
    )


def test_a_branch_that_is_not_taken_is_no_reason(infra: Path) -> None:
    (infra / "terraform.tfvars").write_text("size = 1\n")
    kind = argument(reasons(infra)["terraform_data.first"], "input.kind")
    assert names(kind) == ["var.size", "var.env"]
    (infra / "main.tf").write_text(MAIN.replace('"big"', '"huge"'))
    (infra / "terraform.tfvars").write_text("size = 5\n")
    kind = argument(reasons(infra)["terraform_data.first"], "input.kind")
    assert names(kind) == ["var.size"]


def test_secrets_are_not_shown(infra: Path) -> None:
    change = reasons(infra, password="swordfish")["terraform_data.first"]
    secret = argument(change, "input.secret")
    assert names(secret) == ["var.password"]
    assert "swordfish" not in str(change)
    assert "hunter2" not in str(change)
    assert "(sensitive value)" in str(change)


def test_a_secret_that_is_written_out_is_not_shown_either(infra: Path) -> None:
    (infra / "main.tf").write_text(MAIN.replace("= var.password", '= sensitive("swordfish")'))
    assert "swordfish" not in str(reasons(infra)["terraform_data.first"])


@pytest.mark.parametrize(
    ("address", "kind", "missing", "keys", "root"),
    [
        ('terraform_data.titled["a"]', "instance", 'terraform_data.titled["a"]', 1, "var.keys"),
        (
            'module.inner["a"].terraform_data.it',
            "module instance",
            'module.inner["a"]',
            1,
            "var.keys",
        ),
    ],
)
def test_a_key_that_has_gone(
    infra: Path, address: str, kind: str, missing: str, keys: int, root: str
) -> None:
    found = reasons(infra, keys=["b"])[address].missing
    assert found is not None
    assert (found.kind, found.address, len(found.keys)) == (kind, missing, keys)
    assert found.explanation is not None
    assert root in [each.name for each in found.explanation.roots()]


@pytest.mark.parametrize(
    ("block", "address", "kind", "missing"),
    [
        (
            'module "inner" {',
            'module.inner["a"].terraform_data.it',
            "module",
            "module.inner",
        ),
        (
            'resource "terraform_data" "titled" {',
            'terraform_data.titled["b"]',
            "resource",
            "terraform_data.titled",
        ),
        ('output "inner" {', "output.inner", "output", "output.inner"),
    ],
)
def test_a_block_that_has_gone(
    infra: Path, block: str, address: str, kind: str, missing: str
) -> None:
    start = MAIN.index(block)
    text = MAIN[:start] + MAIN[MAIN.index("\n}\n", start) + 3 :]
    if kind == "module":
        text = text[: text.index('output "inner"')]
    (infra / "main.tf").write_text(text)
    found = reasons(infra)[address].missing
    assert found is not None
    assert (found.kind, found.address) == (kind, missing)


def test_what_waits_says_for_what_and_what_becomes_of_it(infra: Path) -> None:
    (infra / "terraform.tfvars").write_text("size = 9")
    change = reasons(infra)["terraform_data.waiting"]
    assert [each.name for each in change.triggers] == ["terraform_data.first"]
    waiting = argument(change, "input")
    assert waiting.waits_for == (
        "input ← terraform_data.first.id, which is known only after apply",
    )
    (root,) = waiting.changed_inputs
    assert (root.name, root.kind, root.fate) == ("terraform_data.first.id", "resource", "replace")
    assert root.earlier is not None
    provider = next(each for each in change.arguments if each.path == "output")
    assert (provider.source, provider.explanation) == ("provider", None)


def test_an_element_that_is_selected_by_a_key(infra: Path) -> None:
    more = """
resource "terraform_data" "indexed" {
  for_each = local.titles
  input    = [terraform_data.titled[each.key].id, module.inner[each.key].name]
}
"""
    (infra / "main.tf").write_text(MAIN + more)
    found = argument(reasons(infra, keys=["a", "b", "c"])['terraform_data.indexed["c"]'], "input")
    assert names(found) == [
        'terraform_data.titled["c"].id',
        "each.key",
        'terraform_data.it.output of module.inner["c"]',
    ]
    waits = 'input ← terraform_data.titled["c"].id, which is known only after apply'
    assert waits in found.waits_for


def test_the_element_of_a_set_is_a_key(infra: Path) -> None:
    more = """
resource "terraform_data" "of_set" {
  for_each = toset(var.keys)
  input    = "${each.value}-${var.env}"
}
output "all" {
  value = terraform_data.of_set
}
"""
    (infra / "main.tf").write_text(MAIN + more)
    found = reasons(infra, keys=[f"k{each}" for each in range(9)] + ["b"])
    assert names(argument(found['terraform_data.of_set["k1"]'], "input")) == [
        "each.value",
        "var.env",
    ]
    waits = argument(found["output.all"], "value").waits_for
    assert (len(waits), waits[-1]) == (11, "output.all ← 10 more causes")


def test_an_output_and_an_argument_that_is_passed_through_modules(infra: Path) -> None:
    found = reasons(infra, env="prod")
    inner = argument(found['module.inner["b"].terraform_data.it'], "input")
    assert names(inner) == ["var.env"]
    assert argument(found["output.inner"], "value").waits_for


def test_what_init_remembers_tells_what_a_variable_was(infra: Path) -> None:
    data = infra / ".terraform"
    data.mkdir(exist_ok=True)
    (data / "nigari.variables.json").write_text(
        '{"workspaces": {"default": {"backend": "", "values": '
        '{"env": {"type": "string", "value": "dev"}}}}}'
    )
    change = reasons(infra, env="prod")["terraform_data.first"]
    (root,) = argument(change, "input.name").changed_inputs
    assert root.earlier is not None
    assert root.earlier.to_python() == "dev"
    assert 'was "dev"' in str(change)


def test_what_was_changed_outside(infra: Path) -> None:
    (infra / "main.tf").write_text(MAIN.replace('"same"', '"other"'))
    change = reasons(infra)["terraform_data.first"]
    plain = argument(change, "input.plain")
    assert (plain.source, plain.changed_outside, names(plain)) == ("configuration", False, [])


def test_what_moves_and_what_is_imported(infra: Path) -> None:
    text = MAIN.replace('"terraform_data" "waiting"', '"terraform_data" "moved"')
    (infra / "main.tf").write_text(
        text + "\nmoved {\n  from = terraform_data.waiting\n  to   = terraform_data.moved\n}\n"
        'import {\n  to = terraform_data.found\n  id = "found"\n}\n'
        'resource "terraform_data" "found" {}\n'
    )
    found = reasons(infra)
    assert (found["terraform_data.moved"].action, found["terraform_data.moved"].why) == (
        "move",
        "moved from terraform_data.waiting",
    )
    assert (found["terraform_data.found"].action, found["terraform_data.found"].why) == (
        "import",
        "imported by found",
    )


def test_destroying_everything(infra: Path) -> None:
    plan = nigari.open(infra).plan(destroy=True)
    assert {each.why for each in plan.why() if each.action == "delete"} == {
        "because everything is to be destroyed"
    }


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("terraform_data.titled", 2),
        ('terraform_data.titled["a"]', 1),
        ("module.inner", 2),
        ("output.inner", 1),
        ("terraform_data.first.input", 1),
        ("terraform_data.first.input.name", 1),
        ("terraform_data.first.input.plain", 0),
        ("terraform_data.nothing", 0),
        ("terraform_data.fir", 0),
    ],
)
def test_addresses(infra: Path, address: str, found: int) -> None:
    assert len(nigari.open(infra, variables={"env": "prod"}).plan().why(address)) == found


# -- every chain is true ----------------------------------------------------------------------


class Chance:
    """A configuration in which every value depends on some variables, in random ways."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.variables = {f"v{each}": f"x{each}" for each in range(6)}
        self._names = [f"var.{name}" for name in self.variables]
        self._choices = 0
        self.files: dict[str, str] = {}
        lines = [f'variable "{name}" {{}}' for name in self.variables]
        for number in range(self._random.randint(3, 8)):
            lines += self._step(number)
        for number in range(3):
            lines.append(
                f'resource "terraform_data" "r{number}" {{\n  input = {self.expression()}\n}}'
            )
        self.files["main.tf"] = "\n".join(lines)

    def _name(self) -> str:
        return self._random.choice(self._names)

    def expression(self) -> str:
        """A text that depends on what it names, in one way or another."""
        one, two, three = self._name(), self._name(), self._name()
        # What a condition chooses between is never the same.
        self._choices += 1
        chosen = f'var.v{self._random.randrange(6)} == "x0"'
        other = f'"${{{three}}}!{self._choices}"'
        return self._random.choice(
            [
                one,
                f'"${{{one}}}-${{{two}}}"',
                f"{chosen} ? {two} : {other}",
                f"coalesce({one}, {two})",
                f'join(",", [for each in [{one}, {two}] : upper(each)])',
                f"merge({{ a = {one} }}, {{ b = {two} }}).b",
                f"try({one}, {two})",
                f'lookup({{ k = {one} }}, "k", {two})',
                f"[{one}, {two}, {three}][1]",
                f'format("%s/%s", {one}, {two})',
                f"({chosen} ? {{ a = {two} }} : {{ a = {other} }}).a",
                f'{{ a = {two}, b = {other} }}[{chosen} ? "a" : "b"]',
                f'"%{{ if {chosen} }}${{{two}}}%{{ else }}${{{three}}}!{self._choices}%{{ endif }}"',
                f'"%{{ for each in [{one}, {two}] }}${{each}};%{{ endfor }}"',
                f'join("-", [{{ n = {one} }}, {{ n = {two} }}][*].n)',
                f'{{ for key in ["a", "b"] : key => "${{key}}-${{{one}}}" }}["b"]',
                f"nonsensitive(sensitive({one}))",
                f'tomap({{ a = {one}, b = {two} }})["a"]',
            ]
        )

    def _step(self, number: int) -> list[str]:
        kind = self._random.randrange(4)
        name = f"l{number}"
        if kind == 0:
            text = f"locals {{\n  {name} = {self.expression()}\n}}"
            self._names.append(f"local.{name}")
            return [text]
        if kind == 1:
            text = (
                f"locals {{\n  {name} = {{ a = {self.expression()}, b = {self.expression()} }}\n}}"
            )
            self._names += [f"local.{name}.a", f"local.{name}.b"]
            return [text]
        if kind == 2:
            text = (
                f'module "{name}" {{\n  source = "./m"\n'
                f"  given  = {{ p = {self.expression()}, q = {self.expression()} }}\n}}"
            )
            self.files["m/main.tf"] = (
                'variable "given" {}\noutput "out" {\n  value = var.given.p\n}\n'
                'output "both" {\n  value = { one = var.given.p, two = var.given.q }\n}\n'
            )
            self._names += [f"module.{name}.out", f"module.{name}.both.two"]
            return [text]
        text = (
            f'resource "terraform_data" "{name}" {{\n'
            f"  for_each = {{ a = {self.expression()}, b = {self.expression()} }}\n"
            "  input    = each.value\n}"
        )
        self._names.append(f'terraform_data.{name}["b"].input')
        return [text]


def _inputs(plan: nigari.Plan) -> Mapping[str, object]:
    """The input of each object that is planned."""
    return {each.address: each.after["input"].to_python() for each in plan.changes}


def _roots(found: Explanation, changes: Mapping[str, ChangeReasons]) -> set[str]:
    """The variables that a value comes from, through the resources that pass it on."""
    names: set[str] = set()
    for root in found.roots():
        if root.kind == "resource":
            address = root.name.removesuffix(".input")
            inner = argument(changes[address], "input").explanation
            assert inner is not None
            names |= _roots(inner, changes)
        else:
            names.add(root.name)
    return names


@pytest.mark.parametrize("seed", range(25))
def test_every_chain_is_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    (tmp_path / "nothing.tfrc").touch()
    monkeypatch.setenv("TF_CLI_CONFIG_FILE", str(tmp_path / "nothing.tfrc"))
    chance = Chance(seed)
    for name, text in chance.files.items():
        path = tmp_path / "c" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    nigari.open(tmp_path / "c", variables=chance.variables).init()
    plan = nigari.open(tmp_path / "c", variables=chance.variables).plan()
    values = _inputs(plan)
    changes = {each.address: each for each in plan.why()}
    named: dict[str, set[str]] = {}
    for address in values:
        explanation = argument(changes[address], "input").explanation
        assert explanation is not None
        named[address] = {name.removeprefix("var.") for name in _roots(explanation, changes)}
    changing: dict[str, set[str]] = {address: set() for address in values}
    for name, value in chance.variables.items():
        for other in ("x0", "other"):
            if other != value:
                variables = {**chance.variables, name: other}
                now = _inputs(nigari.open(tmp_path / "c", variables=variables).plan())
                for address, before in values.items():
                    if now.get(address) != before:
                        changing[address].add(name)
    assert named == changing, chance.files["main.tf"]


@pytest.mark.parametrize("seed", range(12))
def test_what_is_said_to_have_changed_since_the_last_apply_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    (tmp_path / "nothing.tfrc").touch()
    monkeypatch.setenv("TF_CLI_CONFIG_FILE", str(tmp_path / "nothing.tfrc"))
    chance = Chance(seed)
    for name, text in chance.files.items():
        path = tmp_path / "c" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    nigari.open(tmp_path / "c", variables=chance.variables).init()
    nigari.open(tmp_path / "c", variables=chance.variables).apply()
    others = random.Random(seed).sample(sorted(chance.variables), 3)
    now = {**chance.variables, **dict.fromkeys(others, "other")}
    for change in nigari.open(tmp_path / "c", variables=now).plan().why():
        found = argument(change, "input")
        assert found.explanation is not None
        roots = [each for each in found.explanation.roots() if each.name.startswith("var.")]
        changed = {each.name for each in found.changed_inputs if each.name.startswith("var.")}
        assert changed == {each.name for each in roots} & {f"var.{name}" for name in others}
        assert found.changed_inputs, "something must have changed, or nothing would"
        for each in found.changed_inputs:
            assert each.earlier is not None
            if each.name.startswith("var."):
                assert each.earlier.to_python() == chance.variables[each.name.removeprefix("var.")]
