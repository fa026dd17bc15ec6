"""WebSockets at the accepting end."""

from __future__ import annotations

import websocket
from tests.nodes.kubelet.streams.conftest import Kubelet, all_frames

from windtunnel.nodes.kubelet.streams.websocket import accept_key

CAT = "/exec/default/p/main?input=1&output=1&command=cat"


def test_the_handshake_is_the_standard_s() -> None:
    # The example of RFC 6455.
    assert accept_key("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="


def test_a_message_may_come_in_pieces_with_pings_between(kubelet: Kubelet) -> None:
    kubelet.runtime.add("p")
    socket = kubelet.socket(CAT, "v5.channel.k8s.io")
    frame, binary = websocket.ABNF.create_frame, websocket.ABNF.OPCODE_BINARY

    socket.send_frame(frame(b"\x00he", binary, fin=0))
    socket.ping(b"there?")
    socket.send_frame(frame(b"llo", websocket.ABNF.OPCODE_CONT, fin=1))
    opcodes = []
    came = b""
    while came != b"\x01\x01hello":
        opcode, piece = socket.recv_data(control_frame=True)
        opcodes.append(opcode)
        came += piece if opcode == binary else b""

    assert websocket.ABNF.OPCODE_PONG in opcodes


def test_a_message_without_end_is_refused(kubelet: Kubelet) -> None:
    kubelet.runtime.add("p")
    socket = kubelet.socket(CAT, "v5.channel.k8s.io")
    frame, piece = websocket.ABNF.create_frame, bytes(1 << 20)
    socket.send_frame(frame(piece, websocket.ABNF.OPCODE_BINARY, fin=0))
    for _ in range(4):
        socket.send_frame(frame(piece, websocket.ABNF.OPCODE_CONT, fin=0))

    assert all_frames(socket) == [b"\x01"]
