/// What was used last, kept up to a bound.

#include "recently_used.hpp"
#include "shortage.hpp"
#include "under_tsan.hpp"

#include <doctest/doctest.h>

#include <new>
#include <string>

using namespace datastream;
using namespace datastream::test;

TEST_CASE("what_was_used_longest_ago_is_let_go_first") {
  RecentlyUsed<int, std::string> kept(30);
  kept.keep(1, "one", 10);
  kept.keep(2, "two", 10);
  kept.keep(3, "three", 10);
  CHECK(kept.bytes() == 30);
  REQUIRE(kept.find(1));
  CHECK(kept.keep(4, "four", 15) == "four");
  CHECK(kept.bytes() == 25);
  CHECK_FALSE(kept.find(2));
  CHECK_FALSE(kept.find(3));
  REQUIRE(kept.find(1));
  CHECK(*kept.find(1) == "one");
  CHECK(*kept.find(4) == "four");
}

TEST_CASE("what_was_used_last_stays_however_large_it_is") {
  RecentlyUsed<int, std::string> kept(30);
  kept.keep(1, "one", 10);
  kept.keep(2, "two", 100);
  CHECK(kept.bytes() == 100);
  CHECK_FALSE(kept.find(1));
  CHECK(*kept.find(2) == "two");
  kept.keep(3, "three", 1);
  CHECK_FALSE(kept.find(2));
  CHECK(kept.bytes() == 1);
}

TEST_CASE("what_is_let_go_is_not_counted_any_more") {
  RecentlyUsed<int, std::string> kept(30);
  kept.keep(1, "one", 10);
  kept.keep(2, "two", 20);
  kept.let_go(1);
  kept.let_go(7);
  CHECK(kept.bytes() == 20);
  CHECK_FALSE(kept.find(1));
  kept.keep(1, "again", 10);
  CHECK(kept.bytes() == 30);
  CHECK(*kept.find(1) == "again");
  CHECK(*kept.find(2) == "two");
}

TEST_CASE("what_has_grown_is_counted_with_its_new_size") {
  RecentlyUsed<int, std::string> kept(30);
  kept.keep(1, "one", 10);
  kept.keep(2, "two", 10);
  CHECK(kept.keep(1, "more", 20) == "more");
  CHECK(kept.bytes() == 30);
  kept.keep(1, "even more", 25);
  CHECK(kept.bytes() == 25);
  CHECK_FALSE(kept.find(2));
  CHECK(*kept.find(1) == "even more");
}

#if !DATASTREAM_UNDER_TSAN

TEST_CASE("what_cannot_be_kept_for_want_of_memory_changes_nothing") {
  for (std::size_t allocations = 0;; ++allocations) {
    CAPTURE(allocations);
    RecentlyUsed<int, int> kept(20);
    kept.keep(1, 10, 10);
    kept.keep(2, 20, 10);
    bool failed = false;
    try {
      const Shortage shortage(allocations);
      kept.keep(3, 30, 10);
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    CHECK(kept.bytes() == 20);
    CHECK((kept.find(1) != nullptr) == failed);
    CHECK(*kept.find(2) == 20);
    CHECK((kept.find(3) != nullptr) == !failed);
    if (!failed) {
      CHECK(allocations > 1);
      break;
    }
  }
}

#endif
