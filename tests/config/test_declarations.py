"""Each rule about a declaration by itself: what is refused, and where."""

from __future__ import annotations

import pytest

from tests.config.loading import load, told

_ERRORS = [
    # -- names --
    ('variable "a b" {}', 1, "Invalid variable name"),
    ('variable "version" {}', 1, "Reserved variable name"),
    ('variable "lifecycle" {}', 1, "Reserved variable name"),
    ('output "1" {\n value = 1\n}', 1, "Invalid output name"),
    ('module "a.b" {\n source = "./m"\n}', 1, "Invalid module call name"),
    ('resource "a b" "c" {}', 1, "Invalid resource type name"),
    ('data "a" "c d" {}', 1, "Invalid resource name"),
    ('check "1" {\n assert {\n  condition = var.a\n  error_message = "x"\n }\n}', 1,
     "Invalid check name"),
    ('provider "a_b" {}', 1, "Invalid provider local name"),
    ('provider "AWS" {}', 1, "Invalid provider local name"),
    # -- twice --
    ('variable "a" {}\nvariable "a" {}', 2, "Duplicate variable"),
    ("locals {\n a = 1\n}\nlocals {\n a = 2\n}", 5, "Duplicate local value"),
    ('output "a" {\n value = 1\n}\noutput "a" {\n value = 1\n}', 4, "Duplicate output"),
    ('resource "a" "b" {}\nresource "a" "b" {}', 2, "Duplicate resource"),
    ('provider "a" {}\nprovider "a" {}', 2, "Duplicate provider"),
    ('provider "a" {\n alias = "x"\n}\nprovider "a" {\n alias = "x"\n}', 4, "Duplicate provider"),
    ('terraform {\n backend "a" {}\n backend "b" {}\n}', 3, "Duplicate backend block"),
    ("terraform {\n cloud {}\n cloud {}\n}", 3, "Duplicate cloud block"),
    ('terraform {\n cloud {}\n backend "a" {}\n}', 3, "Conflicting backend and cloud blocks"),
    ("terraform {\n required_providers {}\n required_providers {}\n}", 3,
     "Duplicate required_providers block"),
    ("terraform {\n encryption {}\n encryption {}\n}", 3, "Duplicate encryption block"),
    ('terraform {\n provider_meta "a" {}\n provider_meta "a" {}\n}', 3,
     "Duplicate provider_meta"),
    ('import {\n to = a.b\n id = "1"\n}\nimport {\n to = a.b\n id = "2"\n}', 5,
     "Duplicate import"),
    (('data "a" "b" {}\ncheck "c" {\n data "a" "b" {}\n assert {\n  condition = data.a.b.c\n'
     '  error_message = "x"\n }\n}'), 3, "Duplicate data source"),
    # -- places --
    ("required_providers {}", 1, "Misplaced required_providers block"),
    ("local {}", 1, "Unexpected block"),
    ("a = 1", 1, "Unexpected argument"),
    ('resource "a" {}', 1, "Missing block label"),
    # -- variables --
    ('variable "a" {\n type = "string"\n}', 2, "Quoted type expression"),
    ('variable "a" {\n type = number\n default = "x"\n}', 3,
     "Invalid default value for variable"),
    ('variable "a" {\n nullable = false\n default = null\n}', 3, "Null default"),
    ('variable "a" {\n sensitive = "perhaps"\n}', 2, "Invalid value"),
    ('variable "a" {\n sensitive = var.b\n}', 2, "Variables not allowed"),
    ('variable "a" {\n deprecated = " "\n}', 1, "Empty deprecation message"),
    ('variable "a" {\n validation {\n  condition = var.b\n  error_message = "x"\n }\n}', 3,
     "Validation of something else"),
    ('variable "a" {\n validation {\n  condition = true\n  error_message = "x"\n }\n}', 3,
     "Condition that never changes"),
    ('variable "a" {\n validation {\n  condition = var.a\n }\n}', 2, "Missing argument"),
    # -- outputs --
    ('output "a" {}', 1, "Missing argument"),
    ('output "a" {\n value = 1\n deprecated = ""\n}', 3, "Empty deprecation message"),
    ('output "a" {\n value = 1\n postcondition {}\n}', 3, "Postcondition of an output"),
    ('output "a" {\n value = 1\n depends_on = var.x\n}', 3, "List required"),
    # -- module calls --
    ('module "a" {}', 1, "Missing argument"),
    ('module "a" {\n source = "./m"\n provider "x" {}\n}', 3, "Reserved block type"),
    ('module "a" {\n source = "./m"\n lifecycle {\n  destroy = true\n }\n}', 4,
     "Unexpected argument"),
    ('module "a" {\n source = "./m"\n providers = { a = b, a = c }\n}', 3,
     "Provider passed twice"),
    ('module "a" {\n source = "./m"\n providers = local.providers\n}', 3, "Map required"),
    # -- providers --
    ('provider "a" {\n for_each = local.x\n}', 2, "Provider instances without an alias"),
    ('provider "a" {\n count = 2\n}', 2, "Provider instances without an alias"),
    ('provider "a" {\n alias = "x"\n count = 1\n for_each = {}\n}', 3,
     "Conflicting repetition arguments"),
    ('provider "a" {\n alias = var.x\n}', 2, "Alias is not a literal"),
    ('provider "a" {\n alias = "x y"\n}', 2, "Invalid provider alias"),
    ('provider "a" {\n depends_on = []\n}', 2, "Reserved argument"),
    ('provider "a" {\n locals {}\n}', 2, "Reserved block type"),
    # -- provider references --
    ('resource "a" "b" {\n provider = provider.aws\n}', 2, "Invalid provider reference"),
    ('resource "a" "b" {\n provider = var.which\n}', 2, "Invalid provider reference"),
    ('resource "a" "b" {\n provider = aws.x[*]\n}', 2, "Invalid provider reference"),
    ('resource "a" "b" {\n provider = aws["x"]\n}', 2, "Provider key without an alias"),
    ('resource "a" "b" {\n provider = aws[each.key]\n}', 2, "Provider key without an alias"),
    ('resource "a" "b" {\n provider = aws.x["y"].z\n}', 2, "Invalid provider reference"),
    ('resource "a" "b" {\n provider = "${aws.x}"\n}', 2, "Invalid provider reference"),
    # -- resources --
    ('resource "a" "b" {\n count = 1\n for_each = {}\n}', 2, "Conflicting repetition arguments"),
    ('resource "a" "b" {\n count = 1\n lifecycle {\n  enabled = true\n }\n}', 2,
     "Conflicting repetition arguments"),
    ('resource "a" "b" {\n locals {}\n}', 2, "Reserved block type"),
    ('resource "a" "b" {\n lifecycle {}\n lifecycle {}\n}', 3, "Duplicate lifecycle block"),
    ('resource "a" "b" {\n _ {}\n _ {}\n}', 3, "Duplicate _ block"),
    ('resource "a" "b" {\n connection {}\n connection {}\n}', 3, "Duplicate connection block"),
    ('resource "a" "b" {\n depends_on = [a.c, 1]\n}', 2, "Reference required"),
    # -- lifecycle --
    ('resource "a" "b" {\n lifecycle {\n  create_before_destroy = "no way"\n }\n}', 3,
     "Invalid value"),
    ('resource "a" "b" {\n lifecycle {\n  ignore_changes = ["*"]\n }\n}', 3,
     "Invalid ignore_changes"),
    ('resource "a" "b" {\n lifecycle {\n  ignore_changes = alll\n }\n}', 3,
     "Invalid ignore_changes"),
    ('resource "a" "b" {\n lifecycle {\n  ignore_changes = "tags"\n }\n}', 3,
     "Invalid ignore_changes"),
    ('resource "a" "b" {\n lifecycle {\n  replace_triggered_by = ["a.c"]\n }\n}', 3,
     "Invalid replace_triggered_by"),
    ('resource "a" "b" {\n lifecycle {\n  replace_triggered_by = a.c\n }\n}', 3,
     "List required"),
    ('terraform {\n encryption {\n  state {\n   enforced = "maybe"\n  }\n }\n}', 4,
     "Invalid value"),
    (('resource "a" "b" {\n lifecycle {\n  precondition {\n   condition = a.b.c\n'
     '   error_message = "x"\n  }\n }\n}'), 4, "Condition that refers to its own resource"),
    ('data "a" "b" {\n lifecycle {\n  prevent_destroy = true\n }\n}', 3,
     "Unsupported lifecycle argument"),
    ('ephemeral "a" "b" {\n lifecycle {\n  destroy = true\n }\n}', 2,
     "Unsupported lifecycle argument"),
    ('ephemeral "a" "b" {\n connection {}\n}', 2, "Unexpected connection block"),
    # -- provisioners --
    ('resource "a" "b" {\n provisioner "x" {\n  when = never\n }\n}', 3, 'Invalid "when"'),
    ('resource "a" "b" {\n provisioner "x" {\n  on_failure = 5\n }\n}', 3, 'Invalid "on_failure"'),
    ('resource "a" "b" {\n provisioner "chef" {}\n}', 2, "Provisioner no longer supported"),
    ('resource "a" "b" {\n provisioner "x" {\n  when = destroy\n  command = var.x\n }\n}', 4,
     "Reference from a destroy provisioner"),
    (('resource "a" "b" {\n connection {\n  host = var.x\n }\n provisioner "x" {\n'
     "  when = destroy\n }\n}"), 3, "Reference from a destroy provisioner"),
    # -- moved, removed, import --
    ("moved {\n from = a.b\n}", 1, "Missing argument"),
    ("moved {\n from = a.b\n to = module.c\n}", 1, "Move between a resource and a module"),
    ('moved {\n from = "a.b"\n to = a.c\n}', 2, "Address required"),
    ("moved {\n from = ephemeral.a.b\n to = a.c\n}", 2, "Nothing to move"),
    ("moved {\n from = a.b[*]\n to = a.c\n}", 2, "Address required"),
    ("removed {\n from = a.b[0]\n}", 2, "Invalid address"),
    ("removed {\n from = module.a\n provisioner \"x\" {\n  when = destroy\n }\n}", 1,
     "Provisioner for a removed module"),
    ('removed {\n from = a.b\n provisioner "x" {}\n}', 3, "Provisioner of a removed block"),
    ("import {\n to = a.b\n}", 1, "Nothing to import"),
    ('import {\n to = a.b\n id = "1"\n identity = {}\n}', 3, "Conflicting id and identity"),
    ('import {\n to = module.m.a.b\n id = "1"\n provider = a.x\n}', 4,
     "Provider in an import into a module"),
    # -- checks --
    ('check "a" {}', 1, "Check without an assertion"),
    (('check "a" {\n data "b" "c" {\n  count = 1\n }\n assert {\n  condition = data.b.c.d\n'
     '  error_message = "x"\n }\n}'), 3, "Repeated data source in a check"),
    # -- terraform and language --
    ("terraform {\n required_providers {\n  a = [1]\n }\n}", 3, "Invalid provider requirement"),
    ('terraform {\n required_providers {\n  a = { sauce = "x/a" }\n }\n}', 3,
     "Invalid provider requirement"),
    ('terraform {\n required_providers {\n  a = { source = "x/terraform-a" }\n }\n}', 3,
     "Invalid provider type"),
    ('terraform {\n required_providers {\n  a = { version = 5 }\n }\n}', 3,
     "Invalid provider requirement"),
    ("terraform {\n required_providers {\n  a = { configuration_aliases = [b.c] }\n }\n}", 3,
     "Invalid configuration alias"),
    ('terraform {\n provider_meta "a" {\n  b = var.c\n }\n}', 3, "Variables not allowed"),
    ('language {\n edition = "tofu2024"\n}', 2, "Unsupported language edition"),
    ("language {\n experiments = [new]\n}", 2, "Unknown experiment"),
    ('language {\n compatible_with {\n  opentofu = "> 99"\n }\n}', 3, "Incompatible module"),
    ('terraform {\n encryption {\n  method "a" "b" {}\n  method "a" "b" {}\n }\n}', 4,
     "Duplicate method"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "summary"), _ERRORS, ids=lambda value: str(value)[:60])
def test_refused(text: str, line: int, summary: str) -> None:
    _, diags = load(text)
    assert told(diags) == [("error", "main.tf", line, summary)]


_WARNINGS = [
    ('provider "a" {\n version = "1.0"\n}', 2, "Version in a provider block"),
    ('resource "a" "b" {\n depends_on = ["a.c"]\n}', 2, "Quoted reference"),
    ('resource "a" "b" {\n provider = "aws.x"\n}', 2, "Quoted reference"),
    ('resource "a" "b" {\n provisioner "x" {\n  when = "destroy"\n }\n}', 3, "Quoted keyword"),
    ('resource "a" "b" {\n lifecycle {\n  ignore_changes = ["tags"]\n }\n}', 3,
     "Quoted reference"),
    ('variable "a" {\n type = object({ b = string })\n default = { b = "", c = 1 }\n}', 3,
     "Unused object attribute"),
    ("removed {\n from = a.b\n}", 1, "Removed block without lifecycle"),
    (('removed {\n from = a.b\n lifecycle {\n  destroy = false\n }\n provisioner "x" {\n'
     "  when = destroy\n }\n}"), 1, "Provisioners of a removed block never run"),
    ('language {\n compatible_with {\n  opentofu = ">= 1.10"\n }\n}', 3,
     "Version constraint without effect"),
    ("language {\n compatible_with {\n  opentofu = null\n }\n}", 3,
     "Version constraint without effect"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "summary"), _WARNINGS, ids=lambda value: str(value)[:60])
def test_doubtful(text: str, line: int, summary: str) -> None:
    _, diags = load(text)
    assert told(diags) == [("warning", "main.tf", line, summary)]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("local {}", 'Did you mean "locals"?'),
        (
            'output "a" {\n value = 1\n}\noutput "a" {\n value = 1\n}',
            'output "a" was already declared',
        ),
        ('variable "a" {\n defualt = 1\n}', 'Did you mean "default"?'),
        ('resource "a" {}', "2 labels (type, name)"),
        ('variable "version" {}', '"module_version"'),
        ('resource "a" "b" {\n provider = provider.aws.x\n}', "write aws.x"),
        ('provider "a" {\n alias = var.x\n}', "by_region[each.key]"),
        ('resource "a" "b" {\n provisioner "x" {\n  when = destory\n }\n}', '"destroy"'),
        ('terraform {\n required_providers {\n  a = { verison = "1" }\n }\n}', '"version"'),
    ],
)
def test_what_to_do_is_said(text: str, hint: str) -> None:
    _, diags = load(text)
    assert hint in diags[0].detail


@pytest.mark.parametrize(
    "text",
    [
        'variable "a" {\n sensitive = {\n }\n}',
        'resource "a" "b" {\n depends_on = {\n }\n}',
        'resource "a" "b" {\n lifecycle {\n  ignore_changes = {\n  }\n }\n}',
    ],
)
def test_a_value_of_many_lines_is_told_where_it_begins(text: str) -> None:
    _, diags = load(text)
    subject = diags[0].subject
    assert subject is not None
    assert text[subject.start.byte : subject.end.byte] == "{"


def test_everything_is_told_in_one_run() -> None:
    _, diags = load(
        {
            "a.tf": 'variable "a" {\n  type = strin\n}\n',
            "b.tf": 'variable "a" {\n  x = 1\n}\nresource "a" {}\n',
        }
    )
    assert told(diags) == [
        ("error", "a.tf", 2, "Invalid type expression"),
        ("error", "b.tf", 1, "Duplicate variable"),
        ("error", "b.tf", 2, "Unexpected argument"),
        ("error", "b.tf", 4, "Missing block label"),
    ]
