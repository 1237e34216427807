from ansible_collections.acme.net.plugins.module_utils.tcp import connect
from ansible_collections.acme.gone.plugins.x import y
