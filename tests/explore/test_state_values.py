"""Stored objects on the page: what the state says of each instance, and nothing secret of it."""

from __future__ import annotations

import json
from pathlib import Path

import nigari
from nigari.explore.document import document_of
from nigari.explore.page_source import configuration_subject
from tests.explore.explored import Data, explored, explored_plan, session, write

_MAIN = """\
variable "secret" {
  default   = "planted-secret"
  sensitive = true
}
resource "terraform_data" "each" {
  for_each = toset(["a", "b"])
  input    = { key = each.key, secret = var.secret }
}
resource "terraform_data" "text" {
  input = "one\\ntwo"
}
module "m" {
  source = "./m"
}
"""
_FILES = {"main.tf": _MAIN, "m/main.tf": 'resource "terraform_data" "inner" {\n  count = 1\n}\n'}


def stored(data: Data) -> dict[str, Data]:
    """The entries of each object by its address."""
    found = data["stored"]
    return {
        each["resource"] + each["key"]: dict(
            json.loads(found["parts"][number])[:2] for number in each["values"]
        )
        for each in found["objects"]
    }


def applied(place: Path) -> None:
    write(place, _FILES)
    with nigari.open(place, environ={}) as work:
        work.apply()


def test_a_configuration_has_the_values_of_its_state(tmp_path: Path) -> None:
    applied(tmp_path)
    subject = configuration_subject(session(tmp_path))
    assert subject is not None
    document = document_of(subject)
    assert "planted" not in document.json()
    found = stored(document.data)
    assert set(found) == {
        'terraform_data.each["a"]',
        'terraform_data.each["b"]',
        "terraform_data.text",
        "module.m.terraform_data.inner[0]",
    }
    each = found['terraform_data.each["a"]']["input"]
    assert each[4] == {"key": ["s", " ", 0, "a", "a"], "secret": ["x", " ", 0, 1, 1]}
    assert found["terraform_data.text"]["input"] == ["t", " ", 0, [[" ", "one"], [" ", "two"]]]


def test_a_secret_of_the_state_is_masked_wherever_it_is_written(tmp_path: Path) -> None:
    """It was sensitive when it was applied, and the configuration no longer says so."""
    applied(tmp_path)
    plain = _MAIN.replace("  sensitive = true\n", "").replace("planted-secret", "other")
    write(tmp_path, {**_FILES, "main.tf": plain + 'output "o" {\n  value = "planted-secret"\n}\n'})
    subject = configuration_subject(session(tmp_path))
    assert subject is not None
    assert "planted" not in document_of(subject).json()


def test_a_plan_has_the_values_from_before(tmp_path: Path) -> None:
    after = {"main.tf": _MAIN.replace('["a", "b"]', '["b", "c"]').replace("one", "three")}
    data: Data = explored_plan(tmp_path, {**_FILES, **after}, _FILES).data
    found = stored(data)
    assert 'terraform_data.each["c"]' not in found
    assert found["terraform_data.text"]["input"][3] == [[" ", "one"], [" ", "two"]]


def test_without_a_readable_state_there_is_none(tmp_path: Path) -> None:
    backend = 'terraform {\n  backend "http" {\n    address = "http://127.0.0.1:1"\n  }\n}\n'
    data: Data = explored(tmp_path, {"main.tf": backend}).data
    assert "stored" not in data
    broken: Data = explored(tmp_path, {"main.tf": "", "terraform.tfstate": "no state"}).data
    assert "stored" not in broken
    assert len(broken["problems"]) == 1


def test_a_location_that_is_not_set_up_does_not_look_empty(tmp_path: Path) -> None:
    write(
        tmp_path, {"main.tf": 'terraform {\n  backend "local" {\n    path = "x.tfstate"\n  }\n}\n'}
    )
    subject = configuration_subject(session(tmp_path))
    assert subject is not None
    assert subject.state is None
    assert [each.summary for each in subject.diagnostics] == ["Backend not set up"]
