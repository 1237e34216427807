DOCUMENTATION = """
module: page
"""
