"""Resolves with ansible-core: a universe in each line of the input, an answer in each line of the output.

From 2.21 on, ansible-core treats `requires_ansible` as a requirement. Earlier versions do not look at it here, so a
release for another ansible-core requires a collection that does not exist.
"""

import json
import sys

from ansible.galaxy.collection.galaxy_api_proxy import MultiGalaxyAPIProxy
from ansible.galaxy.dependency_resolution.dataclasses import Requirement
from ansible.galaxy.dependency_resolution.errors import CollectionDependencyResolutionImpossible
from ansible.galaxy.dependency_resolution.providers import CollectionDependencyProvider
from ansible.galaxy.dependency_resolution.resolvers import CollectionDependencyResolver
from packaging.specifiers import SpecifierSet
from packaging.version import Version
from resolvelib import BaseReporter

NOWHERE = {"acme.nowhere": "*"}


class Universe(MultiGalaxyAPIProxy):
    """The releases of a universe, as a server would describe them."""

    def __init__(self, universe):
        self.packages = universe["packages"]
        self.requires_ansible = universe["requires_ansible"]
        self.core = universe["core"] and Version(Version(universe["core"]).base_version)

    def get_collection_versions(self, requirement):
        return {(version, "memory") for version in self.packages.get(requirement.fqcn, {})}

    def get_collection_dependencies(self, candidate):
        specifier = self.requires_ansible[candidate.fqcn].get(candidate.ver)
        if specifier and self.core and self.core not in SpecifierSet(specifier):
            return NOWHERE
        return self.packages[candidate.fqcn][candidate.ver]


def resolve(universe):
    roots = [
        Requirement.from_requirement_dict({"name": name, "version": version, "type": "galaxy"}, None)
        for name, version in universe["roots"]
    ]
    provider = CollectionDependencyProvider(
        apis=Universe(universe),
        concrete_artifacts_manager=None,
        include_signatures=False,
        with_pre_releases=universe["pre"],
    )
    resolver = CollectionDependencyResolver(provider, BaseReporter())
    try:
        mapping = resolver.resolve(roots, max_rounds=2000000).mapping
    except CollectionDependencyResolutionImpossible:
        return {"conflict": True}
    except (IndexError, RecursionError) as error:
        return {"crash": str(error)}
    return {"picks": {name: candidate.ver for name, candidate in mapping.items()}}


for line in sys.stdin:
    print(json.dumps(resolve(json.loads(line))), flush=True)
