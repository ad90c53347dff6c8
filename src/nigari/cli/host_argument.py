"""The host argument of `login` and `logout`, and the credentials of the user."""

from __future__ import annotations

from nigari.addrs.hostname import normalize_hostname
from nigari.cli.presenter import Presenter
from nigari.diagnostics import Diagnostics
from nigari.hcl.quoting import quoted
from nigari.packages.hosts.cli_config import CliConfig
from nigari.packages.hosts.cli_config_files import load_cli_config
from nigari.packages.hosts.host_credentials import HostCredentials


def host_argument(presenter: Presenter) -> tuple[str, CliConfig, HostCredentials] | None:
    """The host that the only argument names; None after reporting that it is no host."""
    (text,) = presenter.invocation.arguments
    name = normalize_hostname(text)
    if name is None:
        presenter.diags.error(
            "Invalid host name",
            f"{quoted(text)} is not the name of a host, such as registry.example.com.",
        )
        return None
    environ = presenter.terminal.environ
    config = load_cli_config(environ, presenter.diags)
    return name, config, HostCredentials(config, environ)


def report_other_file(
    name: str, credentials: HostCredentials, verb: str, diags: Diagnostics
) -> None:
    """Only one file is written by this program; what a person wrote stays."""
    diags.error(
        "Credentials are configured by hand",
        f"{credentials.other_file(name)} has a credentials block for {name}. To {verb}, remove "
        "that block first.",
    )
