"""HCL from Python: plain data, the full tree, typed classes, functions of your own, rewriting."""

from dataclasses import dataclass, field
from typing import Annotated

from nigari import hcl
from nigari.cty.values import string
from nigari.hcl.decode_dataclass import Label, Named, decode_dataclass
from nigari.hcl.scope import Scope
from nigari.hcl.user_functions import decode_functions

TEXT = """\
# Who we are.
title = shout(who)   # evaluated

service "api" {
  port = 8000 + 80
  tags = { tier = "front" }

  check "http" {
    every = 10
  }
}

function "shout" {
  params = [text]
  result = "${text}!"
}
"""


@dataclass
class Check:
    """A nested block with a label."""

    kind: Annotated[str, Label()]
    every: int = 30


@dataclass
class Service:
    """A block with a label, arguments and nested blocks."""

    name: Annotated[str, Label()]
    port: int
    tags: dict[str, str] = field(default_factory=dict)
    checks: Annotated[list[Check], Named("check")] = field(default_factory=list)


@dataclass
class Settings:
    """A whole file."""

    title: str
    services: Annotated[dict[str, Service], Named("service")] = field(default_factory=dict)


def main() -> None:
    """Go through all of it."""
    print("plain:", hcl.loads(TEXT)["service"])

    file = hcl.parse(TEXT, "settings.hcl")
    scope = Scope({"who": string("nigari")}, {})
    scope.functions, body = decode_functions(file.body, scope, file.diagnostics)
    settings = decode_dataclass(Settings, body, scope, file.diagnostics)
    print("typed:", settings)

    broken = hcl.parse("port = [80\nhost = 1 +\n", "broken.hcl")
    print("broken:", [found.summary for found in broken.diagnostics])

    document = hcl.edit(TEXT)
    (service,) = document.body.blocks_of("service", "api")
    service.body.set("port", 9000)
    service.body.set_source("owner", "var.owner")
    document.body.rename("who", "local.who")
    print("rewritten:", str(document).split("function", maxsplit=1)[0].rstrip(), sep="\n")


if __name__ == "__main__":
    main()
