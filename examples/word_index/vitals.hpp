#pragma once
/// How the node is, from what it tells about itself.

#include <datastream/ingest/stored_stream.hpp>
#include <datastream/pipe/catalog.hpp>

#include <string>
#include <vector>

/// Lines for people: its busiest actors, its child's last words and how it ended, its host's load.
std::vector<std::string> vitals_of(const datastream::StoredStream& stream,
                                   const datastream::Catalog& catalog);
