"""Makes HCL files of a wanted size, with the mixture of things that real configurations have.

The same size gives the same text, so that runs can be compared.
"""

from typing import Final

_SECTION: Final = """\
# Section {n}: an application and what it needs.
variable "name_{n}" {{
  type        = string
  default     = "application-{n}"
  description = "The name that everything in section {n} starts with"
}}

variable "settings_{n}" {{
  type = object({{
    size  = number
    zones = list(string)
  }})
  default = {{
    size  = {n}
    zones = ["a", "b", "c"]
  }}
}}

locals {{
  prefix_{n} = "${{var.name_{n}}}-${{var.environment}}"
  tags_{n} = {{
    Name        = local.prefix_{n}
    Environment = var.environment
    "cost:team" = "team-{n}"
  }}
  ports_{n}   = [for port in [80, 443, 8080] : port + {n} if port != 8080]
  by_zone_{n} = {{ for zone in var.settings_{n}.zones : zone => upper(zone) }}
  size_{n}    = var.settings_{n}.size > 10 ? var.settings_{n}.size * 2 : 10
}}

resource "example_server" "server_{n}" {{
  count         = local.size_{n}
  name          = "${{local.prefix_{n}}}-${{count.index}}"
  image         = data.example_image.base.id
  instance_type = var.environment == "production" ? "large" : "small"
  enabled       = !var.disabled && length(local.ports_{n}) >= 1
  subnets       = example_network.main.subnets[*].id
  tags          = merge(local.tags_{n}, {{ Index = count.index }})

  network {{
    address = "10.0.{n}.1"
    ports   = local.ports_{n}
  }}

  disk {{
    size_gb = 20 + {n} % 7
    type    = "ssd" // the usual
  }}

  user_data = <<-EOT
    #!/bin/sh
    echo "starting ${{var.name_{n}}}"
    exec /opt/app --port ${{local.ports_{n}[0]}}
  EOT

  lifecycle {{
    create_before_destroy = true
    ignore_changes        = [tags]
  }}
}}

/* What others may ask for. */
output "address_{n}" {{
  value       = example_server.server_{n}[0].network[0].address
  description = "Where section {n} answers"
}}

"""


def text_of(size: int) -> str:
    """Give a file of at least `size` bytes."""
    parts: list[str] = []
    length = 0
    while length < size:
        parts.append(_SECTION.format(n=len(parts)))
        length += len(parts[-1])
    return "".join(parts)
