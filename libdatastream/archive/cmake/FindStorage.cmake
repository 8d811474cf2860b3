# Finds what the archive stands on: RocksDB and zstd. Not by RocksDB's own package, which asks for
# everything that a static RocksDB was built with.
#
# Defines Storage::rocksdb and Storage::zstd.
find_path(Storage_ROCKSDB_INCLUDE rocksdb/version.h)
find_library(Storage_ROCKSDB_LIBRARY rocksdb)
find_path(Storage_ZSTD_INCLUDE zstd.h)
find_library(Storage_ZSTD_LIBRARY zstd)
mark_as_advanced(Storage_ROCKSDB_INCLUDE Storage_ROCKSDB_LIBRARY Storage_ZSTD_INCLUDE
                 Storage_ZSTD_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Storage REQUIRED_VARS
  Storage_ROCKSDB_LIBRARY Storage_ROCKSDB_INCLUDE Storage_ZSTD_LIBRARY Storage_ZSTD_INCLUDE)
if(Storage_FOUND AND NOT TARGET Storage::rocksdb)
  foreach(name ROCKSDB ZSTD)
    string(TOLOWER ${name} target)
    add_library(Storage::${target} UNKNOWN IMPORTED)
    set_target_properties(Storage::${target} PROPERTIES
      IMPORTED_LOCATION "${Storage_${name}_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${Storage_${name}_INCLUDE}")
  endforeach()
endif()
