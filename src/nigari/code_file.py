"""Code file: the compiled code of many modules in one file, so that commands start faster.

Finding and opening a module takes Python longer than running it, and a small plan has hundreds of
them. So the program remembers the compiled code of the modules that its commands import, in one
file beside Python's own in `__pycache__`, and as safely: code is used only while its source has the
time and size that it was compiled from. Libraries that import nigari never see the file.
"""

from __future__ import annotations

import os
import sys
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import MAGIC_NUMBER, SourceFileLoader
from marshal import dumps, loads

from nigari.system_calls import read_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import CodeType, ModuleType
    from typing import Final, TypeAlias

    Entry: TypeAlias = tuple[bool, bytes, int, int]
    """A flag for packages, the stamp of the source, and the offset and size of the code."""

_PACKAGE: Final = "nigari."
_MISSES: Final = 20
"""The number of modules that a run may find elsewhere before the file is written again."""
_FORM: Final = b"nigari code 1\n" + MAGIC_NUMBER
_HEAD: Final = len(_FORM) + 8
"""Size of the head: the format, and the offset of the entries, which follow the code."""
_PYC_HEAD: Final = MAGIC_NUMBER + bytes(4)
"""Head of Python's own compiled files that are valid while time and size of the source stay."""
_STAMP: Final = 8


def use_code_file() -> None:
    """Import the modules of this package from its code file, as far as it has them."""
    # Windows cannot read at a position, which threads that import at the same time must.
    is_able = sys.platform != "win32"
    if is_able and sys.pycache_prefix is None and not sys.flags.optimize:
        sys.meta_path.insert(0, _Finder(os.path.dirname(os.path.abspath(__file__))))


def update_code_file() -> None:
    """Write the code file again, if this run had to find many modules without it."""
    for finder in sys.meta_path:
        if isinstance(finder, _Finder) and finder.misses > _MISSES:
            finder.write()


class _Finder:
    """Finds modules in the code file."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._path = f"{folder}/__pycache__/{_PACKAGE}{sys.implementation.cache_tag}.code"
        self._descriptor = -1
        self._entries = self._read()
        self.misses: int = 0
        """The number of modules that the file lacks, or has from another source."""

    def _read(self) -> Mapping[str, Entry | None]:
        """Read where the code of each module is; None for those that Python has in another form."""
        try:
            self._descriptor = os.open(self._path, os.O_RDONLY)
            head = read_at(self._descriptor, _HEAD, 0)
            if head[:-8] == _FORM:
                at = int.from_bytes(head[-8:], "little")
                size = os.fstat(self._descriptor).st_size - at
                found: Mapping[str, Entry | None] = loads(read_at(self._descriptor, size, at))
                return found
        except (OSError, ValueError, EOFError, TypeError):
            pass
        return {}

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module whose source is unchanged; None for all others."""
        if not name.startswith(_PACKAGE):
            return None
        entry = self._entries.get(name, _MISSING)
        if entry is None:
            return None
        is_package, stamp, offset, size = entry
        place = name[len(_PACKAGE) :].replace(".", "/")
        source = f"{self._folder}/{place}{'/__init__' if is_package else ''}.py"
        if not stamp or stamp != _stamp(source):
            self.misses += 1
            return None
        loader = _Loader(name, source, self._descriptor, offset, size)
        spec = ModuleSpec(name, loader, origin=source, is_package=is_package)
        spec.has_location = True
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(os.path.dirname(source))
        return spec

    def write(self) -> None:
        """Write the code of the modules that there were before, and of those imported now."""
        if sys.dont_write_bytecode or not os.access(os.path.dirname(self._path), os.W_OK):
            return
        known = dict(self._entries)
        code: list[bytes] = []
        at = _HEAD
        for name in {*known, *(each for each in sys.modules if each.startswith(_PACKAGE))}:
            found = self._code_of(name)
            if found is None:
                known[name] = None
                continue
            is_package, stamp, content = found
            known[name] = is_package, stamp, at, len(content)
            code.append(content)
            at += len(content)
        part = f"{self._path}.{os.getpid()}"
        try:
            with open(part, "xb") as file:
                file.writelines((_FORM, at.to_bytes(8, "little"), *code, dumps(known)))
            os.replace(part, self._path)
        except OSError:
            # Commands are only slower without it.
            _remove(part)

    def _code_of(self, name: str) -> tuple[bool, bytes, bytes] | None:
        """Find a module's code as Python or this file has it; None if that is no such code."""
        spec = getattr(sys.modules.get(name), "__spec__", None)
        if spec is None or isinstance(spec.loader, _Loader):
            entry = self._entries.get(name)
            if entry is None:
                return None
            is_package, stamp, offset, size = entry
            return is_package, stamp, read_at(self._descriptor, size, offset)
        if not isinstance(spec.loader, SourceFileLoader) or not spec.cached:
            return None
        try:
            with open(spec.cached, "rb") as file:
                data = file.read()
        except OSError:
            return None
        head = len(_PYC_HEAD)
        if not data.startswith(_PYC_HEAD):
            return None
        is_package = spec.submodule_search_locations is not None
        return is_package, data[head : head + _STAMP], data[head + _STAMP :]


_MISSING: Final[Entry] = (False, b"", 0, 0)


class _Loader(SourceFileLoader):
    """Takes compiled code from the code file, and all else from the source."""

    def __init__(self, name: str, source: str, descriptor: int, offset: int, size: int) -> None:
        super().__init__(name, source)
        self._place = descriptor, size, offset

    def get_code(self, fullname: str) -> CodeType | None:
        try:
            code: CodeType = loads(read_at(*self._place))
        except (OSError, ValueError, EOFError, TypeError):
            return super().get_code(fullname)
        return code


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return


def _stamp(source: str) -> bytes:
    """Return what Python's files of compiled code say of a source; empty if there is none."""
    try:
        status = os.stat(source)
    except OSError:
        return b""
    numbers = int(status.st_mtime), status.st_size
    return b"".join((each & 0xFFFFFFFF).to_bytes(4, "little") for each in numbers)
