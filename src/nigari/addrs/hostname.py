"""Service hostnames and the names in provider addresses: one spelling for each.

Both follow the mapping of Unicode's IDNA compatibility processing (UTS 46) for lookup, so that
`Example.com` and `example.com` are one host. Names are kept in Unicode; `hostname_for_network`
gives the spelling that a resolver wants.
"""

from __future__ import annotations


def normalize_label(label: str) -> str | None:
    """The one spelling of a label of letters, digits and inner dashes, or `None` if it is none."""
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
    """The one spelling of `host` or `host:port`, or `None` if it is no service hostname.

    The default port 443 is dropped. Punycode is refused: a name is written the way it is read.
    A dot at the end, as resolvers know it, stays.
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
    """A normalized hostname in ASCII, as name resolution and TLS want it."""
    if hostname.isascii():
        return hostname
    host, colon, port = hostname.partition(":")
    import idna

    return idna.encode(host, uts46=True).decode("ascii") + colon + port
