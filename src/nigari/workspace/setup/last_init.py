"""The last init with nothing to do: its inputs and its result.

An init that changes nothing, prompts for nothing and reports nothing is remembered with every question that
it put to the file system, and the answers. While all of them are the same the next init would come
to the same end, so that asking them again is enough: nothing has to be parsed or evaluated.

Small files are compared by their content. What may be large or secret, packages, the state and
variable files, is compared by what the system knows of the file, which any write changes; the
checksum of a provider is verified anyway before it is started.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from nigari.lang.files import DiskFiles, Entry
from nigari.packages.content.platforms import current_platform
from nigari.packages.providers.installation import InstalledProvider, InstallStep
from nigari.version import VERSION
from nigari.workspace.context.options import GivenVariables
from nigari.workspace.context.working_directory import WorkingDirectory
from nigari.workspace.setup.init_options import InitOptions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


FILE_NAME: Final = "nigari.init.json"
_NAMES: Final = ("HOME",)
_PREFIXES: Final = ("NIGARI_", "OPENTOFU_", "TERRAFORM_", "TF_", "XDG_")
"""The environment variables that have a say in what init does without a network."""
_SECRETS: Final = ("TF_ENCRYPTION", "TF_TOKEN_", "TF_VAR_")
"""Those whose values may be secret, of which not even a digest is kept."""
_AT_REST: Final = 1_000_000_000
"""Nanoseconds after which the time of a file tells one change from the next."""
_DIGEST_SIZE: Final = 32
_ANSWERED: Final = frozenset((InstallStep.BUILT_IN, InstallStep.REUSED))

ValueQuery = tuple[str, str, int]
"""A query about a path, with the limit of what is read; -1 without one."""


class NotedFiles:
    """The files of this machine; everything that is asked of them is noted with its answer."""

    __slots__ = ("_files", "answers", "is_steady")

    def __init__(self, files: DiskFiles) -> None:
        self._files = files
        self.answers: dict[ValueQuery, str] = {}
        self.is_steady: bool = True
        """True if repeated queries had the same answer."""

    def at(self, path: str) -> str:
        """The path by which the process finds a file."""
        return self._files.at(path)

    def read(self, path: str, limit: int | None = None) -> bytes:
        question = ("read", path, -1 if limit is None else limit)
        try:
            content = self._files.read(path, limit)
        except OSError as error:
            self._note(question, _failure(error))
            raise
        self._note(question, _digest(content))
        return content

    def entries(self, path: str) -> list[Entry]:
        try:
            entries = self._files.entries(path)
        except OSError as error:
            self._note(("entries", path, -1), _failure(error))
            raise
        self._note(("entries", path, -1), _listing(entries))
        return entries

    def is_file(self, path: str) -> bool:
        try:
            answer = self._files.is_file(path)
        except OSError as error:
            self._note(("is_file", path, -1), _failure(error))
            raise
        self._note(("is_file", path, -1), str(answer))
        return answer

    def is_directory(self, path: str) -> bool:
        answer = self._files.is_directory(path)
        self._note(("is_directory", path, -1), str(answer))
        return answer

    def look_at(self, paths: Iterable[str]) -> None:
        """Note the content of files that other code reads. Doing so before and after
        knows whether it was the same all the time.
        """
        for path in paths:
            self._note(("read", path, -1), _answer(self._files, ("read", path, -1)))

    def _note(self, question: ValueQuery, answer: str) -> None:
        if self.answers.setdefault(question, answer) != answer:
            self.is_steady = False


class LastInit:
    """The remembered data of a working directory's last init."""

    def __init__(self, where: WorkingDirectory) -> None:
        self._where = where
        self._path = where.data(FILE_NAME)
        self._began = time.time_ns()

    def recall(self) -> tuple[InstalledProvider, ...] | None:
        """The providers that the last init found, if everything is as it was then."""
        try:
            with open(self._path, "rb") as file:
                document = json.loads(file.read())
            if document["surroundings"] != self._surroundings():
                return None
            if not all(self._is_as_it_was(*each) for each in document["files"]):
                return None
            if any(_signature(path) != known for path, known in document["others"]):
                return None
            return tuple(_outcome(*each) for each in document["providers"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def _is_as_it_was(self, kind: str, path: str, limit: int, answer: str) -> bool:
        return _answer(self._where.files, (kind, path, limit)) == answer

    def remember(
        self, noted: NotedFiles, others: Iterable[str], outcomes: Sequence[InstalledProvider]
    ) -> None:
        """Store the inputs of an init, unless one of them has only just changed. Of `others` only
        digests are stored.
        """
        from nigari.packages.content.whole_file import make_directories, write_whole

        signatures = [(path, _signature(path)) for path in sorted(set(others))]
        latest = max((each[-1] for _, each in signatures if each is not None), default=0)
        is_known = all(each.step in _ANSWERED for each in outcomes)
        if not (noted.is_steady and is_known) or latest > self._began - _AT_REST:
            return
        document = {
            "surroundings": self._surroundings(),
            "files": [[*question, answer] for question, answer in noted.answers.items()],
            "others": signatures,
            "providers": [
                [str(each.provider), str(each.version or ""), each.step.value] for each in outcomes
            ],
        }
        try:
            make_directories(os.path.dirname(self._path))
            write_whole(self._path, json.dumps(document).encode(), mode=0o600, sync=False)
        except OSError:
            # It saves time, and nothing else.
            return

    def _surroundings(self) -> str:
        """Return a digest of this init's environment."""
        environ = self._where.environ
        named = {n: v for n, v in environ.items() if n.startswith(_PREFIXES) or n in _NAMES}
        conditions = (VERSION, current_platform(), self._where.current, sorted(named.items()))
        return _digest(ascii(conditions).encode())


def is_usual(where: WorkingDirectory, options: InitOptions, variables: GivenVariables) -> bool:
    """Return whether an init is only asked to be up to date."""
    return (
        options == InitOptions()
        and where.environment is None
        and where.selects_default
        and not (variables.flags or variables.values or variables.is_all)
        and not any(name.startswith(_SECRETS) for name in where.environ)
    )


def files_below(directory: str) -> list[str]:
    """A directory that may be a link, with everything below it."""
    root = os.path.realpath(directory)
    found = [root]
    for folder, subfolders, names in os.walk(root):
        found += [os.path.join(folder, name) for name in (*subfolders, *names)]
    return [directory, *found]


def _answer(files: DiskFiles, question: ValueQuery) -> str:
    kind, path, limit = question
    ask: Mapping[str, Callable[[], str]] = {
        "read": lambda: _digest(files.read(path, None if limit < 0 else limit)),
        "entries": lambda: _listing(files.entries(path)),
        "is_file": lambda: str(files.is_file(path)),
        "is_directory": lambda: str(files.is_directory(path)),
    }
    try:
        return ask[kind]()
    except OSError as error:
        return _failure(error)


def _digest(content: bytes) -> str:
    # What hashlib brings along takes as long to load as everything else here: it asks OpenSSL for
    # algorithms that are not needed. The standard library's `random` does the same.
    try:
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b
    return blake2b(content, digest_size=_DIGEST_SIZE).hexdigest()


def _listing(entries: Sequence[Entry]) -> str:
    return _digest(ascii([(each.name, each.is_directory) for each in entries]).encode())


def _failure(error: OSError) -> str:
    return f"error {error.errno}"


def _signature(path: str) -> list[int] | None:
    """Return the system's metadata of a file, with the modification time last; None if there is no
    such file.
    """
    try:
        found = os.stat(path)
    except OSError:
        return None
    return [found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]


def _outcome(provider: str, version: str, step: str) -> InstalledProvider:
    from nigari.addrs.provider import parse_provider
    from nigari.diagnostics import Diagnostics
    from nigari.lang.versions import parse_version

    found = parse_provider(provider, Diagnostics())
    if found is None:
        raise ValueError(provider)
    return InstalledProvider(found, parse_version(version) if version else None, InstallStep(step))
