"""Request bodies in protobuf, which Go clients send for built-in kinds.

Only reading is needed: clients that ask for protobuf answers take JSON as well. Everything rests on
one table of all messages, so a new kind is a new row, not code.
"""

from windtunnel.machinery.protobuf.body import decode_protobuf

__all__ = ["decode_protobuf"]
