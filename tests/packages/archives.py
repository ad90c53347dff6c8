"""Archives for tests: honest ones, and those that somebody has prepared."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

Entry = tuple[str, str, str]
"""Kind (`file`, `program`, `link`, `hard`, `dir`, `fifo`), name, and content or target."""


def files(content: Mapping[str, str]) -> list[Entry]:
    return [("file", name, text) for name, text in content.items()]


def zip_bytes(entries: Sequence[Entry]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package:
        for kind, name, text in entries:
            modes = {"link": stat.S_IFLNK | 0o777, "program": stat.S_IFREG | 0o755}
            modes |= {"dir": stat.S_IFDIR | 0o755, "fifo": stat.S_IFIFO | 0o644}
            info = zipfile.ZipInfo(f"{name}/" if kind == "dir" else name, (2020, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = modes.get(kind, stat.S_IFREG | 0o644) << 16
            package.writestr(info, text)
    return buffer.getvalue()


def tar_bytes(entries: Sequence[Entry]) -> bytes:
    buffer = io.BytesIO()
    types = {"link": tarfile.SYMTYPE, "hard": tarfile.LNKTYPE, "dir": tarfile.DIRTYPE}
    types |= {"fifo": tarfile.FIFOTYPE}
    with tarfile.open(fileobj=buffer, mode="w") as package:
        for kind, name, text in entries:
            info = tarfile.TarInfo(name)
            info.type = types.get(kind, tarfile.REGTYPE)
            info.mode = 0o755 if kind in ("program", "dir") else 0o644
            if kind in ("link", "hard"):
                info.linkname = text
            content = text.encode() if kind in ("file", "program") else b""
            info.size = len(content)
            package.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def packed(form: str, entries: Sequence[Entry]) -> bytes:
    """An archive of one of the forms."""
    match form:
        case "zip":
            return zip_bytes(entries)
        case "tar":
            return tar_bytes(entries)
        case "tar.gz":
            return gzip.compress(tar_bytes(entries), mtime=0)
        case "tar.bz2":
            return bz2.compress(tar_bytes(entries))
        case "tar.xz":
            return lzma.compress(tar_bytes(entries))
    raise ValueError(form)


def write(path: Path, form: str, entries: Sequence[Entry]) -> Path:
    path.write_bytes(packed(form, entries))
    return path
