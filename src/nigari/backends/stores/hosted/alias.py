"""The name by which a configuration may call the host of the service that has its state.

Modules and providers of a private registry can so be named without saying which service it is.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.addrs.hostname import normalize_hostname

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_ALIAS: Final = "localterraform.com"


def is_hosted(backend: str) -> bool:
    """Whether a type of backend is a service that has a registry, too."""
    return backend in ("cloud", "remote")


def host_aliases(config: Mapping[str, object], environ: Mapping[str, str]) -> Mapping[str, str]:
    """The alias and the host that it stands for; nothing where the arguments name none."""
    given = config.get("hostname") or environ.get("TF_CLOUD_HOSTNAME", "")
    host = normalize_hostname(str(given)) if given else None
    return {} if host is None else {_ALIAS: host}
