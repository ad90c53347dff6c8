"""Called modules: those of the caller's own package, and those of other packages.

A module in the caller's package is found by its path. Packages of their own are found by the code that
has them: here, where an earlier `init` has put them; in `install`, wherever they can be had.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Mapping, Sequence

from nigari.addrs.keys import Deferred, key_text
from nigari.addrs.module import ROOT_MODULE, ModuleAddr, module_from_steps
from nigari.config.load import ModuleLoader
from nigari.diagnostics import Diagnostics, Range
from nigari.diagnostics.advice import advice
from nigari.diagnostics.secret_urls import hidden_url
from nigari.eval.core.compile import CompiledModule
from nigari.hcl.suggestion import listed
from nigari.lang.files import DiskFiles, Files
from nigari.lang.versions import parse_module_constraints, parse_version
from nigari.lazy import lazy_pattern
from nigari.record import record
from nigari.typed import Protocol

TYPE_CHECKING = False
# Many configurations call no modules.
if TYPE_CHECKING:
    from nigari.addrs.module_source import LocalSource, RegistrySource, RemoteSource
    from nigari.config.module import Module
    from nigari.config.symbol_files import LibraryDeclarations
    from nigari.eval.core.module_tree import InstallModule, ModuleInstance
    from nigari.packages.modules.module_manifest import Manifest, ModuleRecord

NOT_INSTALLED = "Module not installed"
"""The summary of what init mends."""
_LONGEST_NAME = 200
_DEEP = 8
"""Depth of nesting from which modules are checked for loops of links."""
_NO_FILE_NAME = frozenset("/\\%:*?<>|")
_KEYS = lazy_pattern(r'\["(?:[^"\\]|\\.)*"\]|\[\d+\]')
"""Instance keys in the key of an installed module."""


@record
class PackageRequest:
    """A call that asks for a module of another package."""

    addr: ModuleAddr
    source: RegistrySource | RemoteSource
    version: str | None
    where: Range
    """Of the source."""
    caller: ModuleInstance | None = None
    """The module that has the call, unless nothing calls it."""
    version_range: Range | None = None

    @property
    def key(self) -> str:
        return module_key(self.addr)


@record
class Place:
    """The directory of a module."""

    directory: str
    """Its directory, as `path.module` shows it."""
    package: str = ""
    """The directory of the package it belongs to, which it cannot leave; empty for the package of
    the root module, which can be anywhere.
    """
    source: str = ""
    version: str = ""


class Packages(Protocol):
    """The packages in which modules come."""

    def locate(
        self, wanted: Sequence[PackageRequest], diags: Diagnostics
    ) -> Sequence[Place | None]:
        """The directory of each module; None if it cannot be loaded, which has then been reported."""
        ...

    def same_as(self, directory: str) -> str:
        """A name for the directory that is the same for all directories that are really one."""
        ...


class CalledModules:
    """Finds, reads and compiles the modules that calls ask for."""

    def __init__(self, files: Files, loader: ModuleLoader, packages: Packages) -> None:
        self.places: dict[ModuleAddr, Place] = {}
        """The directories of the modules of the call instances so far."""
        self.loaded: list[Module] = []
        """Modules read so far, in that order."""
        self._beginning = ROOT_MODULE
        """The directory of the tree's root among the installed modules."""
        self._files = files
        self._loader = loader
        self._packages = packages
        self._compiled: dict[str, tuple[CompiledModule | None, Diagnostics]] = {}
        self._libraries: dict[str, tuple[LibraryDeclarations | None, Diagnostics]] = {}

    def beginning_at(self, addr: ModuleAddr) -> CalledModules:
        """The same for a tree of its own, whose modules are installed below an address."""
        other = CalledModules(self._files, self._loader, self._packages)
        other.places, other._compiled, other._beginning = self.places, self._compiled, addr
        other.loaded, other._libraries = self.loaded, self._libraries
        return other

    def _installed(self, addr: ModuleAddr) -> ModuleAddr:
        """The directory of a module of the tree among the installed ones."""
        if self._beginning.is_root:
            return addr
        return module_from_steps((*self._beginning.steps, *addr.steps))

    def compiled(self, directory: str, diags: Diagnostics) -> CompiledModule | None:
        """The module in a directory, read and compiled once."""
        real = self._packages.same_as(directory)
        known = self._compiled.get(real)
        if known is None:
            problems = Diagnostics()
            module = self._loader.load(directory, problems)
            if module is not None:
                self.loaded.append(module)
            known = (None if module is None else CompiledModule(module)), problems
            self._compiled[real] = known
        compiled, problems = known
        diags.extend(problems)
        return None if compiled is None else compiled.at(directory)

    def library_at(self, directory: str, diags: Diagnostics) -> LibraryDeclarations | None:
        """The symbol library in a directory, read once."""
        real = self._packages.same_as(directory)
        known = self._libraries.get(real)
        if known is None:
            problems = Diagnostics()
            known = self._libraries[real] = self._loader.library(directory, problems), problems
        diags.extend(known[1])
        return known[0]

    def load_all(
        self, wanted: Sequence[tuple[InstallModule, ModuleInstance]], diags: Diagnostics
    ) -> list[CompiledModule | None]:
        """The modules that these calls ask for."""
        if not wanted:
            return []
        from nigari.addrs.module_source import LocalSource
        from nigari.config.blocks.module_call import parse_source

        places: dict[int, Place | None] = {}
        elsewhere: dict[int, PackageRequest] = {}
        for index, (effect, caller) in enumerate(wanted):
            call = caller.module.call_at(effect.addr.name)
            where = call.source.range
            source = parse_source(effect.source, effect.version is not None, where, diags)
            if isinstance(source, LocalSource):
                parent = self.places.get(self._installed(caller.addr))
                package = "" if parent is None else parent.package
                start = Place(caller.module.directory, package)
                places[index] = self._beside(effect.addr, source, start, where, diags)
            elif source is not None:
                addr = self._installed(effect.addr)
                version_range = None if call.version is None else call.version.range
                elsewhere[index] = PackageRequest(
                    addr, source, effect.version, where, caller, version_range
                )
        if elsewhere:
            found = self._packages.locate(list(elsewhere.values()), diags)
            places.update(zip(elsewhere, found, strict=True))
        return [self._open(each, places.get(i), diags) for i, each in enumerate(wanted)]

    def load_beginning(
        self, effect: InstallModule, start: str, where: Range, diags: Diagnostics
    ) -> CompiledModule | None:
        """A module that no call asks for, at the beginning of a tree of its own."""
        from nigari.addrs.module_source import LocalSource
        from nigari.config.blocks.module_call import parse_source

        source = parse_source(effect.source, effect.version is not None, where, diags)
        place: Place | None = None
        if isinstance(source, LocalSource):
            place = self._beside(effect.addr, source, Place(start), where, diags)
        elif source is not None:
            request = PackageRequest(effect.addr, source, effect.version, where)
            (place,) = self._packages.locate([request], diags)
        if place is None:
            return None
        self.places[effect.addr] = place
        return self.compiled(place.directory, diags)

    def _beside(
        self,
        addr: ModuleAddr,
        source: LocalSource,
        caller: Place,
        where: Range,
        diags: Diagnostics,
    ) -> Place | None:
        """The place of a module in the caller's own package."""
        directory = posixpath.normpath(posixpath.join(caller.directory, source.path))
        package = caller.package
        if package and directory != package and not directory.startswith(f"{package}/"):
            _report_outside(addr, source, where, diags)
            return None
        if not self._files.is_directory(directory):
            _report_no_directory(addr, directory, where, diags)
            return None
        return Place(directory, package, str(source))

    def _open(
        self, wanted: tuple[InstallModule, ModuleInstance], place: Place | None, diags: Diagnostics
    ) -> CompiledModule | None:
        if place is None:
            return None
        effect, caller = wanted
        self.places[self._installed(effect.addr)] = place
        if self._is_linked_back(place.directory, caller):
            call = caller.module.call_at(effect.addr.name)
            where = call.source.range
            _report_recursion(effect.addr, where, diags)
            return None
        return self.compiled(place.directory, diags)

    def _is_linked_back(self, directory: str, caller: ModuleInstance) -> bool:
        """Return whether a link leads back to one of its parents, which looks like an endless
        directory.
        """
        files = self._files
        if not isinstance(files, DiskFiles) or caller.addr.depth < _DEEP:
            return False
        real, same = os.path.realpath(files.at(directory)), self._packages.same_as(directory)
        instance: ModuleInstance | None = caller
        while instance is not None:
            other = instance.module.directory
            if self._packages.same_as(other) != same and os.path.realpath(files.at(other)) == real:
                return True
            instance = instance.parent
        return False


class InstalledPackages:
    """Packages where an earlier `init`, ours or another program's, has put them."""

    def __init__(
        self, files: Files, base: str, modules: str, links: Mapping[str, str] | None = None
    ) -> None:
        """Packages in the directory `modules`; `links` are those of files that are not on disk."""
        self.modules = modules
        self._files = files
        self._base = base
        self._manifest: Manifest | None = None
        self._links = dict(links or {})

    @property
    def links(self) -> Mapping[str, str]:
        """The names in the directory of modules that have been followed, and where they lead."""
        return {name: target for name, target in self._links.items() if target != name}

    def locate(
        self, wanted: Sequence[PackageRequest], diags: Diagnostics
    ) -> Sequence[Place | None]:
        """The directory of each module, according to the list of installed modules."""
        if self._manifest is None:
            from nigari.packages.modules.module_manifest import load_manifest

            self._manifest = load_manifest(self._files, self.modules, diags)
        records = self._manifest
        return [self._locate(each, _record_of(each, records), diags) for each in wanted]

    def _locate(
        self, wanted: PackageRequest, record: ModuleRecord | None, diags: Diagnostics
    ) -> Place | None:
        if record is None:
            _report_not_installed(wanted, diags)
            return None
        if not matches(record, wanted, diags):
            _report_changed(wanted, record, diags)
            return None
        directory = posixpath.normpath(posixpath.join(self._base, record.directory))
        if not self._files.is_directory(directory):
            _report_not_installed(wanted, diags)
            return None
        package = f"{self.modules}/{directory_name(record.key)}"
        return Place(directory, package, record.source, record.version)

    def same_as(self, directory: str) -> str:
        """The directory with the links resolved by which packages are shared."""
        if not directory.startswith(f"{self.modules}/"):
            return directory
        name, slash, rest = directory[len(self.modules) + 1 :].partition("/")
        target = self._links.get(name)
        if target is None:
            target = self._links[name] = self._followed(name)
        return f"{self.modules}/{target}{slash}{rest}"

    def _followed(self, name: str) -> str:
        if not isinstance(self._files, DiskFiles):
            return name
        try:
            return os.readlink(self._files.at(f"{self.modules}/{name}"))
        except OSError:
            return name


def _record_of(wanted: PackageRequest, records: Manifest) -> ModuleRecord | None:
    """Return the record of a call's installed package.

    Its instances may have been installed one by one, since a static argument differs, and that is
    only known once one of them has been read: any will do.
    """
    record = records.get(wanted.key)
    if record is not None or not any(isinstance(key, Deferred) for _, key in wanted.addr.steps):
        return record
    name, source = _KEYS.sub("", wanted.key), str(wanted.source)
    found = (each for key, each in records.items() if _KEYS.sub("", key) == name)
    return next((each for each in found if each.source == source), None)


def matches(record: ModuleRecord, wanted: PackageRequest, diags: Diagnostics) -> bool:
    """Return whether the installed package matches the call."""
    if record.source != str(wanted.source):
        return False
    if wanted.version is None or not record.version:
        return True
    constraints = parse_module_constraints(wanted.version, diags, wanted.where)
    version = parse_version(record.version)
    return constraints is None or version is None or constraints.allows(version)


def module_key(addr: ModuleAddr) -> str:
    """The key of a module in the list of installed modules. Instances that differ in what they
    are made of have been expanded, and then their keys are part of it.
    """
    steps: list[str] = []
    for name, key in addr.steps:
        steps.append(name if isinstance(key, Deferred) else f"{name}{key_text(key)}")
    return ".".join(steps)


def directory_name(key: str) -> str:
    """The name of the directory for a key, which is the key itself unless that is no file name."""
    name = "".join(
        f"%{ord(char):02X}" if char in _NO_FILE_NAME or char < " " else char for char in key
    )
    if os.name != "nt":
        # OpenTofu does not escape the colon of symbol libraries.
        name = name.replace("symbols%3A", "symbols:")
    if len(name.encode()) <= _LONGEST_NAME:
        return name
    import hashlib

    digest = hashlib.sha256(key.encode()).hexdigest()[:16]
    return f"{name.encode()[: _LONGEST_NAME - 20].decode(errors='ignore')}.{digest}"


def root_record(directory: str) -> ModuleRecord:
    """The record of the root module itself."""
    from nigari.packages.modules.module_manifest import ModuleRecord

    return ModuleRecord(module_key(ROOT_MODULE), "", directory)


def _report_outside(
    addr: ModuleAddr, source: LocalSource, where: Range, diags: Diagnostics
) -> None:
    diags.error(
        "Module source outside its package",
        f'The source "{source.display}" of {addr} leads out of the package of the calling '
        "module. A module can use a path only to call modules of the same package. If the "
        "package is part of a repository, select that part with // in the source of the caller, "
        "so that the whole repository is available.",
        where,
    )


def _report_no_directory(
    addr: ModuleAddr, directory: str, where: Range, diags: Diagnostics
) -> None:
    diags.error(
        "No such module directory",
        f"The source of {addr} is the directory {directory}, which does not exist.",
        where,
    )


def _report_not_installed(wanted: PackageRequest, diags: Diagnostics) -> None:
    diags.error(
        NOT_INSTALLED,
        f"{wanted.addr} uses {wanted.source.display}, which is not installed. Run "
        f"{advice().init()} to install it.",
        wanted.where,
    )


def _report_changed(wanted: PackageRequest, record: ModuleRecord, diags: Diagnostics) -> None:
    source = wanted.source
    is_other = record.source != str(source)
    now = source.display if is_other else f"{source.display} in version {wanted.version}"
    then = hidden_url(record.source) if is_other else f"version {record.version}"
    call = None if wanted.caller is None else wanted.caller.module.call_at(wanted.addr.name)
    version = None if is_other or call is None else call.version
    names = _deciding(wanted)
    why = ""
    if names:
        again = "the same value" if len(names) == 1 else "the same values"
        why = (
            f" This depends on {listed([f'var.{name}' for name in names])}: if init was run with "
            f"another value, give {again} again, {advice().set_again(*names)}."
        )
    diags.error(
        "Module source has changed",
        f"{wanted.addr} uses {now}, but {then} is installed for it.{why} To install the new "
        f"source, run {advice().init(variables=names)}.",
        wanted.where if version is None else version.range,
    )


def _deciding(wanted: PackageRequest) -> list[str]:
    """The variables that the source and version of a call depend on."""
    if wanted.caller is None:
        return []
    from nigari.eval.static.input_dependencies import deciding_variables

    call = wanted.caller.module.call_at(wanted.addr.name)
    written = (call.source, call.version)
    found = [deciding_variables(wanted.caller, expr) for expr in written if expr is not None]
    return sorted({name for names in found for name in names})


def _report_recursion(addr: ModuleAddr, where: Range, diags: Diagnostics) -> None:
    diags.error(
        "Module that calls itself",
        f"The source of {addr} leads back to a directory that contains this call, so the calls "
        "would never end.",
        where,
    )


class NoModules:
    """Looks at the sources of calls and gives nothing for them."""

    def load_all(
        self, wanted: Sequence[tuple[InstallModule, ModuleInstance]], diags: Diagnostics
    ) -> list[CompiledModule | None]:
        """Nothing, for each of these calls."""
        from nigari.config.blocks.module_call import parse_source

        for effect, caller in wanted:
            call = caller.module.call_at(effect.addr.name)
            where = call.source.range
            parse_source(effect.source, effect.version is not None, where, diags)
        return [None] * len(wanted)

    def library_at(self, directory: str, diags: Diagnostics) -> LibraryDeclarations | None:
        """Nothing: no library is looked into."""
        return None
