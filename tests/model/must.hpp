#pragma once
/// How the model says that something is not as it must be.

#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace datastream::model_test {

/// What was observed contradicts the model.
struct Violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void must(bool holds, std::string_view what) {
  if (!holds)
    throw Violation(std::string(what));
}

template <class T>
concept Printable = requires(std::ostream& out, const T& value) { out << value; };

template <class Actual, class Expected>
void must_equal(const Actual& actual, const Expected& expected, std::string_view what) {
  if (actual == expected)
    return;
  std::ostringstream text;
  text << what;
  if constexpr (Printable<Actual> && Printable<Expected>)
    text << ": " << actual << ", must be " << expected;
  throw Violation(text.str());
}

} // namespace datastream::model_test
