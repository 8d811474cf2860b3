#!/usr/bin/env python3
"""Receives streams over UDP and puts each together again: a peer that shares no code with us.

It is meant to be copied from. Every datagram is one envelope, which carries one frame, as
docs/envelope.md says byte by byte. Integers are little-endian, and nothing lies between the fields:

    u32 length of the node's name, the name in UTF-8, u64 life, u64 position, u32 channel,
    u32 length of the payload, the payload

Node and life name the stream; the position says where in it the frame belongs. Datagrams get lost,
come twice and come out of order, so the first frame of a position counts, and what is missing
between two positions is a gap. Nothing says that a stream has ended.

    peer.py <CONTROL >RECONSTRUCTION

prints the port where it listens as its first line, and receives until its standard input ends. Then
it writes to its standard output what it has, stream by stream and in the order of positions: each
frame as an envelope again, after the envelope's length as u32. Peers on TCP send the same.
"""

import os
import select
import signal
import socket
import struct
import sys
from collections import OrderedDict

LENGTH = struct.Struct("<I")
FIELDS = struct.Struct("<QQII")  # life, position, channel, length of the payload
FRAMES_KEPT = 1_000_000  # of each stream; beyond, those that came first are forgotten
RECEIVE_BUFFER = 8 << 20  # bytes that the kernel is asked to hold; it gives what its limits allow


def decode(envelope):
    """Returns the stream, as node and life, position, channel and payload of one envelope.

    Raises ValueError for bytes that are none. Lengths come from outside: none is believed before
    it was compared with what is there.
    """
    try:
        (name_length,) = LENGTH.unpack_from(envelope)
        name_end = LENGTH.size + name_length
        life, position, channel, payload_length = FIELDS.unpack_from(envelope, name_end)
    except struct.error:
        raise ValueError("truncated") from None
    payload = envelope[name_end + FIELDS.size :]
    if len(payload) != payload_length:
        raise ValueError("truncated" if len(payload) < payload_length else "trailing bytes")
    node = envelope[LENGTH.size : name_end].decode("utf-8")  # UnicodeDecodeError is a ValueError
    return (node, life), position, channel, payload


def encode(stream, position, channel, payload):
    """Returns the bytes of one envelope: what a peer that sends puts into a datagram."""
    node, life = stream
    name = node.encode("utf-8")
    fields = FIELDS.pack(life, position, channel, len(payload))
    return LENGTH.pack(len(name)) + name + fields + payload


class Reconstruction:
    """The frames of one stream, by position."""

    def __init__(self):
        self.frames = OrderedDict()  # channel and payload by position, in the order of arrival
        self.duplicates = 0

    def add(self, position, channel, payload):
        if position in self.frames:
            self.duplicates += 1
            return
        self.frames[position] = (channel, payload)
        if len(self.frames) > FRAMES_KEPT:
            self.frames.popitem(last=False)

    def missing(self):
        return max(self.frames) - min(self.frames) + 1 - len(self.frames)


class Peer:
    def __init__(self):
        self.streams = {}  # reconstructions by node and life
        self.malformed = 0

    def take(self, datagram):
        try:
            stream, position, channel, payload = decode(datagram)
        except ValueError:
            self.malformed += 1
            return
        if stream not in self.streams:
            self.streams[stream] = Reconstruction()
        self.streams[stream].add(position, channel, payload)

    def take_all(self, receiver):
        """Empties the socket's queue."""
        try:
            while True:
                self.take(receiver.recv(65536))
        except BlockingIOError:
            return

    def write(self, out):
        for stream, reconstruction in self.streams.items():
            for position, (channel, payload) in sorted(reconstruction.frames.items()):
                envelope = encode(stream, position, channel, payload)
                out.write(LENGTH.pack(len(envelope)) + envelope)

    def report(self, out):
        for (node, _), reconstruction in self.streams.items():
            out.write(
                f"peer | {len(reconstruction.frames)} frames of {node}, "
                f"{reconstruction.missing()} missing between them, "
                f"{reconstruction.duplicates} came twice\n"
            )
        out.write(f"peer | {self.malformed} datagrams were no envelopes\n")


def input_has_ended():
    return not os.read(sys.stdin.fileno(), 4096)


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # end quietly when nobody reads the result
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
    receiver.bind(("127.0.0.1", 0))
    receiver.setblocking(False)
    print(receiver.getsockname()[1], flush=True)

    peer = Peer()
    ended = False
    while not ended:
        ready, _, _ = select.select([receiver, sys.stdin], [], [])
        ended = sys.stdin in ready and input_has_ended()
        peer.take_all(receiver)  # at the end as well: what was sent before lies in the queue

    peer.report(sys.stderr)
    sys.stderr.flush()
    peer.write(sys.stdout.buffer)


if __name__ == "__main__":
    main()
