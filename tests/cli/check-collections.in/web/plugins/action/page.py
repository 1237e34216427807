from ansible_collections.acme.net.plugins.module_utils.tcp import listen
from ansible_collections.acme.net.plugins.module_utils.never import nothing
from ansible_collections.acme.extra.plugins.module_utils.more import more


def later():
    from ansible_collections.acme.net.plugins.module_utils.nowhere import gone
