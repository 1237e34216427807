from ansible_collections.acme.old.plugins.module_utils.tcp import connect
