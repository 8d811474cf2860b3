#pragma once
/// Telling an actor system what it consists of, for programs that do without `CAF_MAIN`.

#include <datastream/caf/version.hpp>

#include <caf/actor_system_config.hpp>
#include <caf/exec_main.hpp>
#if DATASTREAM_CAF_1X
#include <caf/actor_system_module.hpp>
#include <caf/init_global_meta_objects.hpp>
#endif

#include <type_traits>

namespace datastream::compat {

#if DATASTREAM_CAF_1X

namespace detail {

template <class Part>
constexpr bool is_module = std::is_base_of_v<caf::actor_system_module, Part>;

template <class Part>
void init_part() {
  if constexpr (is_module<Part>)
    Part::init_global_meta_objects();
  else
    caf::init_global_meta_objects<Part>();
}

template <class Part>
void load_part(caf::actor_system_config& config) {
  if constexpr (is_module<Part>)
    config.load<Part>();
}

} // namespace detail

#endif

/// Makes the message types of modules and of blocks of type ids known to CAF 1.x; `load` and
/// `exec_main` do. Before the first actor system; calling it again is harmless.
template <class... Parts>
void init_types() {
#if DATASTREAM_CAF_1X
  caf::core::init_global_meta_objects();
  (detail::init_part<Parts>(), ...);
#endif
}

/// Loads modules into a configuration, and makes message types known, as `caf::exec_main` does.
///
///     compat::load<caf::io::middleman, caf::id_block::datastream>(config);
template <class... Parts>
void load(caf::actor_system_config& config) {
#if DATASTREAM_CAF_1X
  init_types<Parts...>();
  (detail::load_part<Parts>(config), ...);
#else
  (config.load<Parts>(), ...);
#endif
}

/// `caf::exec_main`, which on CAF 1.x leaves it to `CAF_MAIN` to make message types known.
template <class... Parts, class Main>
int exec_main(Main main, int argc, char** argv) {
  init_types<Parts...>();
  return caf::exec_main<Parts...>(main, argc, argv);
}

} // namespace datastream::compat
