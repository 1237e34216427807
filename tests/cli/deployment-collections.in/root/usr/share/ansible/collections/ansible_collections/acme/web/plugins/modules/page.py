#!/usr/bin/python
"""Checks that a web server answers."""

DOCUMENTATION = r"""
module: page
short_description: Checks that a web server answers
description: Opens a connection to a web server.
author: Acme (@acme)
options:
  host:
    description: The host.
    type: str
    required: true
  port:
    description: The port.
    type: int
    default: 443
"""

EXAMPLES = r"""
- acme.web.page:
    host: www.example.org
"""

RETURN = ""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.acme.network.plugins.module_utils.tcp import connect


def main():
    options = {"host": {"type": "str", "required": True}, "port": {"type": "int", "default": 443}}
    module = AnsibleModule(argument_spec=options)
    connect(module.params["host"], module.params["port"]).close()
    module.exit_json(changed=False)


if __name__ == "__main__":
    main()
