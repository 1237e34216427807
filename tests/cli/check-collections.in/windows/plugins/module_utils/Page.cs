using System;
using ansible_collections.acme.extra.plugins.module_utils.Text;
