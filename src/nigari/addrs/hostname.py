"""Normalization of service hostnames and of the names in provider addresses.

Both follow Unicode's IDNA compatibility processing (UTS 46) for lookup, so that `Example.com` and
`example.com` are one host. Names are stored in Unicode; `hostname_for_network` converts one for
name resolution.
"""

from __future__ import annotations


def normalize_label(label: str) -> str | None:
    """Normalize a label of letters, digits and inner dashes; None if it is invalid."""
    if label.isascii():
        lower = label.lower()
        is_label = lower.replace("-", "0").isalnum() and lower[0] != "-" != lower[-1]
        return lower if is_label and lower[2:4] != "--" else None
    return _normalize_unicode_label(label)


def _normalize_unicode_label(label: str) -> str | None:
    import idna

    try:
        mapped = idna.uts46_remap(label, std3_rules=True, transitional=False)
        idna.check_nfc(mapped)
        idna.check_hyphen_ok(mapped)
        idna.check_initial_combiner(mapped)
        idna.check_bidi(mapped)
    except idna.IDNAError:
        return None
    return mapped if mapped and "." not in mapped else None


def normalize_hostname(text: str) -> str | None:
    """Normalize `host` or `host:port`; None if it is not a service hostname.

    The default port 443 is dropped. As in OpenTofu, punycode is rejected: hostnames are written in
    Unicode. A trailing dot, which resolvers interpret, stays.
    """
    host, colon, port = text.partition(":")
    labels = []
    for label in host.removesuffix(".").split("."):
        normal = None if label.startswith("xn--") else normalize_label(label)
        if normal is None:
            return None
        labels.append(normal)
    normal_port = ""
    if colon:
        if not (port.isascii() and port.isdigit() and len(port) <= 5) or int(port) > 65535:
            return None
        normal_port = "" if int(port) == 443 else f":{int(port)}"
    if host.endswith("."):
        labels.append("")
    return ".".join(labels) + normal_port


def hostname_for_network(hostname: str) -> str:
    """Convert a normalized hostname to ASCII for name resolution and TLS."""
    if hostname.isascii():
        return hostname
    host, colon, port = hostname.partition(":")
    import idna

    return idna.encode(host, uts46=True).decode("ascii") + colon + port


def readable_hostname(host: str) -> str:
    """Convert a host name to Unicode; variables and URLs may have either spelling."""
    if "xn--" not in host:
        return host
    import idna

    name, colon, port = host.partition(":")
    try:
        return idna.decode(name) + colon + port
    except idna.IDNAError:
        return host
