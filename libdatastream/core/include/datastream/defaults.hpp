#pragma once
/// Every default and bound of the library, each with its unit and its reason.

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace datastream::defaults {

/// Frames that one mux holds between two drains. A drain comes every millisecond, so this absorbs
/// four million frames a second.
inline constexpr std::size_t mux_frames = 4096;
/// Upper clamp of a mux's capacity in frames, as peers of this protocol have it.
inline constexpr std::size_t mux_frames_max = 1'048'576;
/// Payload bytes that one mux holds. Frames alone would let 4,096 large payloads take 64 GiB.
inline constexpr std::size_t mux_bytes = 64U << 20U;

/// Largest payload, in bytes: a frame record of the event stream is at most 16 MiB, 17 of which
/// are its own.
inline constexpr std::size_t payload_bytes_max = (16U << 20U) - 17;
/// Payloads above this many bytes travel as one block of their own instead of in a slab.
inline constexpr std::size_t slab_payload_max = 64U << 10U;
/// Payload bytes that begin in one slab of a mux: small enough to stay in a core's cache, large
/// enough that one slab feeds a full batch of ordinary frames.
inline constexpr std::size_t slab_bytes = 128U << 10U;

/// Frames in one batch: where per-batch costs have vanished and a slice is still small.
inline constexpr std::size_t batch_frames = 1024;
/// Payload bytes in one page of a query, a single larger payload excepted; a mux's batches are
/// smaller by themselves, for they lie in one slab.
inline constexpr std::size_t batch_bytes = 1U << 20U;

/// Frames that an in-process subscription queues.
inline constexpr std::size_t subscription_frames = 1024;
/// Frames that a subscriber actor may leave unacknowledged: 16 full batches, so that one slow
/// acknowledgement round trip between nodes does not cost frames.
inline constexpr std::size_t subscriber_actor_frames = 16'384;
/// Bytes that any subscriber may pin, whole blocks counted.
inline constexpr std::size_t subscriber_bytes = 64U << 20U;

/// Most that a subscriber actor may ask for: it decides how much memory it can make us keep.
inline constexpr std::size_t subscriber_actor_frames_max = 1'048'576;
inline constexpr std::size_t subscriber_actor_bytes_max = 1U << 30U;

/// Time between two drains while frames come.
inline constexpr std::chrono::microseconds tick_interval{1000};
/// Silence after which an endpoint stops polling and asks the next submission to wake it. Waking
/// costs the producer a microsecond or more, so this limits it to a hundred a second.
inline constexpr std::chrono::milliseconds idle_after{10};
/// Time between attempts to end a stream while a lack of memory, or a submission that does not get
/// on, keeps frames back: memory comes back when somebody else has run.
inline constexpr std::chrono::milliseconds end_retry{1};
/// Attempts that follow one another at once, before that time is waited: what a submission under
/// way needs to copy its payload.
inline constexpr int quick_end_attempts = 16;
/// Longer times between health records are cut to it: no clock overflows.
inline constexpr std::chrono::milliseconds health_interval_max = std::chrono::days(30);
/// Subscribers that a health record lists, and bytes of a name in it. Both are other people's
/// choice; a record of so many stays below 2 MiB.
inline constexpr std::size_t health_subscribers = 1024;
inline constexpr std::size_t health_name_bytes = 256;
/// How long `Endpoint::close` waits for subscribers to acknowledge.
inline constexpr std::chrono::milliseconds close_deadline{2000};

/// How long to wait for each answer while a stream of another process is looked for: twice the
/// silence after which a connection counts as broken.
inline constexpr std::chrono::milliseconds connect_timeout{10'000};
/// Time until a stream of another process is looked for again, the first time and at most: soon
/// enough for a process that only restarts, seldom enough for one that is gone.
inline constexpr std::chrono::milliseconds retry_first{100};
inline constexpr std::chrono::milliseconds retry_most{5000};

/// Longest line, in bytes, that a view puts together; longer ones are split. Longer than any line
/// that is for people, short enough to keep one for every channel.
inline constexpr std::size_t line_bytes = 64U << 10U;
/// Actors in one table: more than a program runs at once, so what is forgotten is long gone.
inline constexpr std::size_t actor_table = 100'000;
/// And their memory: names, reasons and types of messages are a peer's choice.
inline constexpr std::size_t actor_table_bytes = 64U << 20U;
/// Channels of one stream whose arrivals are noted. Ids are a peer's choice, so there is a bound.
inline constexpr std::size_t tracked_channels = 131'072;

/// Time between two samples of a host, as peers of this protocol have it.
inline constexpr std::chrono::milliseconds host_interval{1000};
/// How long the tool that asks the graphics processors may take. It takes seconds where their
/// driver has to be woken up.
inline constexpr std::chrono::milliseconds gpu_timeout{10'000};
/// Processes in one sample, the busiest: a record of them stays below 300 KiB.
inline constexpr std::size_t host_processes = 1024;

/// Silence after which another legacy peer may send a stream without being noticed: longer than any
/// pause of a healthy sender, short enough for one that came back at another address.
inline constexpr std::chrono::seconds claim_silence{10};
/// Streams of legacy peers that are known at a time.
inline constexpr std::size_t admission_streams = 10'000;
/// Bytes of the names of their nodes, which are a peer's choice, too.
inline constexpr std::size_t admission_names = 16U << 20U;
/// Runs of positions that are remembered of each: as many gaps as reordering and loss leave within
/// any delay of a network; more are taken for seen.
inline constexpr std::size_t admission_runs = 4096;
/// Frames and pinned bytes that a sender of envelopes queues: as much as a subscriber actor, for it
/// holds the same and waits as long.
inline constexpr std::size_t sender_frames = 16'384;
inline constexpr std::size_t sender_bytes = 64U << 20U;
/// Largest envelope over TCP, in bytes: the largest payload, and a node's name of up to a megabyte.
inline constexpr std::size_t envelope_bytes_max = 17U << 20U;
/// Bytes that the kernel is asked to buffer for datagrams: a hundred milliseconds of 100,000
/// ordinary ones a second, each of which it counts as about 800 bytes.
inline constexpr std::size_t datagram_buffer = 8U << 20U;
/// Connections that a receiver of envelopes has at the same time. Each may make it keep an envelope
/// of the largest size.
inline constexpr std::size_t tcp_connections = 64;
/// A TCP peer is asked after so much silence whether it is there, and again at this interval; one
/// that has not answered for the timeout counts as gone. Longer than a network takes to recover,
/// shorter than anybody waits for a report.
inline constexpr std::chrono::seconds keepalive_idle{10};
inline constexpr std::chrono::seconds keepalive_interval{5};
inline constexpr std::chrono::seconds keepalive_timeout{30};

/// Bytes of a group that an archive commits at once: a sync costs the same up to a megabyte, and
/// this is filled while the one before it is synced.
inline constexpr std::size_t archive_group_bytes = 4U << 20U;
/// How long the first frame of a group waits for others: a few syncs of a disk.
inline constexpr std::chrono::milliseconds archive_group_delay{20};
/// Bytes of a block, uncompressed, in which frames are compressed and read: little for who wants
/// one frame, enough to compress well.
inline constexpr std::size_t archive_block_bytes = 256U << 10U;
/// Bytes of a segment: what is replayed at most when an archive is opened after a crash, in about a
/// second; a hundred files for a disk of tens of gigabytes.
inline constexpr std::size_t archive_segment_bytes = 256U << 20U;
/// Bytes of a segment's index, which becomes its footer: half of what the format allows.
inline constexpr std::size_t archive_index_bytes = 16U << 20U;
/// Frames whose fingerprints an archive remembers, to tell a duplicate from a conflict: 8 MiB, and
/// longer than any sender repeats itself.
inline constexpr std::size_t archive_compared_frames = 1U << 20U;
/// Time until an archive that could not write looks for room again.
inline constexpr std::chrono::milliseconds archive_retry{1000};
/// Time between two looks of a reader at how far an archive is durable, while it waits for more.
inline constexpr std::chrono::milliseconds archive_poll{2};
/// Bytes of segments' indexes that a reader keeps although nobody uses them: those of ten gigabytes
/// in ordinary blocks. They are read again otherwise.
inline constexpr std::size_t archive_reader_index_bytes = 64U << 20U;
/// Bytes of blocks that a walk over a stream of an archive keeps while their positions overlap: 256
/// ordinary ones, each of a batch that arrived far out of order. They are read again otherwise.
inline constexpr std::size_t archive_view_bytes = 64U << 20U;
/// Bytes of lists of blocks, one for each segment, that a stream of an archive keeps for who reads
/// frames here and there: those of 1.4 million blocks. They are taken from the segments' indexes
/// again otherwise, which takes up to a quarter of a second where blocks are smallest.
inline constexpr std::size_t archive_stream_blocks_bytes = 64U << 20U;

/// Levels of nesting that a JSON document may have, as peers of this protocol have it.
inline constexpr std::size_t json_depth = 127;

} // namespace datastream::defaults
