#pragma once
/// Which positions of which streams are stored, and what was stored there, as far as remembered.

#include "metadata.hpp"

#include <datastream/model/frame.hpp>
#include <datastream/model/ids.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

namespace datastream {

/// Answers for every frame whether its position is new. Pages come from the index and are kept
/// while they are used; with those that are kept go fingerprints of what was stored, by which a
/// duplicate is told from a conflict.
///
/// Thread safety: one owner.
class StoredPositions {
  struct Page;

public:
  /// `compared_frames`: how many positions are compared, in runs of 64.
  explicit StoredPositions(std::size_t compared_frames);
  ~StoredPositions();

  /// Forgets everything; from here on this is the index.
  void reset(const Metadata* metadata) noexcept;

  enum class Seen {
    fresh,      ///< not stored yet
    duplicate,  ///< stored, with the same channel and bytes
    conflict,   ///< stored, with others
    unverified, ///< stored, and nobody remembers with what
  };

  /// The place of one frame. Good until the next call of anything.
  struct Place {
    Seen seen{};
    Page* page = nullptr;
    std::uint32_t index = 0;
    std::uint64_t fingerprint = 0;
  };
  /// Errors: those of the index. Throws `std::bad_alloc`. Changes nothing that could be seen.
  std::expected<Place, ArchiveError> look(const StreamId& stream, const FrameView& frame);
  /// The fresh frame at this place is stored.
  void mark(const Place& place) noexcept;

  /// A page as it was when it was taken.
  struct Change {
    StreamId stream;
    std::uint64_t page = 0;
    PositionPage positions{};
  };
  struct Changes {
    std::uint64_t number = 0; ///< ascending
    std::vector<Change> pages;
  };
  /// What was marked since the last call. Those pages stay in memory until `committed`.
  Changes take_changes();
  /// How many pages `take_changes` would take.
  std::size_t changed_pages() const noexcept { return changed_.size(); }
  /// The index has all changes up to those of this number.
  void committed(std::uint64_t number) noexcept { committed_ = number; }

private:
  struct Key {
    StreamId stream;
    std::uint64_t page = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const noexcept {
      return std::hash<StreamId>{}(key.stream) ^ (key.page * 0x9e3779b97f4a7c15ULL);
    }
  };
  static constexpr std::uint32_t positions_per_run = 64;
  using Fingerprints = std::array<std::uint64_t, positions_per_run>;
  struct Page {
    const Key* key = nullptr;
    PositionPage stored{};
    PositionPage remembered{}; ///< those of which there is a fingerprint
    std::array<std::unique_ptr<Fingerprints>, positions_per_page / positions_per_run> fingerprints;
    std::size_t runs = 0;      ///< of which there are fingerprints
    std::uint64_t changed = 0; ///< number of the last changes that it is, or will be, in
    std::list<Page*>::iterator used;
  };

  std::expected<Page*, ArchiveError> page(const StreamId& stream, std::uint64_t number);
  void trim() noexcept;
  /// A page counts as much as one run even if it has none.
  static std::size_t runs_of(const Page& page) noexcept {
    return std::max<std::size_t>(1, page.runs);
  }

  std::size_t runs_max_;
  std::size_t runs_ = 0; ///< of all pages
  const Metadata* metadata_ = nullptr;
  std::unordered_map<Key, Page, Hash> pages_;
  std::list<Page*> used_; ///< the least recently used one first
  Page* recent_ = nullptr;
  std::vector<Page*> changed_;
  std::uint64_t taken_ = 0; ///< number of the last changes
  std::uint64_t committed_ = 0;
};

} // namespace datastream
