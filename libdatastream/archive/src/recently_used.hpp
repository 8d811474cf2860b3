#pragma once
/// What was used last, kept up to a bound.

#include <cstddef>
#include <iterator>
#include <list>
#include <unordered_map>
#include <utility>

namespace datastream {

/// Values that can be made again. What was used longest ago is let go when all together take more
/// than a bound; what was used last stays, however large it is. One thread. A function that throws
/// has changed nothing.
template <class Key, class Value>
class RecentlyUsed {
public:
  explicit RecentlyUsed(std::size_t bound) : bound_(bound) {}
  RecentlyUsed(const RecentlyUsed&) = delete;
  RecentlyUsed& operator=(const RecentlyUsed&) = delete;

  /// Null: it is not kept. Valid until it is let go.
  const Value* find(const Key& key) {
    if (!kept_.empty() && kept_.front().key == key)
      return &kept_.front().value;
    const auto known = where_.find(key);
    if (known == where_.end())
      return nullptr;
    kept_.splice(kept_.begin(), kept_, known->second);
    return &kept_.front().value;
  }

  /// In place of what was kept under this key.
  const Value& keep(Key key, Value value, std::size_t bytes) {
    if (find(key)) {
      bytes_ -= std::exchange(kept_.front().bytes, bytes);
      kept_.front().value = std::move(value);
    } else {
      std::list<Kept> added;
      added.push_front({key, std::move(value), bytes});
      where_.emplace(std::move(key), added.begin());
      kept_.splice(kept_.begin(), added);
    }
    bytes_ += bytes;
    while (bytes_ > bound_ && kept_.size() > 1)
      let_go(where_.find(kept_.back().key));
    return kept_.front().value;
  }

  void let_go(const Key& key) {
    if (const auto known = where_.find(key); known != where_.end())
      let_go(known);
  }

  std::size_t bytes() const noexcept { return bytes_; }

private:
  struct Kept {
    Key key;
    Value value;
    std::size_t bytes = 0;
  };
  using Where = std::unordered_map<Key, typename std::list<Kept>::iterator>;

  void let_go(typename Where::iterator known) {
    const auto kept = known->second;
    bytes_ -= kept->bytes;
    where_.erase(known);
    kept_.erase(kept);
  }

  std::size_t bound_;
  std::list<Kept> kept_; ///< what was used last first
  Where where_;
  std::size_t bytes_ = 0; ///< of all that are kept
};

} // namespace datastream
