# A small file of a language that knows nothing but arguments.

name    = "nigari"
regions = ["eu", "us", "ap"]
port    = 8000

# Expressions may use what stands above them.
hosts = { for index, region in regions : region => "${name}-${region}:${port + index}" }

greeting = "Hello from ${upper(name)}%{ if length(regions) > 2 }, all over the world%{ endif }!"

# The address is not known before something runs; what depends on it says so, the rest is known.
endpoint = "https://${address}/${name}"
secure   = port == 443 ? "yes" : "no"

# The password is known, and never shown.
login = "admin:${password}"

# A mistake: one run reports it and still gives all of the above.
broken = port + regions
