DOCUMENTATION = """
module: page
options:
  path:
    type: path
    default: /srv
"""
