"""Compiled modules: one directory, made ready to be evaluated any number of times.

Compiling finds the references of every expression once per directory, however many instances the
module has. Nothing here depends on a phase, an instance or an input.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.addrs.provider import Provider
from nigari.config.core.literals import is_written_out
from nigari.config.module import Module
from nigari.diagnostics import Diagnostic, Diagnostics
from nigari.hcl.body import Attribute, Body
from nigari.hcl.expressions import Expression
from nigari.record import record, replace

TYPE_CHECKING = False
# A tree of modules can be read without looking at references.
if TYPE_CHECKING:
    from nigari.config.blocks.module_call import ModuleCall
    from nigari.eval.core.symbol_library import Libraries
    from nigari.hcl.decode import Spec
    from nigari.lang.references import Reference


@record
class Compiled:
    """An expression with what it refers to, and what is wrong with those references."""

    expr: Expression
    references: tuple[Reference, ...]
    problems: tuple[Diagnostic, ...] = ()


@record
class CompiledBody:
    """A body with how it is to be decoded, what it refers to, and what is wrong with that."""

    body: Body
    spec: Spec
    references: tuple[Reference, ...]
    problems: tuple[Diagnostic, ...] = ()
    expansion: tuple[Reference, ...] = ()
    """Those references that say which blocks its `dynamic` blocks make."""
    is_dynamic: bool = False
    """True if the body has `dynamic` blocks, whose contents only count for generated blocks."""


class CompiledModule:
    """A module and the references of its expressions, found when first asked for."""

    __slots__ = (
        "_arguments",
        "_bodies",
        "_expressions",
        "_written",
        "declared",
        "libraries",
        "module",
    )

    def __init__(self, module: Module) -> None:
        self.module: Module = module
        self.declared: Module = module
        """The declarations, independent of the directory: the same object for equal modules."""
        self.libraries: Libraries = {}
        """The symbol libraries that it uses, once the static phase has found them."""
        self._expressions: dict[Expression, Compiled] = {}
        self._bodies: dict[tuple[Body, Spec], CompiledBody] = {}
        self._arguments: dict[str, dict[str, Attribute]] = {}
        self._written: dict[Expression, bool] = {}

    def is_same_as(self, other: CompiledModule) -> bool:
        """Return whether another module has the same files, regardless of its location."""
        return self._expressions is other._expressions

    def at(self, directory: str) -> CompiledModule:
        """The same module as it is found in another directory, with all that is known of it."""
        if directory == self.module.directory:
            return self
        other = self.with_module(replace(self.module, directory=directory))
        other.declared = self.declared
        return other

    def with_providers(self, providers: Mapping[str, Provider]) -> CompiledModule:
        """The same module with the providers that local names mean, where sources say so."""
        required = self.module.required_providers
        found = {name: replace(required[name], provider=each) for name, each in providers.items()}
        return self.with_module(replace(self.module, required_providers={**required, **found}))

    def with_module(self, module: Module) -> CompiledModule:
        """Another module made of expressions of this one, with all that is known of them."""
        other = CompiledModule(module)
        other.libraries = self.libraries
        other._expressions = self._expressions
        other._bodies = self._bodies
        other._arguments = self._arguments
        other._written = self._written
        return other

    def with_libraries(self, libraries: Libraries, diags: Diagnostics) -> CompiledModule:
        """The same module with its symbol libraries, whose types complete its declarations."""
        from nigari.config.blocks.output import with_output_type
        from nigari.config.blocks.variable import with_type
        from nigari.eval.core.symbol_library import LibraryTypes

        module, types = self.module, LibraryTypes(libraries)
        variables = {name: with_type(each, types, diags) for name, each in module.variables.items()}
        outputs = {
            name: with_output_type(each, types, diags) for name, each in module.outputs.items()
        }
        other = self.with_module(
            replace(module, variables=variables, outputs=outputs, has_open_types=False)
        )
        other.libraries = libraries
        return other

    def expression(self, expr: Expression) -> Compiled:
        """The expression with its references."""
        compiled = self._expressions.get(expr)
        if compiled is None:
            from nigari.lang.references import references_in_expression

            problems = Diagnostics()
            references = references_in_expression(expr, problems)
            compiled = Compiled(expr, tuple(references), tuple(problems))
            self._expressions[expr] = compiled
        return compiled

    def is_written_out(self, expr: Expression) -> bool:
        """Return whether the expression determines its value by itself."""
        found = self._written.get(expr)
        if found is None:
            found = self._written[expr] = is_written_out(expr)
        return found

    def body(self, body: Body, spec: Spec) -> CompiledBody:
        """A body with the references that decoding it makes."""
        compiled = self._bodies.get((body, spec))
        if compiled is None:
            from nigari.hcl.dynamic_blocks import is_dynamic
            from nigari.lang.references import references_in_body

            problems = Diagnostics()
            references = references_in_body(body, spec, problems)
            compiled = CompiledBody(body, spec, tuple(references), tuple(problems))
            if is_dynamic(body, spec):
                expansion = references_in_body(body, spec, Diagnostics(), content=False)
                compiled = replace(compiled, expansion=tuple(expansion), is_dynamic=True)
            self._bodies[body, spec] = compiled
        return compiled

    def arguments(self, call: ModuleCall, diags: Diagnostics) -> dict[str, Attribute]:
        """The arguments of a call by name."""
        arguments = self._arguments.get(call.name)
        if arguments is None:
            arguments = call.body.just_attributes(diags)
            self._arguments[call.name] = arguments
        return arguments
