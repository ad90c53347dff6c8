"""Targets and excludes down to single instances; every row is what the real program does."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import pytest

from tests.plan import cloud as clouds
from tests.plan.sessions import Options, applied, plan

ALL = """\
resource "terraform_data" "a" { for_each = toset(["x", "y"]) }
resource "terraform_data" "b" { input = terraform_data.a["y"].id }
resource "terraform_data" "c" {
  for_each = toset(["x", "y"])
  input    = terraform_data.a[each.key].id
}
"""
FEWER = """\
resource "terraform_data" "a" { for_each = toset(["y"]) }
resource "terraform_data" "c" {
  for_each = toset(["y"])
  input    = terraform_data.a[each.key].id
}
"""

CREATED = [
    ('-target=terraform_data.a["x"]', "ax"),
    ('-target=terraform_data.c["x"]', "ax ay cx"),
    ('-exclude=terraform_data.a["x"]', "ay"),
    ('-exclude=terraform_data.c["x"]', "ax ay b cy"),
]
DESTROYED = [
    ('-target=terraform_data.a["x"]', "ax b cx cy"),
    ('-target=terraform_data.c["x"]', "cx"),
    ('-exclude=terraform_data.a["x"]', "ay b cx cy"),
    ('-exclude=terraform_data.c["x"]', "b cy"),
    ("-exclude=terraform_data.c", "b"),
]
ORPHANS = [
    ('-target=terraform_data.a["x"]', "ax"),
    ('-target=terraform_data.c["x"]', "ax cx"),
    ('-target=terraform_data.c["y"]', "ax"),
    ("-target=terraform_data.a", "ax"),
    ('-exclude=terraform_data.a["x"]', "b"),
    ('-exclude=terraform_data.c["x"]', "ax b"),
    ("-exclude=terraform_data.b", "ax cx"),
]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def only(flag: str) -> Options:
    """What `-target=ADDRESS` and `-exclude=ADDRESS` ask of a plan."""
    name, _, address = flag.partition("=")
    return Options(targets=[address]) if name == "-target" else Options(excludes=[address])


def changed(text: str, **options: Unpack[Options]) -> str:
    """What a plan does something with, in short."""
    Path("main.tf").write_text(text)
    names = [each.address for each in plan(**options).changes if each.action != "no-op"]
    return " ".join(
        name.removeprefix("terraform_data.").replace('["', "").rstrip('"]') for name in names
    )


@pytest.mark.parametrize(("flag", "names"), CREATED)
def test_created(flag: str, names: str) -> None:
    assert changed(ALL, **only(flag)) == names


@pytest.mark.parametrize(
    ("text", "options", "names"),
    [
        *[(ALL, only(flag) | Options(destroy=True), names) for flag, names in DESTROYED],
        *[(FEWER, only(flag), names) for flag, names in ORPHANS],
    ],
)
def test_destroyed(text: str, options: Options, names: str) -> None:
    Path("main.tf").write_text(ALL)
    applied()
    assert changed(text, **options) == names


def test_what_is_left_out_is_what_it_was() -> None:
    Path("main.tf").write_text(ALL)
    applied()
    text = ALL + 'output "o" { value = terraform_data.a["x"].id }\n'
    assert changed(text, targets=['terraform_data.a["y"]']) == ""


def test_modules_without_anything_singled_out_are_not_expanded() -> None:
    text = 'resource "terraform_data" "k" { input = ["x"] }\n'
    text += 'module "n" {\n  source   = "./n"\n  for_each = toset(terraform_data.k.output)\n}\n'
    Path("n").mkdir()
    Path("n", "main.tf").write_text('resource "terraform_data" "inner" {}\n')
    assert changed(text, targets=["terraform_data.k"]) == "k"


def test_what_a_called_module_no_longer_declares_goes_with_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m").mkdir()
    module = Path("m/main.tf")
    module.write_text('resource "terraform_data" "in" {}\n')
    Path("main.tf").write_text(
        'resource "terraform_data" "a" { for_each = toset(["x"]) }\n'
        'module "m" {\n  source = "./m"\n  for_each = toset(keys(terraform_data.a))\n}\n'
    )
    applied()
    module.write_text("")
    assert not plan(excludes=["terraform_data.a"]).changes


INSTANCES = """\
resource "terraform_data" "a" {}
module "m" {
  source   = "./m"
  for_each = toset(["x", "y"])
  v        = terraform_data.a.id
}
resource "terraform_data" "b" { input = [for m in module.m : m.o] }
"""
INSIDE = """\
variable "v" {}
resource "terraform_data" "in" { input = var.v }
resource "terraform_data" "out" { input = terraform_data.in.id }
output "o" { value = terraform_data.out.id }
"""


@pytest.mark.parametrize(
    ("flag", "names"),
    [
        ('-target=module.m["x"].terraform_data.in', "b x.in x.out"),
        ('-target=module.m["x"]', "b x.in x.out"),
        ('-exclude=module.m["x"].terraform_data.out', "b y.in y.out"),
        ('-exclude=module.m["x"].terraform_data.in', "b x.out y.in y.out"),
        ("-exclude=terraform_data.b", ""),
        ("-target=terraform_data.gone", ""),
    ],
)
def test_module_instances_are_destroyed_by_themselves(flag: str, names: str) -> None:
    Path("m").mkdir()
    Path("m", "main.tf").write_text(INSIDE)
    Path("main.tf").write_text(INSTANCES)
    applied()
    text = INSTANCES + 'resource "terraform_data" "gone" { count = 0 }\n'
    text = text.replace("[for m", "[terraform_data.gone, [for m").replace("m.o]", "m.o]]")
    found = changed(text, **only(flag) | Options(destroy=True)).replace("terraform_data.", "")
    assert found.replace("module.m", "").replace('"]', "") == names


ROW = """\
resource "terraform_data" "a" {}
resource "terraform_data" "b" { input = "" }
resource "terraform_data" "c" { input = terraform_data.b.id }
"""
NEEDY = ROW.replace('""', "terraform_data.a.id")
MOVED = "moved {\n  from = terraform_data.a\n  to   = terraform_data.n\n}\n"
MOVED += NEEDY.replace("data.a", "data.n").replace('"a"', '"n"')


@pytest.mark.parametrize(
    ("before", "after", "flag", "refreshes", "names"),
    [
        (ROW, NEEDY, "-target=terraform_data.a", True, "a"),
        (ROW, NEEDY, "-exclude=terraform_data.b", True, "a c"),
        (ROW, NEEDY, "-exclude=terraform_data.c", True, ""),
        (ROW, NEEDY, "-exclude=terraform_data.c", False, "a"),
        (NEEDY, ROW, "-target=terraform_data.a", True, "a b c"),
        (NEEDY, ROW, "-exclude=terraform_data.b", True, "c"),
        (NEEDY, MOVED, "-exclude=terraform_data.b", True, "c"),
    ],
)
def test_a_destroy_goes_by_what_objects_needed_when_they_were_stored(
    before: str, after: str, flag: str, refreshes: bool, names: str
) -> None:
    Path("main.tf").write_text(before)
    applied()
    options = only(flag) | Options(destroy=True, refresh=refreshes)
    assert changed(after, **options).replace("terraform_data.", "") == names


BOXES = f"""\
{clouds.REQUIRED}
resource "cloud_box" "a" {{
  count = 2
  name  = "a${{count.index}}"
}}
resource "cloud_box" "b" {{
  name       = "b"
  depends_on = [cloud_box.a]
}}
resource "cloud_box" "c" {{
  name       = "c"
  depends_on = [cloud_box.b]
}}
"""


@pytest.mark.parametrize(
    ("gone", "targets", "refreshes", "names"),
    [
        ("a1", "a[1]", True, ""),
        ("a1", "a[1]", False, "a[1] b c"),
        ("a1", "a", True, "a[0] b c"),
        ("a1", "a[1] b", True, "b c"),
        ("a1", "a[1] c", True, "c"),
        ("a1 b", "a[1] b", True, ""),
        ("b", "a[0]", True, "a[0] c"),
        ("", "a[1]", True, "a[1] b c"),
    ],
)
def test_a_target_that_is_gone_takes_along_nothing(
    gone: str, targets: str, refreshes: bool, names: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cloud = clouds.install(monkeypatch)
    Path("main.tf").write_text(BOXES)
    applied()
    for name in gone.split():
        del cloud.objects["nowhere", name]
    chosen = [f"cloud_box.{each}" for each in targets.split()]
    made = plan(destroy=True, refresh=refreshes, targets=chosen)
    assert " ".join(each.address.removeprefix("cloud_box.") for each in made.changes) == names


@pytest.mark.parametrize(
    ("count", "target", "names"),
    [
        (2, "module.m.data.cloud_region.d[1]", "cloud_box.b"),
        (1, "module.m.data.cloud_region.d[1]", ""),
        (1, "module.m.data.cloud_region.d", "cloud_box.b"),
        (0, "module.m", ""),
        (None, "module.m", ""),
    ],
)
def test_data_that_is_not_declared_any_more_takes_along_nothing(
    count: int | None, target: str, names: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clouds.install(monkeypatch)
    Path("m").mkdir()
    data = 'data "cloud_region" "d" { count = %s }\n'
    Path("m/main.tf").write_text(clouds.REQUIRED + data % 2)
    Path("main.tf").write_text(
        clouds.REQUIRED + 'module "m" { source = "./m" }\n'
        'resource "cloud_box" "b" {\n  name = "b"\n  depends_on = [module.m]\n}\n'
    )
    applied()
    Path("m/main.tf").write_text(clouds.REQUIRED + ("" if count is None else data % count))
    made = plan(destroy=True, targets=[target])
    assert " ".join(each.address for each in made.changes) == names


@pytest.mark.parametrize(
    ("flag", "names"),
    [
        ("-target=terraform_data.b", "b module.m.terraform_data.in"),
        ("-target=terraform_data.c", "c"),
        ("-exclude=module.m.terraform_data.in", "c"),
    ],
)
def test_who_needs_a_whole_module_needs_what_it_no_longer_declares(flag: str, names: str) -> None:
    Path("m").mkdir()
    module = Path("m/main.tf")
    output = 'output "o" { value = 1 }\n'
    module.write_text('resource "terraform_data" "in" {}\n' + output)
    text = 'module "m" {\n  source = "./m"\n}\n'
    Path("main.tf").write_text(text)
    applied()
    module.write_text(output)
    text += 'resource "terraform_data" "b" { depends_on = [module.m] }\n'
    text += 'resource "terraform_data" "c" { input = module.m.o }\n'
    assert changed(text, **only(flag)) == names


def test_what_is_planned_because_of_an_argument_that_nothing_uses_is_applied() -> None:
    Path("m").mkdir()
    Path("m", "main.tf").write_text('variable "v" {}\nresource "terraform_data" "in" {}\n')
    Path("main.tf").write_text(
        'resource "terraform_data" "a" { count = 1 }\n'
        'module "m" {\n  source = "./m"\n  v = try(terraform_data.a[1].id, "none")\n}\n'
        'resource "terraform_data" "b" { depends_on = [module.m] }\n'
    )
    done = applied(targets=["terraform_data.b"])
    names = ["module.m.terraform_data.in", "terraform_data.a[0]", "terraform_data.b"]
    assert sorted(done.finished("create")) == names
    assert sorted(each.address for each in done.plan.changes) == names


REPLACED = """\
variable "n" { default = 1 }
resource "terraform_data" "a" { triggers_replace = var.n }
resource "terraform_data" "b" {
  input = terraform_data.a.id
  lifecycle { create_before_destroy = true }
}
"""


@pytest.mark.parametrize(
    ("options", "steps"),
    [
        (Options(), ("create", "delete")),
        (only("-target=terraform_data.a"), ("delete", "create")),
        (only("-target=terraform_data.b"), ("create", "delete")),
        (only("-exclude=terraform_data.b"), ("delete", "create")),
    ],
)
def test_what_is_left_out_forces_no_order(options: Options, steps: tuple[str, ...]) -> None:
    Path("main.tf").write_text(REPLACED)
    applied()
    assert plan({"n": 2}, **options).changes[0].steps == steps
