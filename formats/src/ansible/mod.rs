//! Ansible collections.
