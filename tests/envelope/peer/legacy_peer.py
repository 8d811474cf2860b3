#!/usr/bin/env python3
"""A peer that knows nothing of the library, only the layout of the bytes.

    legacy_peer.py receive udp|tcp         prints `port N`, then a line for every envelope
    legacy_peer.py send udp|tcp PORT       reads such lines, and sends an envelope for each

A line is `envelope NODE LIFE POSITION CHANNEL PAYLOAD`, with node and payload in hexadecimal and `-`
for no bytes.
"""

import socket
import struct
import sys

HOST = "127.0.0.1"


def encode(node, life, position, channel, payload):
    return (
        struct.pack("<I", len(node)) + node
        + struct.pack("<QQI", life, position, channel)
        + struct.pack("<I", len(payload)) + payload
    )


def decode(envelope):
    (node_length,) = struct.unpack_from("<I", envelope, 0)
    node = envelope[4 : 4 + node_length]
    node.decode("utf-8")
    life, position, channel, length = struct.unpack_from("<QQII", envelope, 4 + node_length)
    payload = envelope[28 + node_length :]
    if len(node) != node_length or len(payload) != length:
        raise ValueError("not an envelope")
    return node, life, position, channel, payload


def hexadecimal(data):
    return data.hex() or "-"


def report(envelope):
    node, life, position, channel, payload = decode(envelope)
    print("envelope", hexadecimal(node), life, position, channel, hexadecimal(payload), flush=True)


def receive(kind):
    listener = socket.socket(socket.AF_INET, kind)
    listener.bind((HOST, 0))
    if kind == socket.SOCK_STREAM:
        listener.listen()
    print("port", listener.getsockname()[1], flush=True)
    if kind == socket.SOCK_DGRAM:
        while True:
            report(listener.recv(65535))
    connection, _ = listener.accept()
    stream = connection.makefile("rb")
    while prefix := stream.read(4):
        (length,) = struct.unpack("<I", prefix)
        report(stream.read(length))


def send(kind, port):
    connection = socket.socket(socket.AF_INET, kind)
    connection.connect((HOST, port))
    for line in sys.stdin:
        _, node, life, position, channel, payload = line.split()
        node, payload = (b"" if text == "-" else bytes.fromhex(text) for text in (node, payload))
        envelope = encode(node, int(life), int(position), int(channel), payload)
        if kind == socket.SOCK_STREAM:
            envelope = struct.pack("<I", len(envelope)) + envelope
        connection.sendall(envelope)


def main():
    kind = {"udp": socket.SOCK_DGRAM, "tcp": socket.SOCK_STREAM}[sys.argv[2]]
    if sys.argv[1] == "receive":
        receive(kind)
    else:
        send(kind, int(sys.argv[3]))


main()
