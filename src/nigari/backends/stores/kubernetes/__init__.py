"""The backend `kubernetes`: a Secret per workspace, locked by a Lease."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.backends.stores.kubernetes.storing import KubernetesStore
    from nigari.clouds.arguments import Arguments


def open_store(arguments: Arguments) -> KubernetesStore:
    """The store that the arguments describe."""
    from nigari.backends.stores.kubernetes.cluster import read_cluster
    from nigari.backends.stores.kubernetes.storing import KubernetesStore

    return KubernetesStore(
        read_cluster(arguments),
        arguments.text("namespace", "KUBE_NAMESPACE", default="default"),
        arguments.required("secret_suffix"),
        arguments.mapping("labels"),
    )
