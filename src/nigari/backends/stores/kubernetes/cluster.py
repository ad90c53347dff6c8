"""Access to a cluster: its address, its certificates and who we are to it.

Arguments and their environment variables count more than kubeconfig files or, on request, the
service account of the pod that we run in. A program that a kubeconfig names may give a token or a
certificate. What is asked of the cluster is not known here.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from collections.abc import Mapping, Sequence

from nigari.backends.store import BackendFailure
from nigari.clouds.arguments import Arguments
from nigari.net.settings import Identity, Settings, read_settings
from nigari.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_POD: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
_NONE: Final[Mapping[str, object]] = {}


@record
class LoginProgram:
    """A program of the user's that logs in."""

    version: str
    command: Sequence[str]
    environ: Mapping[str, str]


@record
class Cluster:
    """Everything that requests need; what a program gives comes on top."""

    url: str
    token: str
    user: str
    password: str
    certificate: str
    key: str
    settings: Settings
    program: LoginProgram | None = None

    def secrets(self) -> dict[str, str]:
        """The headers that say who asks."""
        if self.token:
            return {"authorization": f"Bearer {self.token}"}
        if self.user:
            pair = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
            return {"authorization": f"Basic {pair}"}
        return {}

    def network(self) -> Settings:
        if not self.certificate or not self.key:
            return self.settings
        return replace(self.settings, identity=Identity(self.certificate, self.key))


def read_cluster(arguments: Arguments) -> Cluster:
    """The settings of the arguments, the environment and files."""
    text = arguments.text
    if arguments.flag("in_cluster_config", "KUBE_IN_CLUSTER_CONFIG"):
        cluster, user = _of_pod(arguments.environ)
    else:
        cluster, user = _of_files(arguments)
    authority = text("cluster_ca_certificate", "KUBE_CLUSTER_CA_CERT_DATA")
    authority = authority or _data(cluster, "certificate-authority")
    is_careless = arguments.flag("insecure", "KUBE_INSECURE") or bool(
        cluster.get("insecure-skip-tls-verify")
    )
    certificate = text("client_certificate", "KUBE_CLIENT_CERT_DATA")
    certificate = certificate or _data(user, "client-certificate")
    host = text("host", "KUBE_HOST") or str(cluster.get("server") or "localhost")
    if "://" not in host:
        is_plain = not authority and not certificate and not is_careless
        host = f"{'http' if is_plain else 'https'}://{host}"
    return Cluster(
        url=host.rstrip("/"),
        token=text("token", "KUBE_TOKEN") or _token(user),
        user=text("username", "KUBE_USER") or str(user.get("username") or ""),
        password=text("password", "KUBE_PASSWORD") or str(user.get("password") or ""),
        certificate=certificate,
        key=text("client_key", "KUBE_CLIENT_KEY_DATA") or _data(user, "client-key"),
        settings=replace(
            read_settings(arguments.environ),
            certificates=authority,
            checks_certificates=not is_careless,
        ),
        program=_program(arguments, user),
    )


def _of_pod(environ: Mapping[str, str]) -> tuple[Mapping[str, object], Mapping[str, object]]:
    host, port = environ.get("KUBERNETES_SERVICE_HOST"), environ.get("KUBERNETES_SERVICE_PORT")
    if not host or not port:
        raise BackendFailure("in_cluster_config is set, but this is not a pod of a cluster.")
    shown = f"[{host}]" if ":" in host else host
    cluster = {"server": f"https://{shown}:{port}", "certificate-authority": f"{_POD}/ca.crt"}
    return cluster, {"tokenFile": f"{_POD}/token"}


def _of_files(arguments: Arguments) -> tuple[Mapping[str, object], Mapping[str, object]]:
    """The cluster and the user of the context that is wanted; of several files the first counts."""
    path = arguments.text("config_path", "KUBE_CONFIG_PATH")
    several = arguments.environ.get("KUBE_CONFIG_PATHS", "")
    paths = [path] if path else list(arguments.texts("config_paths"))
    paths = paths or [each for each in several.split(os.pathsep) if each]
    documents = [found for each in paths if (found := _read(each)) is not None]
    current = arguments.text("config_context", "KUBE_CTX")
    for document in documents:
        current = current or str(document.get("current-context") or "")
    context = _named(documents, "contexts", "context", current)
    user = arguments.text("config_context_auth_info", "KUBE_CTX_AUTH_INFO")
    cluster = arguments.text("config_context_cluster", "KUBE_CTX_CLUSTER")
    return (
        _named(documents, "clusters", "cluster", cluster or str(context.get("cluster") or "")),
        _named(documents, "users", "user", user or str(context.get("user") or "")),
    )


def _read(path: str) -> Mapping[str, object] | None:
    """A kubeconfig file; `None` where there is none, which is no mistake."""
    import yaml

    at = os.path.expanduser(path)
    try:
        with open(at, encoding="utf-8") as file:
            document = yaml.safe_load(file)
    except FileNotFoundError:
        return None
    except (OSError, UnicodeError, yaml.YAMLError) as error:
        raise BackendFailure(f"{path} cannot be read: {str(error).splitlines()[0]}.") from None
    if not isinstance(document, dict):
        return None
    base = os.path.dirname(os.path.abspath(at))
    return _with_paths(document, base)


def _with_paths(document: dict[str, object], base: str) -> Mapping[str, object]:
    """Paths in such a file are relative to it."""
    for group, member in (("clusters", "cluster"), ("users", "user")):
        for each in _items(document.get(group)):
            settings = each.get(member)
            if isinstance(settings, dict):
                for name in ("certificate-authority", "client-certificate", "client-key"):
                    if settings.get(name):
                        settings[name] = os.path.join(base, str(settings[name]))
    return document


def _items(group: object) -> list[dict[str, object]]:
    return [each for each in group if isinstance(each, dict)] if isinstance(group, list) else []


def _named(
    documents: Sequence[Mapping[str, object]], group: str, member: str, name: str
) -> Mapping[str, object]:
    for document in documents:
        for each in _items(document.get(group)):
            found = each.get(member)
            if each.get("name") == name and isinstance(found, dict):
                return found
    return _NONE


def _data(settings: Mapping[str, object], name: str) -> str:
    """Something in PEM, given as base64 or as the path of a file."""
    given = settings.get(f"{name}-data")
    try:
        if given:
            return base64.b64decode(str(given)).decode()
        if settings.get(name):
            with open(str(settings[name]), encoding="utf-8") as file:
                return file.read()
    except (OSError, UnicodeError, binascii.Error) as error:
        raise BackendFailure(f"The {name} of the kubeconfig cannot be read: {error}.") from None
    return ""


def _token(user: Mapping[str, object]) -> str:
    path = user.get("tokenFile")
    if not path:
        return str(user.get("token") or "")
    try:
        with open(str(path), encoding="utf-8") as file:
            return file.read().strip()
    except (OSError, UnicodeError) as error:
        raise BackendFailure(f"The token in {path} cannot be read: {error}.") from None


def _program(arguments: Arguments, user: Mapping[str, object]) -> LoginProgram | None:
    block = arguments.block("exec")
    if block is not None:
        command = [block.required("command"), *block.texts("args")]
        environ = {**arguments.environ, **block.mapping("env")}
        return LoginProgram(block.required("api_version"), command, environ)
    given = user.get("exec")
    if not isinstance(given, dict) or not given.get("command"):
        return None
    more = {str(e.get("name")): str(e.get("value", "")) for e in _items(given.get("env"))}
    command = [str(given["command"]), *(str(each) for each in given.get("args") or ())]
    version = str(given.get("apiVersion") or "client.authentication.k8s.io/v1")
    return LoginProgram(version, command, {**arguments.environ, **more})


async def logged_in(cluster: Cluster) -> Cluster:
    """The cluster with what its program gives, if there is one."""
    from nigari.programs import run_program

    program = cluster.program
    if program is None:
        return cluster
    info = {
        "apiVersion": program.version,
        "kind": "ExecCredential",
        "spec": {"interactive": False},
    }
    environ = {**program.environ, "KUBERNETES_EXEC_INFO": json.dumps(info)}
    try:
        done = await run_program(program.command, environ, may_prompt=True)
        if done.status:
            raise ValueError(f"it ended with status {done.status}")
        status = json.loads(done.output)["status"]
        return replace(
            cluster,
            token=str(status.get("token") or cluster.token),
            certificate=str(status.get("clientCertificateData") or cluster.certificate),
            key=str(status.get("clientKeyData") or cluster.key),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BackendFailure(
            f"The program {program.command[0]}, which logs in to the cluster, failed: {error}."
        ) from None
