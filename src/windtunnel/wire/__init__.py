"""Messages of gRPC services: the device plugin protocol and the kubelet's pod resources.

The ``.proto`` files are ours, written from the protocols' field numbers; everything named
``*_pb2*`` is generated from them by ``python -m windtunnel.wire.make`` and never edited. Importing
this package imports none of them: name the one you need, such as ``wire.deviceplugin_pb2``.
"""

import os

# gRPC's C library tells standard error of every connection that ends, unless told not to.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
