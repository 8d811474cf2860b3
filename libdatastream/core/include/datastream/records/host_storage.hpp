#pragma once
/// What a host says about its file systems (specification 5.9): the record on `host.storage`.

#include <datastream/record.hpp>
#include <datastream/records/pressure.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace datastream {

struct FilesystemRecord {
  std::string mount;
  std::uint64_t total_bytes = 0;
  std::uint64_t used_bytes = 0;
  std::uint64_t available_bytes = 0;  ///< to programs without privileges
  std::optional<double> used_percent; ///< of used and available together, as `df` has it
  friend bool operator==(const FilesystemRecord&, const FilesystemRecord&) = default;
};
DATASTREAM_RECORD(FilesystemRecord, mount, total_bytes, used_bytes, available_bytes, used_percent)

struct HostStorageRecord {
  static constexpr auto CHANNEL = "host.storage";
  std::string schema = "host.storage.v1";
  std::uint64_t seq = 0;            ///< counts samples from 0
  std::uint64_t sample_unix_ms = 0; ///< when, in milliseconds since 1970
  std::optional<std::uint64_t> query_elapsed_ms;
  std::vector<FilesystemRecord> filesystems;
  std::optional<PressureRecord> pressure; ///< of I/O; absent where the kernel does not measure it
  std::optional<std::string> error;
  friend bool operator==(const HostStorageRecord&, const HostStorageRecord&) = default;
};
DATASTREAM_RECORD(HostStorageRecord, schema, seq, sample_unix_ms, query_elapsed_ms, filesystems,
                  pressure, error)

} // namespace datastream
