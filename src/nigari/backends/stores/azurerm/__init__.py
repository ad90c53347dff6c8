"""The backend `azurerm`: a blob of Azure Storage per workspace, locked by a lease."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.backends.stores.azurerm.storing import AzureStore
    from nigari.clouds.arguments import Arguments


def open_store(arguments: Arguments) -> AzureStore:
    """The store that the arguments describe."""
    from nigari.backends.stores.azurerm.access import Access, read_account
    from nigari.backends.stores.azurerm.storing import AzureStore
    from nigari.clouds.azure_identity import read_identity
    from nigari.net.settings import read_settings

    account = read_account(arguments)
    access = Access(account, read_identity(arguments), arguments.environ)
    return AzureStore(read_settings(arguments.environ), access)
