#include "report.hpp"

#include "overlap.hpp"

#include <algorithm>
#include <initializer_list>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <string>

namespace ds = datastream;
using namespace word_index;

namespace {

void print_channels(std::ostream& out, const Report& reader) {
  out << "\nchannel                 frames         bytes\n";
  for (const auto& channel : reader.channels)
    out << std::left << std::setw(18) << channel.name << std::right << std::setw(12)
        << channel.frames << std::setw(14) << channel.bytes << '\n';
}

void print_words(std::ostream& out, const Report& reader) {
  std::vector<std::pair<std::uint64_t, std::string>> ranked;
  ranked.reserve(reader.words.size());
  for (const auto& [word, count] : reader.words)
    ranked.emplace_back(count, word);
  const auto most = std::min<std::size_t>(ranked.size(), 10);
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(most),
                    ranked.end(), std::greater<>());
  out << "\nmost frequent words:";
  for (std::size_t i = 0; i < most; ++i)
    out << (i ? ", " : " ") << ranked[i].second << ' ' << ranked[i].first;
  out << '\n';
}

void print_row(std::ostream& out, const char* label, std::initializer_list<std::uint64_t> counts) {
  out << std::left << std::setw(40) << label << std::right;
  for (const std::uint64_t count : counts)
    out << std::setw(12) << count;
  out << '\n';
}

/// A fanout's account of one subscriber; nothing where it has none.
ds::SubscriberCounts counts_of(const ds::FanoutLedger& fanout, ds::SubscriptionId id) {
  for (const ds::SubscriberLedger& subscriber : fanout.subscribers)
    if (subscriber.id == id)
      return subscriber.counts;
  return {};
}

/// Collects what does not agree.
class Audit {
public:
  void equal(const std::string& what, std::uint64_t left, std::uint64_t right) {
    if (left != right)
      differences_ << (any() ? "; " : "") << what << ": " << left << " against " << right
                   << " (difference " << static_cast<std::int64_t>(left - right) << ')';
  }
  bool any() const { return !differences_.view().empty(); }
  std::string text() const { return differences_.str(); }

private:
  std::ostringstream differences_;
};

/// One subscriber of a fanout against the store behind it.
void audit_reader(Audit& audit, const Report& reader, const ds::SubscriberCounts& counts) {
  const ds::IngestLedger& ingest = reader.ledger;
  audit.equal(reader.title + ": offered and acknowledged or dropped", counts.offered,
              counts.acknowledged + counts.dropped);
  audit.equal(reader.title + ": acknowledged and stored", counts.acknowledged, ingest.stored);
  audit.equal(reader.title + ": arrived and stored or known", ingest.arrived,
              ingest.stored + ingest.duplicates + ingest.conflicts + ingest.late_for_evicted);
  audit.equal(reader.title + ": offered to it and stored or missing",
              ingest.assigned.value_or(0) - ingest.from.value_or(ds::Position{}).value,
              ingest.stored + ingest.missing());
}

} // namespace

bool print_report(std::ostream& out, const Accounts& accounts) {
  const ds::PipeLedger& pipe = accounts.pipe;
  const ds::PublicationLedger& fanout = accounts.fanout;
  const ds::IngestLedger& log = accounts.log.ledger;
  const ds::IngestLedger& slow = accounts.slow.ledger;
  const ds::IngestLedger& reader = accounts.reader.ledger;
  const auto log_counts = counts_of(pipe.fanout, accounts.log.subscription);
  const auto slow_counts = counts_of(pipe.fanout, accounts.slow.subscription);
  const auto relay_counts = counts_of(pipe.fanout, accounts.relay);
  const auto reader_counts = counts_of(fanout.fanout, accounts.reader.subscription);

  print_channels(out, accounts.log);
  print_words(out, accounts.log);

  out << "\nthe node, as it says itself\n";
  for (const std::string& line : accounts.log.vitals)
    out << "  " << line << '\n';

  out << "\nledger, in frames: the node called submit "
      << accounts.callers_accepted + accounts.callers_refused << " times\n";
  out << "  refused by the mux  " << pipe.refused.total() << '\n'
      << "  position assigned   " << pipe.assigned << '\n'
      << "  nobody subscribed   " << pipe.bitbucketed << "\n\n"
      << std::setw(52) << "log" << std::setw(12) << "slow" << '\n';
  print_row(out, "node: offered", {log_counts.offered, slow_counts.offered});
  print_row(out, "node: acknowledged", {log_counts.acknowledged, slow_counts.acknowledged});
  print_row(out, "node: dropped, the viewer was full", {log_counts.dropped, slow_counts.dropped});
  print_row(out, "collector: stored", {log.stored, slow.stored});
  print_row(out, "  and evicted again", {log.evicted, slow.evicted});
  print_row(out, "collector: missing", {log.missing(), slow.missing()});
  print_row(out, "  before the first stored frame",
            {log.leading().value_or(0), slow.leading().value_or(0)});
  print_row(out, "  between stored frames", {log.interior_gaps(), slow.interior_gaps()});
  print_row(out, "  after the last stored frame",
            {log.trailing().value_or(0), slow.trailing().value_or(0)});

  out << '\n' << std::setw(52) << "far" << '\n';
  print_row(out, "node: offered", {relay_counts.offered});
  print_row(out, "node: dropped, the relay was full", {relay_counts.dropped});
  print_row(out, "collector: passed on", {fanout.published});
  print_row(out, "collector: dropped, the reader was full", {reader_counts.dropped});
  print_row(out, "reader: stored", {reader.stored});
  print_row(out, "reader: missing", {reader.missing()});

  const ArchiveAccount& archive = accounts.archive;
  const ds::ArchiveLedger& kept = archive.kept.ledger;
  const auto archive_counts = counts_of(pipe.fanout, archive.subscription);
  out << '\n' << std::setw(52) << "archive" << '\n';
  print_row(out, "node: offered", {archive_counts.offered});
  print_row(out, "node: dropped, the archive was full", {archive_counts.dropped});
  print_row(out, "collector: durable", {kept.stored});
  print_row(out, "collector: not stored", {kept.not_stored.total()});
  print_row(out, "reader: read back from the files", {archive.reread.frames});

  const EnvelopeAccount& envelope = accounts.envelope;
  const EnvelopeAccount& udp = accounts.udp;
  out << '\n' << std::setw(52) << "envelope" << std::setw(12) << "udp" << '\n';
  print_row(out, "node: offered", {envelope.node.offered, udp.node.offered});
  print_row(out, "node: dropped by the link",
            {envelope.node.offered - envelope.node.sent, udp.node.offered - udp.node.sent});
  print_row(out, "sink, peer: received", {envelope.received, udp.received});
  out << '\n';
  const std::uint64_t in_log = log.stored - log.evicted;
  bool alike = print_overlap(out, "archive", archive.reread.overlap, in_log);
  alike &= print_overlap(out, "envelope", envelope.overlap, in_log);
  alike &= print_overlap(out, "udp", udp.overlap, in_log);
  out << '\n';

  Audit audit;
  audit.equal("accepted by callers and assigned", accounts.callers_accepted, pipe.assigned);
  audit.equal("refused to callers and by the mux", accounts.callers_refused, pipe.refused.total());
  audit.equal("still in the mux", pipe.in_mux, 0);
  audit.equal("assigned and published or bitbucketed", pipe.assigned,
              pipe.published + pipe.bitbucketed + pipe.drained_directly);
  audit_reader(audit, accounts.log, log_counts);
  audit.equal("log: dropped by the node and missing", log_counts.dropped, log.missing());
  audit_reader(audit, accounts.slow, slow_counts);
  audit.equal("slow: dropped by the node and missing", slow_counts.dropped, slow.missing());
  audit.equal("relay: offered and acknowledged or dropped", relay_counts.offered,
              relay_counts.acknowledged + relay_counts.dropped);
  audit.equal("relay: acknowledged and passed on", relay_counts.acknowledged, fanout.published);
  audit.equal("relay: passed on and offered to the reader", fanout.published,
              reader_counts.offered);
  audit_reader(audit, accounts.reader, reader_counts);
  audit.equal("far: dropped by node and collector and missing",
              relay_counts.dropped + reader_counts.dropped, reader.missing());
  audit.equal("archive: offered and acknowledged or dropped", archive_counts.offered,
              archive_counts.acknowledged + archive_counts.dropped);
  audit.equal("archive: acknowledged and offered to it", archive_counts.acknowledged, kept.offered);
  audit.equal("archive: offered and durable or not stored", kept.offered,
              kept.stored + kept.not_stored.total());
  audit.equal("archive: durable and read back", kept.stored, archive.reread.frames);
  audit.equal("envelope: answered by the sink and not stored", 0,
              envelope.node.sent - std::min(envelope.node.sent, envelope.received));
  if (audit.any()) {
    out << "ledger DOES NOT BALANCE: " << audit.text() << '\n' << std::flush;
    return false;
  }
  out << "ledger balanced: submitted " << pipe.submitted() << " = refused " << pipe.refused.total()
      << " + assigned " << pipe.assigned << "; log " << log_counts.offered << " = stored "
      << log.stored << " + missing " << log.missing() << "; slow " << slow_counts.offered
      << " = stored " << slow.stored << " + missing " << slow.missing() << "; far "
      << relay_counts.offered << " = stored " << reader.stored << " + dropped by node "
      << relay_counts.dropped << " and collector " << reader_counts.dropped << '\n'
      << std::flush;
  return alike;
}
