"""A configuration of two modules for the tests of methods, and clients that have it evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.lsp.client import PULLED, Client

ROOT: Final = """\
variable "region" {
  type        = string
  description = "Where everything is."
  default     = "eu"
}

variable "secret" {
  sensitive = true
  default   = "hunter2"
}

locals {
  names  = { a = "x", b = "y" }
  where  = upper(var.region)
  hidden = var.secret
  later  = terraform_data.first.id
}

resource "terraform_data" "first" {
  input = local.where
}

module "net" {
  source   = "./net"
  for_each = local.names
  name     = each.value
}

output "all" {
  value = [module.net["a"].id, module.net["b"].id]
}
"""
NET: Final = """\
variable "name" {
  type        = string
  description = "What it is called."
}

locals {
  title = "net ${var.name}"
}

output "id" {
  value = local.title
}
"""
FILES: Final = {"main.tf": ROOT, "net/main.tf": NET}
EVALUATED: Final[Mapping[str, Any]] = {
    **PULLED,
    "workspace": {"diagnostics": {"refreshSupport": True}},
}
"""Capabilities of a client that hears when something was evaluated, and nothing else."""


def merged(*capabilities: Mapping[str, Any]) -> dict[str, Any]:
    """Capabilities of several kinds together."""
    whole: dict[str, Any] = {}
    for each in capabilities:
        for name, value in each.items():
            is_inner = isinstance(value, Mapping) and isinstance(whole.get(name), Mapping)
            whole[name] = merged(whole[name], value) if is_inner else value
    return whole


def client(
    root: Path,
    files: Mapping[str, str] = FILES,
    capabilities: Mapping[str, Any] | None = None,
    **more: Any,  # noqa: ANN401 - passed on
) -> Client:
    """A client that hears of evaluations, and need not listen."""
    optional = ("workspace/diagnostic/refresh", "workspace/inlayHint/refresh")
    capable = merged(EVALUATED, capabilities or {})
    return Client(root, files, capable, optional=optional, **more)


def evaluated(client: Client, name: str = "main.tf", text: str | None = None) -> dict[str, int]:
    """Open a document and wait until its root module has been evaluated; where the mark is."""
    position = client.open(name, text)
    client.asked("workspace/diagnostic/refresh")
    return position
