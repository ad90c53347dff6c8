output "app" {
  value = "./app"
}
