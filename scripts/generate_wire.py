"""Compiles the messages of the plugin protocols. The output is committed; run this after editing a .proto.

    python -m scripts.generate_wire      needs grpcio-tools, which nothing else does

Of what protoc makes only the stubs and the descriptions of the messages are kept: the modules that it
writes load neither with a protobuf older than the compiler nor with one two major versions newer.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from google.protobuf.descriptor_pb2 import FileDescriptorSet

SOURCES: Final = Path(__file__).resolve().parents[1] / "src"
WIRE: Final = "nigari/providers/wire"
FILES: Final = ("protocol6", "protocol5", "plugin")
_MODULE: Final = '''# Written by scripts/generate_wire.py from {name}.proto.
"""{summary}"""

{imports}from nigari.providers.wire.descriptions import define

define(
    __name__,
    {description!r},
    globals(),
)
'''


def main() -> None:
    """Write a module and its stub for each .proto."""
    with tempfile.TemporaryDirectory() as made:
        described = Path(made, "messages.binpb")
        command = [
            sys.executable,
            "-m",
            "grpc_tools.protoc",
            f"-I{SOURCES}",
            f"--pyi_out={SOURCES}",
        ]
        command += [f"--descriptor_set_out={described}"]
        subprocess.run([*command, *(f"{WIRE}/{name}.proto" for name in FILES)], check=True)
        files = FileDescriptorSet.FromString(described.read_bytes()).file
    for file in files:
        path = SOURCES / file.name
        name = path.stem
        imports = "".join(_import(each) for each in file.dependency)
        text = _MODULE.format(
            name=name,
            summary=_summary(path.read_text(encoding="utf-8")),
            imports=imports,
            description=file.SerializeToString(),
        )
        path.with_name(f"{name}_pb2.py").write_text(text, encoding="utf-8")
        stub = path.with_name(f"{name}_pb2.pyi")
        stub.write_text(_tightened(stub.read_text(encoding="utf-8")), encoding="utf-8")


def _import(name: str) -> str:
    """Descriptions refer to those of other files, which must be loaded first."""
    package, _, stem = name.removesuffix(".proto").replace("/", ".").rpartition(".")
    return f"from {package} import {stem}_pb2 as _{stem}_pb2\n"


def _summary(proto: str) -> str:
    """The first sentence of a file's comment."""
    lines = re.match(r"(//[^\n]*\n)+", proto)
    text = (
        " ".join(line.removeprefix("//").strip() for line in lines[0].splitlines()) if lines else ""
    )
    return f"{text.partition('. ')[0].rstrip('.')}."


def _tightened(stub: str) -> str:
    """A stub without the types that its generator leaves out."""
    stub = stub.replace("**kwargs)", "**kwargs: object)")
    stub = re.sub(r"\b_Mapping\b(?=[\],])", "_Mapping[str, object]", stub)
    return f"# mypy: ignore-errors\n{stub}"


if __name__ == "__main__":
    main()
