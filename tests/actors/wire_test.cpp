#include <datastream/actors/type_ids.hpp>

#include <datastream/caf/binary.hpp>
#include <datastream/ingest/consumer.hpp>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <random>

using namespace datastream;

namespace {

using Buffer = compat::Bytes;

template <class T>
Buffer save(T value) {
  Buffer bytes;
  if (!compat::save_binary(bytes, value))
    throw std::runtime_error("does not serialise");
  return bytes;
}

/// False: refused. Nothing else may happen.
template <class T>
bool load(const Buffer& bytes, T& value) {
  return compat::load_binary(bytes, value);
}

template <class T>
T there_and_back(const T& value) {
  T result{};
  REQUIRE(load(save(value), result));
  return result;
}

/// Random values of everything that travels.
class Maker {
public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}

  std::uint64_t number() {
    const auto bits = random_() % 65;
    return bits == 0 ? 0 : random_() >> (64 - bits);
  }
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  bool flip() { return below(2) == 0; }
  std::string text() {
    std::string result(below(20), '\0');
    for (char& c : result)
      c = static_cast<char>(random_());
    return result;
  }
  std::optional<std::string> maybe_text() { return flip() ? std::optional(text()) : std::nullopt; }
  StreamId stream() { return {NodeId{text()}, Lifetime{number()}}; }
  StreamOrigin origin() { return static_cast<StreamOrigin>(below(3)); }
  ChannelContent content() {
    switch (below(3)) {
    case 0:
      return Bytes{};
    case 1:
      return TextStream{};
    default:
      return JsonRecord{maybe_text()};
    }
  }
  ChannelId channel_id() { return ChannelId{static_cast<std::uint32_t>(number())}; }
  StreamDescriptor descriptor() { return {stream(), maybe_text(), origin()}; }
  ChannelDescriptor channel() { return {stream(), channel_id(), text(), maybe_text(), content()}; }
  DatastreamSnapshot snapshot() {
    DatastreamSnapshot result;
    for (auto n = below(4); n > 0; --n)
      result.streams.push_back(descriptor());
    for (auto n = below(4); n > 0; --n)
      result.channels.push_back(channel());
    return result;
  }
  SubscriptionRequest request() {
    const SourceFilter sources[] = {source_filter::All{}, source_filter::Origin{origin()},
                                    source_filter::Node{NodeId{text()}},
                                    source_filter::Stream{stream()}};
    const ChannelFilter channels[] = {
        channel_filter::All{}, channel_filter::Name{text()}, channel_filter::Prefix{text()},
        channel_filter::Content{static_cast<ChannelContentKind>(below(3))}};
    return {sources[below(4)], channels[below(4)]};
  }
  FrameBatch batch() {
    if (below(8) == 0)
      return {};
    std::vector<Frame> frames;
    const bool large = below(20) == 0;
    for (auto n = 1 + below(30); n > 0; --n)
      frames.push_back(
          {channel_id(), Position{number()}, large && n == 1 ? std::string(200'000, 'L') : text()});
    const auto whole = FrameBatch::copy_of(stream(), frames);
    if (flip())
      return whole;
    const auto first = below(whole.size());
    return whole.slice(first, 1 + below(whole.size() - first));
  }
  EventBatch event() {
    EventBatch result;
    result.subscription = SubscriptionId{number()};
    result.sequence = number();
    for (auto n = below(5); n > 0; --n) {
      if (flip())
        result.declarations.emplace_back(std::make_shared<const StreamDescriptor>(descriptor()));
      else
        result.declarations.emplace_back(std::make_shared<const ChannelDescriptor>(channel()));
    }
    for (auto n = below(3); n > 0; --n)
      result.starts.push_back({stream(), Position{number()}});
    result.frames = batch();
    result.dropped = number();
    if (flip())
      result.ended = StreamEnd{stream(), number()};
    return result;
  }
  SubscriberCounts counts() { return {number(), number(), number(), number(), number()}; }
  PipeLedger pipe() {
    PipeLedger result{stream(), {number(), number(), number(), number(), number()},
                      number(), number(),
                      number(), number(),
                      number(), number(),
                      flip(),   fanout()};
    return result;
  }
  FanoutLedger fanout() {
    FanoutLedger result;
    for (auto n = below(4); n > 0; --n)
      result.subscribers.push_back({SubscriptionId{number()}, text(), counts()});
    result.departed = counts();
    result.stray_acknowledgements = number();
    result.frames_after_end = number();
    return result;
  }
  PublicationLedger publication() {
    return {number(), number(), number(), number(), number(), fanout()};
  }
  OfferedNames names() {
    OfferedNames result;
    for (auto n = below(4); n > 0; --n)
      result.names.push_back(text());
    return result;
  }
  IngestLedger ingest() {
    IngestLedger result{stream(), number(), number(), number(), number(), number(),
                        number(), {},       {},       {},       {}};
    if (flip())
      result.from = Position{number()};
    if (flip())
      result.assigned = number();
    if (flip())
      result.lowest_stored = Position{number()};
    if (flip())
      result.highest_stored = Position{number()};
    return result;
  }
  FramePage page() {
    FramePage result{.frames = batch(), .next = Position{number()}, .more = flip()};
    for (auto n = below(4); n > 0; --n)
      result.gaps.push_back({Position{number()}, Position{number()}});
    if (flip())
      result.evicted = EvictedRange{Position{number()}, number(), number(), number()};
    return result;
  }

private:
  std::mt19937_64 random_;
};

void check_equal(const FrameBatch& a, const FrameBatch& b) {
  REQUIRE(a.size() == b.size());
  if (a.empty())
    return;
  CHECK(a.stream() == b.stream());
  for (std::size_t i = 0; i < a.size(); ++i) {
    REQUIRE(a[i].position == b[i].position);
    REQUIRE(a[i].channel == b[i].channel);
    REQUIRE(a[i].payload == b[i].payload);
  }
}

void check_equal(const Declaration& a, const Declaration& b) {
  REQUIRE(a.index() == b.index());
  if (const auto* stream = std::get_if<StreamDescriptorPtr>(&a))
    CHECK(**stream == **std::get_if<StreamDescriptorPtr>(&b));
  else
    CHECK(*std::get<ChannelDescriptorPtr>(a) == *std::get<ChannelDescriptorPtr>(b));
}

wire::Event event_with(std::vector<FrameHeader> headers, std::string block) {
  wire::Event event;
  event.sequence = 1;
  event.frames.stream = {NodeId{"n"}, Lifetime{1}};
  event.frames.headers.assign(reinterpret_cast<const char*>(headers.data()),
                              headers.size() * sizeof(FrameHeader));
  event.frames.block = std::move(block);
  return event;
}

} // namespace

TEST_CASE("every_value_arrives_as_it_was_sent") {
  CHECK(rc::check([](std::uint64_t seed) {
    Maker make(seed);
    const auto same = [](const auto& value) { CHECK(there_and_back(value) == value); };
    same(make.stream());
    same(Position{make.number()});
    same(make.channel_id());
    same(SubscriptionId{make.number()});
    same(make.content());
    same(make.request());
    same(make.snapshot());
    same(make.pipe());
    same(make.ingest());
    same(make.publication());
    same(make.names());
    same(std::vector<StreamId>{make.stream(), make.stream()});
    same(EndpointTick{make.below(99), make.below(99), make.below(99), make.below(99)});

    const Subscribe subscribe{
        make.text(), make.request(), {make.below(99), make.below(99)}, make.number()};
    const Subscribe asked = there_and_back(subscribe);
    CHECK(asked.name == subscribe.name);
    CHECK(asked.request == subscribe.request);
    CHECK(asked.capacity.frames == subscribe.capacity.frames);
    CHECK(asked.capacity.bytes == subscribe.capacity.bytes);
    CHECK(asked.token == subscribe.token);

    const SubscriptionStart start{
        SubscriptionId{make.number()}, make.snapshot(), {{make.stream(), Position{make.number()}}}};
    const SubscriptionStart begun = there_and_back(start);
    CHECK(begun.id == start.id);
    CHECK(begun.snapshot == start.snapshot);
    CHECK(begun.starts == start.starts);

    const EventBatch event = make.event();
    const EventBatch came = there_and_back(event);
    CHECK(came.subscription == event.subscription);
    CHECK(came.sequence == event.sequence);
    REQUIRE(came.declarations.size() == event.declarations.size());
    for (std::size_t i = 0; i < event.declarations.size(); ++i)
      check_equal(came.declarations[i], event.declarations[i]);
    CHECK(came.starts == event.starts);
    check_equal(came.frames, event.frames);
    CHECK(came.dropped == event.dropped);
    CHECK(came.ended == event.ended);
    CHECK(came.malformed == 0);

    const FramePage page = make.page();
    const FramePage turned = there_and_back(page);
    check_equal(turned.frames, page.frames);
    CHECK(turned.evicted == page.evicted);
    CHECK(turned.gaps == page.gaps);
    CHECK(turned.next == page.next);
    CHECK(turned.more == page.more);
    CHECK(turned.malformed == 0);
  }));
}

TEST_CASE("a_slice_travels_without_the_rest_of_its_block") {
  std::vector<Frame> frames;
  for (std::uint64_t i = 0; i < 100; ++i)
    frames.push_back({ChannelId{1}, Position{i}, std::string(10'000, 'x')});
  EventBatch event;
  event.frames = FrameBatch::copy_of(StreamId{NodeId{"n"}, Lifetime{1}}, frames).slice(50, 2);
  CHECK(save(event).size() < 21'000);
}

TEST_CASE("payloads_that_lie_far_apart_travel_without_what_is_between") {
  constexpr std::uint32_t last = 1'000'000;
  std::string bytes(last + 4, '.');
  bytes.replace(0, 4, "head");
  bytes.replace(last, 4, "tail");
  const std::vector<FrameHeader> headers = {{Position{0}, ChannelId{1}, 0, 4, 0},
                                            {Position{1}, ChannelId{2}, last, 4, 0}};
  EventBatch event;
  event.frames = FrameBatch::from_wire({"n", {1}}, headers, adopt_string(std::move(bytes))).value();
  CHECK(save(event).size() < 1000);
  check_equal(there_and_back(event).frames, event.frames);
}

TEST_CASE("a_batch_whose_headers_leave_its_block_is_refused_and_counted") {
  const FrameHeader good{Position{1}, ChannelId{1}, 0, 4, 0};
  const std::vector<FrameHeader> bad = {{Position{2}, ChannelId{1}, 0, 5, 0},
                                        {Position{2}, ChannelId{1}, 5, 0, 0},
                                        {Position{2}, ChannelId{1}, 4, 1, 0},
                                        {Position{2}, ChannelId{1}, ~0U, ~0U, 0},
                                        {Position{2}, ChannelId{1}, 1, ~0U, 0}};
  for (const FrameHeader& header : bad) {
    EventBatch event;
    REQUIRE(load(save(event_with({good, header}, "abcd")), event));
    CHECK(event.frames.empty());
    CHECK(event.malformed == 2);
    CHECK(event.sequence == 1); // so that it is acknowledged
    Consumer consumer;
    consumer.accept(event);
    CHECK(consumer.malformed_frames() == 2);
  }
  auto torn = event_with({good}, "abcd");
  torn.frames.headers.pop_back();
  EventBatch event;
  REQUIRE(load(save(torn), event));
  CHECK(event.malformed == 1);

  wire::Page wire_page;
  wire_page.frames = event_with({good, bad[0]}, "abcd").frames;
  FramePage page;
  REQUIRE(load(save(wire_page), page));
  CHECK(page.frames.empty());
  CHECK(page.malformed == 2);
}

TEST_CASE("numbers_of_choices_that_do_not_exist_are_harmless") {
  for (unsigned number = 3; number < 256; ++number) { // there are three of each
    const auto unknown = static_cast<std::uint8_t>(number);
    ChannelContent content;
    REQUIRE(load(save(wire::Content{unknown, {"a", "b"}}), content));
    CHECK(content == ChannelContent(Bytes{}));
    StreamDescriptor stream;
    REQUIRE(load(save(wire::Stream{{"n", {1}}, {}, unknown}), stream));
    CHECK(stream.origin == StreamOrigin{});
    wire::Request choices;
    choices.source = 1;
    choices.origin = unknown;
    choices.channel = 3;
    choices.kind = unknown;
    SubscriptionRequest request;
    REQUIRE(load(save(choices), request));
    CHECK(request.sources == SourceFilter(source_filter::Origin{}));
    CHECK(request.channels == ChannelFilter(channel_filter::Content{}));
  }
  wire::Request filters;
  filters.source = 77;
  filters.channel = 99;
  SubscriptionRequest unfiltered;
  REQUIRE(load(save(filters), unfiltered));
  CHECK(unfiltered == SubscriptionRequest::all());
  auto event = event_with({}, "");
  event.declared = std::string("\0\1\2\1\0", 5); // more than there are
  EventBatch as_event;
  REQUIRE(load(save(event), as_event));
  CHECK(as_event.declarations.empty());
  wire::Ingest ingest;
  ingest.counts = {1};
  IngestLedger as_ledger;
  REQUIRE(load(save(ingest), as_ledger));
  CHECK(as_ledger.arrived == 1);
}

TEST_CASE("arbitrary_bytes_never_crash_the_deserialiser") {
  Maker make(3);
  const auto try_all = [](const Buffer& bytes) {
    EventBatch event;
    load(bytes, event);
    for (const FrameView& frame : event.frames)
      CHECK(frame.payload.size() <= bytes.size());
    FramePage page;
    load(bytes, page);
    SubscriptionStart start;
    load(bytes, start);
    Subscribe subscribe;
    load(bytes, subscribe);
    PipeLedger pipe;
    load(bytes, pipe);
    IngestLedger ingest;
    load(bytes, ingest);
    DatastreamSnapshot snapshot;
    load(bytes, snapshot);
    std::vector<StreamId> streams;
    load(bytes, streams);
    PublicationLedger publication;
    load(bytes, publication);
    OfferedNames names;
    load(bytes, names);
  };
  for (int i = 0; i < 3000; ++i) {
    Buffer bytes(make.below(200));
    for (auto& byte : bytes)
      byte = static_cast<Buffer::value_type>(make.number());
    try_all(bytes);
    // A valid message with a few bytes changed, cut, or grown reaches further.
    bytes = save(make.event());
    for (auto n = make.below(4); n > 0 && !bytes.empty(); --n)
      bytes[make.below(bytes.size())] = static_cast<Buffer::value_type>(make.number());
    if (make.flip())
      bytes.resize(make.below(bytes.size() + 1));
    try_all(bytes);
  }
}
