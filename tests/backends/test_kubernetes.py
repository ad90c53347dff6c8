"""The backend `kubernetes` with a cluster in memory."""

import asyncio
import base64
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from nigari.backends.conformance import CHECKS, Subject
from nigari.backends.locking import new_lock
from nigari.backends.store import BackendFailure
from nigari.backends.stores.kubernetes.store import KubernetesStore, open_store
from nigari.clouds.arguments import Arguments
from tests.backends.world.kubernetes import FakeCluster
from tests.net_world.certificates import Authority


@pytest.fixture
def cluster() -> Iterator[FakeCluster]:
    with FakeCluster() as made:
        yield made


def opened(cluster: FakeCluster, **more: object) -> KubernetesStore:
    return open_store(Arguments({"host": cluster.url, "secret_suffix": "s", **more}, {}))


@pytest.mark.parametrize("check", CHECKS)
def test_conformance(cluster: FakeCluster, check: str) -> None:
    asyncio.run(CHECKS[check](Subject(lambda: opened(cluster))))


def test_the_objects(cluster: FakeCluster) -> None:
    async def work() -> None:
        store = opened(cluster, namespace="n", labels={"own": "label"})
        await store.open()
        await store.write("w", b"{}", None)
        await store.lock("w", new_lock("test"))
        await store.close()

    asyncio.run(work())
    base = "/namespaces/n/"
    secret = cluster.objects[f"/api/v1{base}secrets/tfstate-w-s"]
    lease = cluster.objects[f"/apis/coordination.k8s.io/v1{base}leases/lock-tfstate-w-s"]
    labels = {
        "tfstate": "true",
        "tfstateSecretSuffix": "s",
        "tfstateWorkspace": "w",
        "app.kubernetes.io/managed-by": "terraform",
        "own": "label",
    }
    for each in (secret, lease):
        metadata = each["metadata"]
        assert isinstance(metadata, dict)
        assert metadata["labels"] == labels
        if each is lease:
            note = json.loads(metadata["annotations"]["app.terraform.io/lock-info"])
            assert lease["spec"] == {"holderIdentity": note["ID"]}
        else:
            assert metadata["annotations"] == {"encoding": "gzip"}
    data = secret["data"]
    assert isinstance(data, dict)
    assert gzip.decompress(base64.b64decode(data["tfstate"])) == b"{}"


def test_names_that_cannot_be(cluster: FakeCluster) -> None:
    async def work() -> None:
        store = opened(cluster)
        await store.open()
        await store.read("Upper_Case")

    with pytest.raises(BackendFailure, match="cannot be the name of a Secret"):
        asyncio.run(work())


KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: usual
contexts:
- name: usual
  context: {{ cluster: c, user: with-token }}
- name: other
  context: {{ cluster: c, user: with-program }}
clusters:
- name: c
  cluster: {{ server: {url}, certificate-authority: authority.pem }}
users:
- name: with-token
  user: {{ token: secret }}
- name: with-program
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: sh
      args: ["-c", 'echo "{{\\"status\\": {{\\"token\\": \\"$WORD\\"}}}}"']
      env: [{{ name: WORD, value: secret }}]
- name: wrong
  user: {{ token: other }}
"""


@pytest.mark.parametrize(
    ("given", "environ", "fails"),
    [
        ({}, {}, ""),
        ({"config_context": "other"}, {"PATH": "/bin:/usr/bin"}, ""),
        ({}, {"KUBE_CTX_AUTH_INFO": "wrong"}, "who"),
        ({"token": "wrong"}, {}, "who"),
        (
            {"exec": [{"api_version": "v1", "command": "false", "args": None, "env": None}]},
            {"PATH": "/bin:/usr/bin"},
            "logs in to the cluster, failed",
        ),
    ],
)
def test_who_asks(
    tmp_path: Path, given: dict[str, object], environ: dict[str, str], fails: str
) -> None:
    authority = Authority(tmp_path)
    with FakeCluster("secret", authority.certificate(["127.0.0.1"])) as cluster:
        path = tmp_path / "config"
        path.write_text(KUBECONFIG.format(url=cluster.url))

        async def work() -> None:
            arguments = {"secret_suffix": "s", "config_path": str(path), **given}
            store = open_store(Arguments(arguments, environ))
            await store.open()
            try:
                assert await store.read("default") is None
            finally:
                await store.close()

        if not fails:
            asyncio.run(work())
            return
        with pytest.raises(BackendFailure, match=fails):
            asyncio.run(work())
