"""Rules about secrets: values that are not marked, lose their mark, or are written in the configuration."""

from __future__ import annotations

from collections.abc import Iterator

from nigari.cty.types import KIND_DYNAMIC, KIND_STRING
from nigari.hcl.calls import FunctionCall
from nigari.hcl.edits import Edit
from nigari.hcl.expressions import Expression
from nigari.hcl.native_body import NativeBody
from nigari.hcl.operators import Operation
from nigari.hcl.templates import StringLiteral
from nigari.lang.marks import SENSITIVE
from nigari.lazy import lazy_pattern
from nigari.lint.model import LintedTree
from nigari.lint.rule import Fix, Hit, Rule
from nigari.lint.written import expressions_within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.config.blocks.variable import Variable

_SECRET = lazy_pattern(
    r"(?:^|_)(?:password|passwd|passphrase|private_key|secret_key|client_secret|api_key"
    r"|api_token|auth_token|access_token|secret_access_key)$"
)


def unmarked_secrets(tree: LintedTree) -> Iterator[Hit]:
    """Variables that are named like secrets and are not sensitive."""
    for module in tree.modules:
        for variable in module.module.variables.values():
            is_text = variable.type.kind in (KIND_STRING, KIND_DYNAMIC)
            if variable.sensitive or variable.ephemeral or not is_text:
                continue
            if _SECRET.search(variable.name.lower()) is not None:
                yield Hit(
                    f"The variable {variable.name} seems to be a secret, but plans and outputs show "
                    "its value. Add sensitive = true.",
                    variable.range,
                    fix=_marked(variable),
                )


def _marked(variable: Variable) -> Fix | None:
    """Add the argument behind the last one of the block."""
    body = variable.block.body
    if not isinstance(body, NativeBody) or not body.attributes:
        return None
    last = max(body.attributes.values(), key=_end)
    first = body.source.text.rfind("\n", 0, last.start) + 1
    indent = body.source.text[first : last.start]
    if indent.strip():
        return None
    end = body.source.text.find("\n", last.end)
    if end < 0:
        return None
    text = f"\n{indent}sensitive = true"
    return Fix(f"Mark var.{variable.name}", body.source.filename, (Edit(end, end, text),))


def _end(attribute: object) -> int:
    end: int = getattr(attribute, "end", 0)
    return end


def removed_marks(tree: LintedTree) -> Iterator[Hit]:
    """`nonsensitive` applied to the value of a sensitive variable itself."""
    for module in tree.modules:
        for written in module.written.expressions:
            if any(each.type == "provisioner" for each in written.blocks):
                # Whatever runs there needs the value itself, and plans do not show it.
                continue
            parts = [*expressions_within(written.expr)]
            # A comparison shows nothing of the value.
            compared = {
                each for part, _ in parts if isinstance(part, Operation) for each in part.operands
            }
            for part, bound in parts:
                if not isinstance(part, FunctionCall) or bound or written.bound:
                    continue
                if part in compared:
                    continue
                if part.name.removeprefix("core::") == "nonsensitive" and part.arguments:
                    secret = _sensitive_variable(tree, module.path, part.arguments[0])
                    if secret:
                        yield Hit(
                            f"The value of {secret} is sensitive in every use of this module, and "
                            "nonsensitive shows it as it is. Remove the mark only from what may be "
                            "shown, such as a length or a hash, or declare the variable without "
                            "sensitive.",
                            part.range,
                        )


def _sensitive_variable(tree: LintedTree, path: str, expr: Expression) -> str:
    """The sensitive variable whose value an expression is, as it is given."""
    traversal = expr.static_traversal()
    if traversal is None or traversal.root_name != "var" or len(traversal) != 2:
        return ""
    name = str(traversal).removeprefix("var.")
    for module in tree.modules:
        if module.path == path:
            variable = module.module.variables.get(name)
            if variable is not None and variable.sensitive:
                return f"var.{name}"
            marked = [SENSITIVE in tree.value(each, expr).marks for each in module.instances]
            return f"var.{name}" if marked and all(marked) else ""
    return ""


def literal_secrets(tree: LintedTree) -> Iterator[Hit]:
    """Texts that are written where a module or a variable expects a secret."""
    own = {each.path for each in tree.modules}
    for module in tree.modules:
        for variable in module.module.variables.values():
            if variable.sensitive and _is_secret_text(variable.default):
                yield Hit(
                    f"The default of the sensitive variable {variable.name} is in the "
                    "configuration, where everybody who reads it finds it. Remove the default, and "
                    "give the value from outside.",
                    variable.range,
                )
    for module in tree.all_modules:
        for calls in module.calls:
            call = calls[0]
            if call.instance.root.locate(call.caller.module.directory) not in own:
                continue
            for name, argument in call.arguments.items():
                declared = module.module.variables.get(name)
                if declared is None or not declared.sensitive:
                    continue
                if _is_secret_text(argument.expr):
                    yield Hit(
                        f"The called module declares {name} as sensitive, and its value is written "
                        "here. Pass a variable, or read the secret from where it is kept.",
                        argument.expr.range,
                    )


def _is_secret_text(expr: Expression | None) -> bool:
    return isinstance(expr, StringLiteral) and bool(expr.text)


SECRET_RULES: Final = (
    Rule("nigari:unmarked-secret", ("secrets",), "Secret that is not sensitive", unmarked_secrets),
    Rule(
        "nigari:removed-mark", ("secrets", "recommended"), "Secret without its mark", removed_marks
    ),
    Rule(
        "nigari:literal-secret",
        ("secrets", "recommended"),
        "Secret in the configuration",
        literal_secrets,
    ),
)
