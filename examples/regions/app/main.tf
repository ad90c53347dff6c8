variable "regions" {
  type = list(string)
}

variable "owner" {
  type = string
}

output "summary" {
  value = "${var.owner} runs ${join(" and ", var.regions)}"
}
