# A small language: variables, networks and servers that refer to each other in any order.

server "web" {
  address = "${network.main.prefix}.${local.first}"
  network = network.main.name

  dynamic "port" {
    for_each = var.ports
    content {
      number = port.value
    }
  }
}

network "main" {
  name   = "net-${var.region}"
  prefix = "10.0.${length(var.ports)}"
}

locals {
  first = 1 + local.skipped
  # The addresses that the network keeps for itself.
  skipped = 3
}

variable "region" {
  default = "eu"
}

variable "ports" {
  default = [80, 443]
}
