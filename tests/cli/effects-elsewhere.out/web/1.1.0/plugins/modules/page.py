DOCUMENTATION = """
module: page
options:
  path:
    type: path
    default: /srv
  force:
    type: bool
"""
