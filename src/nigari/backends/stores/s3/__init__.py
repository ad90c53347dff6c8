"""The backend `s3`: a state per object of a bucket, locked by another object or a table's item."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.backends.stores.s3.storing import S3Store
    from nigari.clouds.arguments import Arguments


def open_store(arguments: Arguments) -> S3Store:
    """The store that the arguments describe."""
    from nigari.backends.stores.s3.settings import read_bucket, read_connection
    from nigari.backends.stores.s3.storing import S3Store

    return S3Store(read_bucket(arguments), read_connection(arguments))
