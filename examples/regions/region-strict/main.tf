variable "name" {
  type = string
}

variable "environment" {
  type = string
}

output "title" {
  value = "${var.name} (${var.environment}, audited)"
}
