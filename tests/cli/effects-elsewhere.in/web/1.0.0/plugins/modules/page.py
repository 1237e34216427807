DOCUMENTATION = """
module: page
options:
  path:
    type: path
    default: /
  force:
    type: bool
"""
