#pragma once
/// Reads an archive back, while the process that writes it may still run.

#include "messages.hpp"

#include <caf/actor.hpp>
#include <caf/result.hpp>
#include <caf/scoped_actor.hpp>

#include <string>

/// Reads everything from the files and has `log` compare it. Fails with what cannot be read.
caf::result<word_index::Reread> reread(caf::scoped_actor& self, const std::string& directory,
                                       const caf::actor& log);
