"""What runs inside the sandbox.

Standard library only, and no import of the rest of `dsqa`: this folder is all of it that the sandbox sees.
"""
