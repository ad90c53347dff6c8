"""References to provider configurations, and what `providers` passes, in a plain configuration."""

from __future__ import annotations

from collections.abc import Mapping

from nigari.addrs.keys import InstanceKey
from nigari.addrs.provider import LocalProviderConfig
from nigari.config.core.provider_ref import ProviderRef, decode_provider_ref
from nigari.diagnostics import Diagnostics
from nigari.eval.core.instances import Frame
from nigari.eval.core.module_tree import ModuleInstance
from nigari.hcl.edits import Edit, applied
from nigari.hcl.expressions import Expression
from nigari.hcl.quoting import quoted
from nigari.plain.expressions import InstanceWords, Rewriting
from nigari.plain.provider_aliases import Aliases
from nigari.plain.spots import spot_of
from nigari.plain.static_values import StaticValues


class ProviderTexts:
    """Writes one module's provider references."""

    def __init__(self, values: StaticValues, frame: Frame, rewriting: Rewriting) -> None:
        self._values = values
        self._frame = frame
        self._rewriting = rewriting

    def aliases(self, addr: LocalProviderConfig) -> Aliases | None:
        """Return the names of a configuration's instances; None if its name stays."""
        return self._values.aliases.get((self._frame, addr))

    def reference(
        self, expr: Expression, words: InstanceWords | None, owner: ModuleInstance | None = None
    ) -> str:
        """The text of a reference; `owner` is the called module that gets it."""
        ref = decode_provider_ref(expr, "provider", Diagnostics())
        if ref is None or ref.key is None:
            return self._rewriting.text(expr, words)
        aliases = self.aliases(ref.config)
        if aliases is None:
            return f"{ref.config}[{self._key(ref, ref.key, words)}]"
        key = self._values.chosen.get((owner or self._frame.instance, spot_of(ref.key)))
        return f"{ref.name}.{aliases.names.get(key, ref.alias)}"

    def _key(self, ref: ProviderRef, key: Expression, words: InstanceWords | None) -> str:
        text = self._rewriting.text(key, words)
        config = self._frame.module.provider_configs.get(ref.config)
        if config is None or config.count is None:
            return text
        return quoted(text) if text.isdecimal() else f"tostring({text})"

    def passed(
        self, expr: Expression, words: InstanceWords | None, child: ModuleInstance | None
    ) -> list[Edit]:
        """The edits of a `providers` argument."""
        found: list[Edit] = []
        for key, value in expr.static_map() or ():
            name = decode_provider_ref(key, "providers", Diagnostics())
            frame = None if child is None else self._values.frames.get(child)
            inner = None if name is None or frame is None else name.config
            aliases = None
            if frame is not None and inner is not None:
                aliases = self._values.aliases.get((frame, inner))
            ref = decode_provider_ref(value, "providers", Diagnostics())
            if aliases is None or inner is None or ref is None or ref.key is not None:
                found.append(Edit(value.start, value.end, self.reference(value, words, child)))
                continue
            entries = [
                f"{inner.name}.{alias} = {self._instance(ref, instance)}"
                for instance, alias in aliases.names.items()
            ]
            found.append(Edit(key.start, value.end, "\n    ".join(entries)))
        start, end = expr.start, expr.end
        if any("\n" in each.text for each in found) and "\n" not in expr.source.text[start:end]:
            # A line for each entry, in standard layout.
            whole = [Edit(each.start - start, each.end - start, each.text) for each in found]
            inside = applied(expr.source.text[start:end], whole).strip("{} ")
            lines = inside.replace(", ", "\n    ")
            return [Edit(start, end, f"{{\n    {lines}\n  }}")]
        return found

    def _instance(self, ref: ProviderRef, key: InstanceKey) -> str:
        """One of the instances that the caller passes all at once."""
        aliases = self.aliases(ref.config)
        if aliases is not None:
            return f"{ref.name}.{aliases.names[key]}"
        return f"{ref.config}[{quoted(str(key))}]"

    def configuration_aliases(self, expr: Expression) -> str | None:
        """The text of `configuration_aliases`; None if it can stay."""
        texts: list[str] = []
        is_changed = False
        for element in expr.static_list() or ():
            ref = decode_provider_ref(element, "configuration_aliases", Diagnostics())
            aliases = None if ref is None else self.aliases(ref.config)
            if ref is None or aliases is None:
                texts.append(element.source.text[element.start : element.end])
            else:
                is_changed = True
                texts += [f"{ref.name}.{alias}" for alias in aliases.names.values()]
        return f"[{', '.join(texts)}]" if is_changed else None

    def names(self, addr: LocalProviderConfig) -> Mapping[InstanceKey, str]:
        """The alias of each instance of a configuration."""
        aliases = self.aliases(addr)
        return {} if aliases is None else aliases.names
