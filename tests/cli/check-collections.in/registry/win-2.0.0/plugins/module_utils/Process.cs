namespace ansible_collections.acme.win.plugins.module_utils.Process {}
