#pragma once
/// Names of channels from a file, where frames come without them.

#include <datastream/model/subscription_request.hpp>

#include <expected>
#include <filesystem>
#include <string>

namespace datastream {

/// Why there is no catalog.
struct CatalogFileError {
  enum class Kind {
    unreadable,   ///< the file cannot be opened or read
    not_a_catalog ///< what it holds is no JSON of a `DatastreamSnapshot`
  };
  Kind kind;
  std::string message; ///< names the file
  friend bool operator==(const CatalogFileError&, const CatalogFileError&) = default;
};

/// Reads the JSON of a `DatastreamSnapshot`, as `encode_json` writes it. An endpoint has one:
///
///     file << encode_json(endpoint.catalog()->snapshot(SubscriptionRequest::all()).snapshot);
///
/// Give it to `Consumer::declare`, or to a sink or bridge with its options. Throws
/// `std::bad_alloc`.
std::expected<DatastreamSnapshot, CatalogFileError> load_catalog(const std::filesystem::path& file);

} // namespace datastream
