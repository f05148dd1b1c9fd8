"""The wall around private data, as a contract of import-linter: what is blind reaches nothing but what is listed.

A list of what is forbidden has gaps: `from hedgerow import Ledger` is a package that imports on demand, a third module
passes names on. So this contract lists what may be reached, and follows every import from there.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from grimp import ImportGraph
from importlinter.application import output
from importlinter.domain import fields
from importlinter.domain.contract import Contract, ContractCheck

#: with these a module is imported by a name that no graph shows
DYNAMIC = ("importlib", "sys", "pkgutil", "runpy", "builtins")


class BlindContract(Contract):
    """Modules that see noisy or public numbers only.

    Options: `blind`, the modules, and `public`, what they may import, both as patterns. Everything that they reach,
    directly or by way of other modules, must be one of these. A blind module of a method may import another one of that
    method, or of another method of its kind.
    """

    type_name = "blind"

    blind = fields.ListField(subfield=fields.StringField())
    public = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Follow all imports of blind modules."""
        del verbose
        chains = [
            chain
            for module in sorted(graph.modules)
            if self._is(module, self.blind)
            for chain in self._seen(graph, module)
        ]
        return ContractCheck(kept=not chains, metadata={"chains": chains})

    def _seen(self, graph: ImportGraph, module: str) -> list[tuple[str, ...]]:
        """The chains of imports from a module to what it must not reach."""
        found: list[tuple[str, ...]] = []
        queue, known = [(module,)], {module}
        while queue:
            chain = queue.pop()
            for imported in sorted(graph.find_modules_directly_imported_by(chain[-1])):
                if imported in known:
                    continue
                known.add(imported)
                if not imported.startswith("hedgerow"):
                    if imported in DYNAMIC:
                        found.append((*chain, imported))
                elif self._is(imported, [*self.blind, *self.public]):
                    queue.append((*chain, imported))
                else:
                    found.append((*chain, imported))
        return found

    @staticmethod
    def _is(module: str, patterns: list[str]) -> bool:
        return any(fnmatchcase(module, pattern) for pattern in patterns)

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print each chain."""
        for chain in check.metadata["chains"]:
            output.print_error(f"{chain[0]} must not reach {chain[-1]}: {' -> '.join(chain)}", bold=False)
