#!/bin/sh
# Compile the plugin protocol's messages. The output is committed; run this after editing a .proto.
set -eu
cd "$(dirname "$0")/.."
python="${PYTHON:-.venv/bin/python}"
wire=src/nigari/providers/wire
"$python" -m grpc_tools.protoc -I src --python_out=src --pyi_out=src \
    "$wire/protocol6.proto" "$wire/protocol5.proto" "$wire/plugin.proto"
for stub in "$wire"/*_pb2.pyi; do
    # The generator's own annotations are looser than ours may be.
    { echo "# mypy: ignore-errors"; cat "$stub"; } > "$stub.new"
    mv "$stub.new" "$stub"
done
