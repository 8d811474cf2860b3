#pragma once
/// Requests that may need much memory.

#include <datastream/actors/messages.hpp>
#include <datastream/actors/type_ids.hpp>

#include <caf/error.hpp>
#include <caf/result.hpp>

#include <new>

namespace datastream {

/// What `answer()` returns, or `ActorError::out_of_memory`: CAF ends an actor whose handler throws,
/// and whoever asks for much must not end a stream. `T`: what the request is answered with.
template <class T, class Answer>
caf::result<T> within_memory(Answer answer) {
  try {
    return answer();
  } catch (const std::bad_alloc&) {
    return caf::make_error(ActorError::out_of_memory);
  }
}

} // namespace datastream
