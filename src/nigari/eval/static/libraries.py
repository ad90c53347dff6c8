"""Symbol libraries in the static phase: they are found, evaluated, and complete their modules.

A library is installed like a called module, from a source that may be any static expression, also
one with values of another library. The types that it declares belong to variables of the module, so
these wait for the libraries that their types name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nigari.config.blocks.output import Output, with_output_type
from nigari.config.blocks.symbols import LibraryCall
from nigari.config.blocks.variable import Variable, with_type
from nigari.config.symbol_files import LibraryDeclarations
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.core.compile import CompiledModule
from nigari.eval.core.instances import Frame, Run, SymbolsNode
from nigari.eval.core.module_tree import InstallModule, ModuleInstance
from nigari.eval.core.symbol_library import LibraryTypes, SymbolLibrary
from nigari.eval.core.worklist import DONE, Effect, Need, Node
from nigari.eval.nodes.output import OutputNode
from nigari.eval.nodes.variable import DynamicVariable, RootVariable, StaticArgument
from nigari.record import replace
from nigari.typed import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.eval.core.symbol_library import Libraries


class LibraryLookups(Run, Protocol):
    """The run that finds symbol libraries."""

    def library_source(
        self, frame: Frame, call: LibraryCall
    ) -> tuple[str, str | None] | list[Need] | None:
        """The source and the version constraint of a library; None where one of them has been
        reported, or what must be done first.
        """
        ...

    def is_answered(self, effect: Effect) -> bool:
        """Return whether an effect has happened."""
        ...

    def installed(self, effect: Effect) -> CompiledModule | None:
        """The directory that an effect has brought, as a module."""
        ...

    def library_at(self, directory: str) -> LibraryDeclarations | None:
        """Return the declarations of a library; None if its files cannot be read."""
        ...

    def add_library(self, instance: ModuleInstance) -> None:
        """Take a library for the caller of those that it uses itself."""
        ...

    def evaluated_library(self, declared: LibraryDeclarations, inner: Libraries) -> SymbolLibrary:
        """The library of these declarations, evaluated once wherever it is used."""
        ...

    def completed(self, module: CompiledModule, libraries: Libraries) -> CompiledModule:
        """A module with its libraries, completed once for all of its instances."""
        ...


class LibraryNode(SymbolsNode):
    """A symbol library that a module uses, or another library."""

    __slots__ = ("_call", "_declared", "_effect", "_frame", "_inner", "_module", "_run", "_users")

    def __init__(
        self,
        frame: Frame,
        call: LibraryCall,
        run: LibraryLookups,
        users: tuple[CompiledModule, ...] = (),
    ) -> None:
        super().__init__()
        self._frame = frame
        self._call = call
        self._run = run
        self._users = users
        """The libraries by whose blocks this one is found."""
        self._effect: InstallModule | None = None
        self._module: CompiledModule | None = None
        self._declared: LibraryDeclarations | None = None
        self._inner: dict[str, LibraryNode] = {}

    @property
    def label(self) -> str:
        return self._frame.label(f"symbols.{self._call.name}")

    @property
    def range(self) -> Range:
        return self._call.range

    @property
    def about(self) -> str:
        return self._frame.about

    def fail(self) -> None:
        """Stay without a library: the cycle has been reported."""

    def step(self) -> Sequence[Need]:
        if self._module is None:
            found = self._install()
            if not isinstance(found, CompiledModule):
                return found
            self._module = found
            self._open(found)
        waiting = [node for node in self._inner.values() if node.state != DONE]
        if waiting or self._declared is None:
            return waiting
        inner = {name: node.library for name, node in self._inner.items()}
        self.library: SymbolLibrary | None = self._run.evaluated_library(self._declared, inner)
        return ()

    def _install(self) -> CompiledModule | Sequence[Need]:
        """The directory of the library; nothing where the lack of it has been reported."""
        if self._effect is None:
            found = self._run.library_source(self._frame, self._call)
            if not isinstance(found, tuple):
                return found or ()
            addr = self._frame.instance.addr.child(self._call.step)
            self._effect = InstallModule(addr, *found)
        if not self._run.is_answered(self._effect):
            return (self._effect,)
        return self._run.installed(self._effect) or ()

    def _open(self, module: CompiledModule) -> None:
        """Read the files of the library, and find those that it uses itself."""
        assert self._effect is not None
        frame, run = self._frame, self._run
        if any(each.is_same_as(module) for each in self._users):
            _report_recursion(self._call, frame.run.diags)
            return
        self._declared = run.library_at(module.module.directory)
        if self._declared is None:
            return
        if not self._declared.files:
            _report_no_files(self._call, module.module.directory, frame.run.diags)
        calls = self._declared.calls
        used = module.with_module(replace(module.module, calls={}, symbols=calls))
        instance = ModuleInstance(self._effect.addr, used, frame.instance)
        run.add_library(instance)
        inside = Frame(run, instance, frame)
        self._inner = {
            name: LibraryNode(inside, each, run, (*self._users, module))
            for name, each in calls.items()
        }


class CompletedModule(Node):
    """A module whose libraries have been found: its declarations get the types they name."""

    __slots__ = ("_frame", "_run")

    def __init__(self, frame: Frame, run: LibraryLookups) -> None:
        super().__init__()
        self._frame = frame
        self._run = run

    @property
    def label(self) -> str:
        return self._frame.label("symbols")

    def fail(self) -> None:
        """The cycle has been reported, and the types stay open."""

    def step(self) -> Sequence[Need]:
        symbols, instance = self._frame.symbols, self._frame.instance
        waiting = [node for node in symbols.values() if node.state != DONE]
        if not waiting:
            libraries = {name: node.library for name, node in symbols.items()}
            instance.compiled = self._run.completed(instance.compiled, libraries)
        return waiting


def library_nodes(frame: Frame, run: LibraryLookups) -> Mapping[str, SymbolsNode]:
    """A node for each symbol library that a module uses."""
    return {name: LibraryNode(frame, call, run) for name, call in frame.module.symbols.items()}


class OpenRootVariable(RootVariable):
    """A variable of the root module whose type names types of symbol libraries."""

    __slots__ = ()

    def step(self) -> Sequence[Need]:
        needs = _take_type(self)
        return needs or super().step()


class OpenArgument(StaticArgument):
    """A variable of a called module whose type names types of symbol libraries."""

    __slots__ = ()

    def step(self) -> Sequence[Need]:
        needs = _take_type(self)
        return needs or super().step()


class OpenDynamicVariable(DynamicVariable):
    """A variable with `const = false` whose type names types of symbol libraries."""

    __slots__ = ()

    def step(self) -> Sequence[Need]:
        needs = _take_type(self)
        return needs or super().step()


class OpenOutput(OutputNode):
    """An output whose type names types of symbol libraries."""

    __slots__ = ()

    def step(self) -> Sequence[Need]:
        needs = _libraries_of(self.frame, self.output)
        if needs:
            return needs
        if self.output.open_type is not None:
            # What is wrong with the type is reported when the module is completed.
            completed = with_output_type(self.output, _types(self.frame), Diagnostics())
            self.output: Output = completed
        return super().step()


def _take_type(node: RootVariable | StaticArgument | DynamicVariable) -> Sequence[Need]:
    needs = _libraries_of(node.frame, node.variable)
    if not needs and node.variable.open_type is not None:
        # What is wrong with the type is reported when the module is completed.
        node.variable = with_type(node.variable, _types(node.frame), Diagnostics())
    return needs


def _libraries_of(frame: Frame, declared: Variable | Output) -> list[Need]:
    """The libraries whose types a declaration names, as far as they are not known yet."""
    expr = declared.open_type
    if expr is None:
        return []
    text = expr.source.slice(expr.start, expr.end)
    return [
        node
        for name, node in frame.symbols.items()
        if node.state != DONE and f"symbols::{name}::" in text
    ]


def _types(frame: Frame) -> LibraryTypes:
    return LibraryTypes({name: node.library for name, node in frame.symbols.items()})


def _report_recursion(call: LibraryCall, diags: Diagnostics) -> None:
    diags.error(
        "Symbol library that uses itself",
        f"The source of symbols.{call.name} leads back to a library that this block is part of. "
        "Move what both need to a library of its own.",
        call.source.range,
    )


def _report_no_files(call: LibraryCall, directory: str, diags: Diagnostics) -> None:
    diags.warning(
        "Empty symbol library",
        f"The directory {directory} has no files whose names end in .sym.hcl, so there is nothing in "
        f"symbols.{call.name}.",
        call.source.range,
    )
