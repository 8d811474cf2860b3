#!/usr/bin/env python3
"""Prints an archive, written from docs/archive_format.md alone.

usage: python_reader.py DIRECTORY [--reaches | --source]

Every frame is a line of JSON on standard output, in the order of sequences; with --reaches every
stream of which a beginning or an end is known, with both; with --source where all comes from, or
null. What cannot be read is a line `lost FIRST LAST` on standard error, with the reason. Exit status:
0 all well, 1 something is lost or damaged, 3 nothing can be read.
"""

import json
import os
import re
import struct
import sys
import time

import xxhash
import zstandard

SEGMENT_NAME = re.compile(r"seg_([0-9a-z]{13})\.(0|[1-9][0-9]*)\.dss")
SEGMENT_HEADER = struct.Struct("<8sII16sQQqQ")
BLOCK_HEAD = struct.Struct("<4sBBHIIIIQQQIIQ")
STREAM_ENTRY = struct.Struct("<IIQQQII")
BATCH_ENTRY = struct.Struct("<IIq")
FRAME_ENTRY = struct.Struct("<QII")
TRAILER = struct.Struct("<8sQQQ")
TIP = struct.Struct("<8sII16sQQQQQQQ")

FRAMES, DESCRIPTORS, FOOTER = 1, 2, 3
BODY_MAX = 32 << 20
DIRECTORY_MAX = 8 << 20
FRAMES_MAX = 65536
TEXT_MAX = 1 << 20


class Damaged(Exception):
    """Bytes that are not what the format says."""


class Unreadable(Exception):
    """There is no archive that this program can read."""


def checksum(data):
    return xxhash.xxh3_64_intdigest(data)


def check(condition, what):
    if not condition:
        raise Damaged(what)


class Input:
    """Takes values from the front of bytes."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def take(self, count):
        check(count <= len(self.data) - self.at, "too short")
        self.at += count
        return self.data[self.at - count : self.at]

    def unpack(self, layout):
        return layout.unpack(self.take(layout.size))

    def number(self, layout):
        return struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout)))[0]

    def text(self):
        count = self.number("I")
        check(count <= TEXT_MAX, "a text that is too long")
        return self.take(count).decode("utf-8", "surrogateescape")

    def optional(self):
        present = self.number("B")
        check(present <= 1, "an optional is neither 0 nor 1")
        return self.text() if present else None

    def finish(self):
        check(self.at == len(self.data), "too long")


class Head:
    """Head and directory of a block."""

    def __init__(self, data):
        check(len(data) == BLOCK_HEAD.size, "a head is too short")
        (magic, self.kind, self.compression, zero, self.directory_bytes, self.stored_bytes,
         self.raw_bytes, self.frames, self.first, self.previous, self.body_checksum, self.streams,
         self.batches, self.checksum) = BLOCK_HEAD.unpack(data)
        self.data = data
        check(magic == b"DSBK", "no block")
        check(1 <= self.kind <= 3 and self.compression <= 1 and zero == 0, "an unknown block")
        check(self.directory_bytes <= DIRECTORY_MAX and self.raw_bytes <= BODY_MAX
              and self.frames <= FRAMES_MAX and self.stored_bytes <= self.raw_bytes
              and (self.compression == 1 or self.stored_bytes == self.raw_bytes),
              "a head with impossible lengths")
        check(self.kind == FRAMES
              or self.frames == self.streams == self.batches == self.directory_bytes == 0,
              "a block without frames counts some")

    @property
    def end(self):
        return self.first + self.frames

    @property
    def size(self):
        return BLOCK_HEAD.size + self.directory_bytes + self.stored_bytes

    def read_directory(self, data):
        check(checksum(self.data[:56] + data) == self.checksum, "the checksum of a head differs")
        self.directory_data = data
        into = Input(data)
        self.stream_entries = []
        for _ in range(self.streams):
            node_bytes, channels, life, lowest, highest, frames, zero = into.unpack(STREAM_ENTRY)
            node = into.take(node_bytes)
            ids = struct.unpack("<%dI" % channels, into.take(4 * channels))
            check(zero == 0 and frames and channels and lowest <= highest
                  and list(ids) == sorted(set(ids)), "an impossible stream in a directory")
            self.stream_entries.append((node, life, lowest, highest, frames, set(ids)))
        self.batch_entries = [into.unpack(BATCH_ENTRY) for _ in range(self.batches)]
        into.finish()
        check(sum(entry[4] for entry in self.stream_entries) == self.frames
              and sum(entry[1] for entry in self.batch_entries) == self.frames
              and all(stream < self.streams and frames for stream, frames, _ in self.batch_entries),
              "a directory that does not add up")

    def read_body(self, data):
        check(len(data) == self.stored_bytes, "a body is too short")
        check(checksum(data) == self.body_checksum, "the checksum of a body differs")
        if self.compression == 0:
            return data
        check(zstandard.frame_content_size(data) == self.raw_bytes, "a body of another length")
        try:
            raw = zstandard.ZstdDecompressor().decompress(data)
        except zstandard.ZstdError as error:
            raise Damaged("a body cannot be uncompressed") from error
        check(len(raw) == self.raw_bytes, "a body of another length")
        return raw


def frames_of(head, body):
    """Sequence, node, life, arrival, position, channel and payload of each frame."""
    table = head.raw_bytes - FRAME_ENTRY.size * head.frames
    check(table >= 0, "a body is too short for its frames")
    found = []
    payload = 0
    seen = [[] for _ in head.stream_entries]
    for stream, count, arrival in head.batch_entries:
        node, life, _, _, _, channels = head.stream_entries[stream]
        for _ in range(count):
            position, channel, length = FRAME_ENTRY.unpack_from(
                body, table + FRAME_ENTRY.size * len(found))
            check(channel in channels and length <= table - payload, "an impossible frame")
            seen[stream].append(position)
            found.append((head.first + len(found), node, life, arrival, position, channel,
                          body[payload : payload + length]))
            payload += length
    check(payload == table, "payloads do not fill a body")
    for (_, _, lowest, highest, frames, _), positions in zip(head.stream_entries, seen):
        check((min(positions), max(positions), len(positions)) == (lowest, highest, frames),
              "frames are not those of their directory")
    return found


def descriptors_of(body):
    """What a block of descriptors says: of channels ((node, life, number), name), of beginnings and
    ends ((node, life), position), and the last source or None."""
    into = Input(body)
    names, starts, ends, source = [], [], [], None
    for _ in range(into.number("I")):
        kind = into.number("B")
        if kind == 5:
            source = into.text()
            continue
        node = into.take(into.number("I"))
        life = into.number("Q")
        if kind in (3, 4):
            (starts if kind == 3 else ends).append(((node, life), into.number("Q")))
            continue
        if kind == 1:
            check(into.number("B") <= 2, "an unknown origin")
            into.optional()
            continue
        check(kind == 2, "an unknown declaration")
        channel = into.number("I")
        check(into.number("B") <= 2, "an unknown content")
        into.optional()
        into.optional()
        names.append(((node, life, channel), into.text()))
    into.finish()
    return names, starts, ends, source


class Segment:
    """One segment file; of it, only what lies before `limit`."""

    def __init__(self, path, number, generation, archive, limit):
        self.path = path
        self.size = os.stat(path).st_size
        self.short = limit is not None and self.size < limit
        self.is_last = limit is not None
        self.end = limit if self.is_last else self.size
        self.size = min(self.size, self.end)
        data = self.read(0, SEGMENT_HEADER.size)
        magic, version, self.generation, of, self.number, self.first, _, self.checksum = (
            SEGMENT_HEADER.unpack(data))
        check(magic == b"DSSEGMNT", "no segment")
        check(checksum(data[:56]) == self.checksum, "the checksum of a segment's header differs")
        if version != 1:
            raise Unreadable("version %d" % version)
        check(of == archive, "a segment of another archive")
        check((self.number, self.generation) == (number, generation), "a segment of another name")
        check(self.first != 0, "a segment that begins at sequence 0")

    def read(self, offset, count):
        check(offset + count <= self.size, "the file is too short")
        with open(self.path, "rb") as file:
            file.seek(offset)
            data = file.read(count)
        check(len(data) == count, "the file is too short")
        return data

    def read_head(self, offset):
        head = Head(self.read(offset, BLOCK_HEAD.size))
        head.read_directory(self.read(offset + BLOCK_HEAD.size, head.directory_bytes))
        return head

    def read_body(self, offset, head):
        return head.read_body(
            self.read(offset + BLOCK_HEAD.size + head.directory_bytes, head.stored_bytes))

    def footer(self):
        """Offsets and heads of all blocks; nothing if it is not sealed."""
        trailer = self.trailer()
        if trailer is None:
            return None
        offset, end = trailer
        head = self.read_head(offset)
        check(head.kind == FOOTER and offset + head.size == self.size - TRAILER.size
              and head.first == end, "a footer that is none")
        into = Input(self.read_body(offset, head))
        blocks = []
        at, sequence, previous = SEGMENT_HEADER.size, self.first, self.checksum
        for _ in range(into.number("I")):
            check(into.number("Q") == at, "blocks of a footer that do not follow each other")
            block = Head(into.take(BLOCK_HEAD.size))
            block.read_directory(into.take(block.directory_bytes))
            check((block.first, block.previous) == (sequence, previous) and block.kind != FOOTER,
                  "blocks of a footer that do not follow each other")
            blocks.append((at, block))
            at, sequence, previous = at + block.size, block.end, block.checksum
        into.finish()
        check((at, sequence, previous) == (offset, end, head.previous), "the footer of another")
        return blocks

    def read_next(self, place):
        """The block at a place (offset, sequence, previous), and the place behind it."""
        at, sequence, previous = place
        block = self.read_head(at)
        check((block.first, block.previous) == (sequence, previous),
              "a block that does not follow the one before")
        check(at + block.size <= self.size, "a block that is longer than the file")
        return block, (at + block.size, block.end, block.checksum)

    def trailer(self):
        """Offset of the footer and end sequence; nothing if there is no whole trailer."""
        if self.short or self.size < SEGMENT_HEADER.size + BLOCK_HEAD.size + TRAILER.size:
            return None
        data = self.read(self.size - TRAILER.size, TRAILER.size)
        magic, offset, end, of_trailer = TRAILER.unpack(data)
        return (offset, end) if magic == b"DSSEALED" and checksum(data[:24]) == of_trailer else None

    def walk(self, end):
        """Offsets and heads of all blocks; and what is not there between them and behind them: the
        first sequence, the one behind, and what is damaged. `end`: the first sequence of what
        follows."""
        blocks, damages = [], []
        place = (SEGMENT_HEADER.size, self.first, self.checksum)
        while place[0] < self.size:
            try:
                block, behind = self.read_next(place)
            except Damaged as error:
                if place[:2] == self.trailer():
                    break
                found = self.find_chain(place, end)
                damages.append((place[1], found[1] if found else end, str(error)))
                if not found:
                    return blocks, damages
                place = found
                continue
            if block.kind == FOOTER or (not self.is_last and block.end > end):
                break
            blocks.append((place[0], block))
            place = behind
        if place[1] < end:
            damages.append((place[1], end, "the file is too short" if self.short else None))
        return blocks, damages

    def find_chain(self, damaged, end):
        """The place of the first block behind a damaged one from where blocks go on to the end."""
        trailer = self.trailer()
        exact = self.is_last or trailer is not None
        end_offset, end = trailer or (self.end, end)
        astray = set()

        def is_end(offset, sequence):
            return offset == end_offset and (not exact or sequence == end)

        def reaches_end(at, block):
            passed = [at]
            place = (at + block.size, block.end, block.checksum)
            while not is_end(*place[:2]):
                try:
                    check(place[0] not in astray, "known")
                    at = place[0]
                    block, place = self.read_next(place)
                    if (block.kind == FOOTER and place[0] + TRAILER.size == self.end
                            and (not exact or block.first == end)):
                        return True
                    check(block.kind != FOOTER and not block.first < end < block.end, "no end")
                except Damaged:
                    astray.update(passed)
                    return False
                passed.append(at)
            return True

        def first_with_body(at, block):
            place = (at + block.size, block.end, block.checksum)
            while block.kind != FOOTER and block.end <= end:
                try:
                    self.read_body(at, block)
                    return at, block.first, block.previous
                except Damaged:
                    astray.add(at)
                if is_end(*place[:2]):
                    break
                at = place[0]
                block, place = self.read_next(place)
            return None

        data = self.read(0, self.size)
        at = damaged[0]
        while (at := data.find(b"DSBK", at + 1)) >= 0:
            try:
                check(at not in astray, "known")
                block = self.read_head(at)
                check(at + block.size <= self.size, "a block that is longer than the file")
            except Damaged:
                continue
            if block.kind == FOOTER or block.first < damaged[1] or block.end > end:
                continue
            if reaches_end(at, block) and (found := first_with_body(at, block)):
                return found
        return None


class Reader:
    def __init__(self, directory):
        self.directory = directory
        self.faults = 0
        self.names = {}
        self.starts = {}
        self.ends = {}
        self.source = None
        self.read_tip()

    def read_tip(self):
        for _ in range(50):
            whole, damaged = self.places_of_tip()
            if whole and damaged is None:
                break
            time.sleep(0.001)  # the writer may be at it
        if not whole:
            raise Unreadable("no place of the tip is whole")
        if damaged is not None:
            self.fault("the tip at byte %d is damaged: more may be durable" % damaged)
        (_, _, self.tip_generation, self.archive, _, self.oldest, self.end, self.tip_segment,
         self.tip_offset, _, _) = max(whole, key=lambda tip: tip[4])

    def places_of_tip(self):
        """The tips that are whole, and where one was written that is not."""
        try:
            with open(os.path.join(self.directory, "tip"), "rb") as file:
                data = file.read()
        except FileNotFoundError as error:
            raise Unreadable("no tip") from error
        whole = []
        damaged = None
        for begin in (0, 4096):
            place = data[begin : begin + TIP.size]
            tip = TIP.unpack(place) if len(place) == TIP.size else None
            if tip and tip[0] == b"DSTIPTIP" and checksum(place[:80]) == tip[10]:
                if tip[1] != 1:
                    raise Unreadable("version %d" % tip[1])
                whole.append(tip)
            elif place != bytes(TIP.size):
                damaged = begin
        return whole, damaged

    def fault(self, what):
        print(what, file=sys.stderr)
        self.faults += 1

    def lose(self, first, end, reason):
        first = max(first, self.oldest)
        if first < end:
            self.fault("lost %d %d: %s" % (first, end - 1, reason))

    def lose_part(self, segment, first, end, damage):
        if damage:  # which may be of names only
            self.fault("segment %d: %s" % (segment.number, damage))
        self.lose(first, end, damage or "missing")

    def segments(self):
        """The segments that can be opened, in order; None for one that cannot."""
        found = []
        for name in sorted(os.listdir(self.directory)):
            match = SEGMENT_NAME.fullmatch(name)
            if not match:
                continue
            number, generation = int(match[1], 36), int(match[2])
            if number > self.tip_segment:
                continue
            if generation != 0:
                raise Unreadable("generation %d" % generation)
            limit = self.tip_offset if number == self.tip_segment else None
            try:
                found.append(Segment(os.path.join(self.directory, name), number, generation,
                                     self.archive, limit))
            except Damaged as error:
                self.fault("%s: %s" % (name, error))
        return found

    def learn(self, names, starts, ends, source):
        for key, name in names:
            self.names.setdefault(key, name)
        for key, position in starts:
            self.starts[key] = min(position, self.starts.get(key, position))
        for key, assigned in ends:
            self.ends[key] = max(assigned, self.ends.get(key, 0))
        if source is not None:
            self.source = source

    def blocks(self, segment, end):
        """The blocks of a segment that ends before a sequence, and what it lacks."""
        try:
            blocks = segment.footer()
        except Damaged as error:
            self.fault("the footer of segment %d: %s" % (segment.number, error))
            blocks = None
        if blocks is None:
            blocks, damages = segment.walk(end)
            if not segment.is_last and not damages and segment.trailer() is None:
                self.fault("segment %d does not end with a trailer" % segment.number)
            return blocks, damages
        reached = blocks[-1][1].end if blocks else segment.first
        return blocks, [(reached, end, None)]

    def frames(self):
        segments = self.segments()
        self.lose(self.oldest, segments[0].first if segments else self.end, "missing")
        for segment, behind in zip(segments, segments[1:] + [None]):
            blocks, damages = self.blocks(segment, behind.first if behind else self.end)
            for offset, head in blocks:
                while damages and damages[0][1] <= head.first:
                    self.lose_part(segment, *damages.pop(0))
                try:
                    again = segment.read_head(offset)
                    check((again.data, again.directory_data) == (head.data, head.directory_data),
                          "a head that is not the footer's")
                    body = segment.read_body(offset, head)
                    if head.kind == DESCRIPTORS:
                        self.learn(*descriptors_of(body))
                        continue
                    found = frames_of(head, body)
                except Damaged as error:
                    self.fault("segment %d at byte %d: %s" % (segment.number, offset, error))
                    self.lose(head.first, head.end, str(error))
                    continue
                yield from (frame for frame in found if self.oldest <= frame[0] < self.end)
            for damage in damages:
                self.lose_part(segment, *damage)


def main():
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["--reaches"], ["--source"]):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        reader = Reader(sys.argv[1])
        if sys.argv[2:]:
            for _ in reader.frames():
                pass
        if sys.argv[2:] == ["--source"]:
            print(json.dumps(reader.source))
            return 1 if reader.faults else 0
        if sys.argv[2:]:
            for node, life in sorted(reader.starts.keys() | reader.ends.keys()):
                print(json.dumps({
                    "assigned": reader.ends.get((node, life)),
                    "life": life,
                    "node": node.decode("utf-8", "surrogateescape"),
                    "from": reader.starts.get((node, life)),
                }))
            return 1 if reader.faults else 0
        for sequence, node, life, arrival, position, channel, payload in reader.frames():
            print(json.dumps({
                "arrival": arrival,
                "channel": channel,
                "life": life,
                "name": reader.names.get((node, life, channel)),
                "node": node.decode("utf-8", "surrogateescape"),
                "payload": payload.hex(),
                "position": position,
                "sequence": sequence,
            }))
    except Unreadable as error:
        print(error, file=sys.stderr)
        return 3
    return 1 if reader.faults else 0


if __name__ == "__main__":
    sys.exit(main())
