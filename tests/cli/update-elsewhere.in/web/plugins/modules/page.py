"""Opens a page."""

from ansible_collections.acme.net.plugins.module_utils.tcp import connect
