#!/usr/bin/python
from ansible_collections.acme.net.plugins.module_utils.tcp import connect
