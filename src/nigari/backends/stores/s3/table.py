"""The items of a DynamoDB table that lock states and hold the digests of their contents."""

from __future__ import annotations

from nigari.backends.locking import LockInfo, parse_lock
from nigari.backends.store import BackendFailure, StateIsLocked
from nigari.clouds.aws.client import AwsClient, AwsService
from nigari.clouds.failures import CloudFailure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_API: Final = "DynamoDB_20120810."
_REFUSED: Final = "ConditionalCheckFailedException"


class LockTable:
    """A table; items are named by bucket and object."""

    def __init__(self, name: str, service: AwsService, client: AwsClient) -> None:
        self.name = name
        self._service = service
        self._client = client

    async def lock(self, path: str, info: LockInfo) -> None:
        """Make the item, which must not exist."""
        try:
            await self._call(
                "PutItem",
                Item={"LockID": {"S": path}, "Info": {"S": info.to_bytes().decode()}},
                ConditionExpression="attribute_not_exists(LockID)",
            )
        except CloudFailure as failure:
            if failure.code != _REFUSED:
                raise
            holder = await self.holder(path)
            # An attempt whose answer was lost may have been ours.
            if holder is None or holder.id != info.id:
                raise StateIsLocked(holder) from None

    async def holder(self, path: str) -> LockInfo | None:
        """The holder of the lock."""
        text = await self._text(path, "Info")
        return parse_lock(text.encode()) if text else None

    async def unlock(self, path: str, lock_id: str) -> None:
        """Delete the item, if it is the one with this id."""
        text = await self._text(path, "Info")
        holder = parse_lock(text.encode()) if text else None
        if holder is None:
            raise BackendFailure("The state is not locked in the DynamoDB table.")
        if holder.id != lock_id:
            raise BackendFailure(
                f'The state is locked in the DynamoDB table with another ID, "{holder.id}".'
            )
        await self._call(
            "DeleteItem",
            Key={"LockID": {"S": path}},
            ConditionExpression="Info = :info",
            ExpressionAttributeValues={":info": {"S": text}},
        )

    async def digest(self, path: str) -> str:
        """The digest of the content that should be there; empty if none is known."""
        return await self._text(f"{path}-md5", "Digest")

    async def put_digest(self, path: str, digest: str) -> None:
        await self._call("PutItem", Item={"LockID": {"S": f"{path}-md5"}, "Digest": {"S": digest}})

    async def delete_digest(self, path: str) -> None:
        await self._call("DeleteItem", Key={"LockID": {"S": f"{path}-md5"}})

    async def _text(self, path: str, attribute: str) -> str:
        answer = await self._call(
            "GetItem",
            Key={"LockID": {"S": path}},
            ProjectionExpression=f"LockID, {attribute}",
            ConsistentRead=True,
        )
        item = answer.get("Item")
        value = item.get(attribute) if isinstance(item, dict) else None
        return str(value.get("S", "")) if isinstance(value, dict) else ""

    async def _call(self, operation: str, **arguments: object) -> dict[str, object]:
        arguments["TableName"] = self.name
        return dict(await self._client.call(self._service, _API + operation, arguments))
