"""A module and a provider of a private registry, and a configuration that names no host for them."""

from typing import Final

from nigari.packages.content.platforms import current_platform
from tests.net_world.registry import Key, Registry
from tests.net_world.server import Answer
from tests.packages.archives import files, packed

CONFIGURATION: Final = """
terraform {
  required_providers {
    thing = {
      source = "localterraform.com/acme/thing"
    }
  }
}
module "net" {
  source  = "localterraform.com/acme/net/any"
  version = "1.0.0"
}
"""


def publish(registry: Registry) -> None:
    """Let a registry have both."""
    registry.publish("acme", "thing", "1.0.0", Key(), (current_platform(),))
    archive = packed("tar.gz", files({"main.tf": 'output "x" {\n  value = 1\n}\n'}))
    registry.answers["/files/net.tar.gz"] = Answer(200, archive)
    registry.modules["acme", "net", "any"] = {"1.0.0": "/files/net.tar.gz"}
