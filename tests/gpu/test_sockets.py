import tempfile
from concurrent import futures
from pathlib import Path

import grpc
import pytest

from windtunnel.gpu.sockets import NoSocket, listen


def test_where_there_can_be_no_socket_one_sentence_says_so() -> None:
    server = grpc.server(futures.ThreadPoolExecutor(1))
    with tempfile.TemporaryDirectory(prefix="so") as name:
        listen(server, Path(name) / "one.sock")
        with pytest.raises(NoSocket, match="too long for a socket: 107 bytes"):
            listen(server, Path(name) / ("x" * 100) / "one.sock")
        with pytest.raises(NoSocket, match="cannot listen at"):
            listen(server, Path(name) / "absent" / "one.sock")
