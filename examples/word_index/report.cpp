#include "report.hpp"

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <string>

namespace ds = datastream;

namespace {

void print_channels(std::ostream& out, const ReaderReport& reader) {
  out << "\nchannel                 frames         bytes\n";
  for (const auto& channel : reader.channels)
    out << std::left << std::setw(18) << channel.name << std::right << std::setw(12)
        << channel.frames << std::setw(14) << channel.bytes << '\n';
}

void print_words(std::ostream& out, const ReaderReport& reader) {
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

void print_row(std::ostream& out, const char* label, std::uint64_t log, std::uint64_t slow) {
  out << std::left << std::setw(40) << label << std::right << std::setw(12) << log << std::setw(12)
      << slow << '\n';
}

/// The node's account of one reader; nothing where it has none.
ds::SubscriberCounts counts_of(const ds::PipeLedger& pipe, ds::SubscriptionId id) {
  for (const ds::SubscriberLedger& subscriber : pipe.fanout.subscribers)
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

} // namespace

bool print_report(std::ostream& out, const Accounts& accounts) {
  const ds::PipeLedger& pipe = accounts.pipe;
  const ReaderReport& log = accounts.readers[0];
  const ReaderReport& slow = accounts.readers[1];
  const auto log_counts = counts_of(pipe, log.subscription);
  const auto slow_counts = counts_of(pipe, slow.subscription);

  print_channels(out, log);
  print_words(out, log);

  out << "\nledger, in frames: the workers called submit "
      << accounts.callers_accepted + accounts.callers_refused << " times\n";
  out << "  refused by the mux  " << pipe.refused.total() << '\n'
      << "  position assigned   " << pipe.assigned << '\n'
      << "  nobody subscribed   " << pipe.bitbucketed << "\n\n"
      << std::setw(52) << "log" << std::setw(12) << "slow" << '\n';
  print_row(out, "node: offered", log_counts.offered, slow_counts.offered);
  print_row(out, "node: acknowledged", log_counts.acknowledged, slow_counts.acknowledged);
  print_row(out, "node: dropped, the reader was full", log_counts.dropped, slow_counts.dropped);
  print_row(out, "collector: stored", log.ledger.stored, slow.ledger.stored);
  print_row(out, "  and evicted again", log.ledger.evicted, slow.ledger.evicted);
  print_row(out, "collector: missing", log.ledger.missing(), slow.ledger.missing());
  print_row(out, "  before the first stored frame", log.ledger.leading().value_or(0),
            slow.ledger.leading().value_or(0));
  print_row(out, "  between stored frames", log.ledger.interior_gaps(),
            slow.ledger.interior_gaps());
  print_row(out, "  after the last stored frame", log.ledger.trailing().value_or(0),
            slow.ledger.trailing().value_or(0));
  out << '\n';

  Audit audit;
  audit.equal("accepted by callers and assigned", accounts.callers_accepted, pipe.assigned);
  audit.equal("refused to callers and by the mux", accounts.callers_refused, pipe.refused.total());
  audit.equal("still in the mux", pipe.in_mux, 0);
  audit.equal("assigned and published or bitbucketed", pipe.assigned,
              pipe.published + pipe.bitbucketed + pipe.drained_directly);
  for (const auto& [reader, counts] :
       {std::pair(&log, log_counts), std::pair(&slow, slow_counts)}) {
    const ds::IngestLedger& ingest = reader->ledger;
    audit.equal(reader->title + ": offered and acknowledged or dropped", counts.offered,
                counts.acknowledged + counts.dropped);
    audit.equal(reader->title + ": dropped by the node and missing", counts.dropped,
                ingest.missing());
    audit.equal(reader->title + ": acknowledged and stored", counts.acknowledged, ingest.stored);
    audit.equal(reader->title + ": arrived and stored or known", ingest.arrived,
                ingest.stored + ingest.duplicates + ingest.conflicts + ingest.late_for_evicted);
    audit.equal(reader->title + ": offered to it and stored or missing",
                ingest.assigned.value_or(0) - ingest.from.value_or(ds::Position{}).value,
                ingest.stored + ingest.missing());
  }
  if (audit.any()) {
    out << "ledger DOES NOT BALANCE: " << audit.text() << '\n' << std::flush;
    return false;
  }
  out << "ledger balanced: submitted " << pipe.submitted() << " = refused " << pipe.refused.total()
      << " + assigned " << pipe.assigned << "; log " << log_counts.offered << " = stored "
      << log.ledger.stored << " + missing " << log.ledger.missing() << "; slow "
      << slow_counts.offered << " = stored " << slow.ledger.stored << " + missing "
      << slow.ledger.missing() << '\n'
      << std::flush;
  return true;
}
