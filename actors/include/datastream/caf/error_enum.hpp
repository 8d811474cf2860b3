#pragma once
/// Turning an enumeration of ours into an error category of CAF.

#include <datastream/caf/version.hpp>

#include <caf/error.hpp>
#include <caf/make_message.hpp>
#include <caf/message.hpp>

/// At global scope, once per enumeration, which has a `to_string`. The category's name has at most
/// ten characters.
#if DATASTREAM_CAF_1X
#define DATASTREAM_CAF_ERROR_ENUM(type, category) CAF_ERROR_CODE_ENUM(type)
#else
#define DATASTREAM_CAF_ERROR_ENUM(type, category) CAF_ERROR_CODE_ENUM(type, category)
#endif
