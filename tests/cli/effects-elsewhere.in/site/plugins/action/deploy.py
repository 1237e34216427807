from ansible_collections.acme.web.plugins.module_utils.client import Client
