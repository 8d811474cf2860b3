# Finds the CAF to build with: CAF 1.x by the CMake package that it installs, else 0.17.6, which has
# none, by its headers and libraries, as Debian's libcaf-dev installs them.
#
#   CAF_FOUND, CAF_VERSION, CAF_LOCATION, and the imported targets CAF::core and CAF::io;
#   where the optional component openssl is asked for: CAF_openssl_FOUND, and CAF::openssl
#
# CMAKE_PREFIX_PATH, CAF_ROOT and CAF_DIR say where to look first. What is found first is taken or
# refused: a CAF that is supported does not stand in for one that is not.

set(caf_given_dir "${CAF_DIR}") # the search goes past a wrong one, and forgets it

find_package(CAF CONFIG QUIET COMPONENTS core io)
if(CAF_CONFIG)
  set(CAF_LOCATION ${CAF_DIR})
  if(openssl IN_LIST CAF_FIND_COMPONENTS AND TARGET CAF::openssl)
    find_package(OpenSSL QUIET) # which CAF's package refers to and does not look for
    set(CAF_openssl_FOUND ${OpenSSL_FOUND})
  endif()
else()
  find_path(CAF_INCLUDE_DIR caf/config.hpp)
  find_library(CAF_CORE_LIBRARY caf_core)
  find_library(CAF_IO_LIBRARY caf_io)
  mark_as_advanced(CAF_INCLUDE_DIR CAF_CORE_LIBRARY CAF_IO_LIBRARY)
  if(openssl IN_LIST CAF_FIND_COMPONENTS)
    find_library(CAF_OPENSSL_LIBRARY caf_openssl)
    mark_as_advanced(CAF_OPENSSL_LIBRARY)
    if(CAF_OPENSSL_LIBRARY AND EXISTS ${CAF_INCLUDE_DIR}/caf/openssl/manager.hpp)
      set(CAF_openssl_FOUND YES)
    endif()
  endif()
  set(CAF_LOCATION ${CAF_INCLUDE_DIR})
  set(CAF_VERSION "of unknown version")
  if(CAF_INCLUDE_DIR)
    # As 0.17.6 has it; in 1.x the number is in another file, and octal.
    file(STRINGS ${CAF_INCLUDE_DIR}/caf/config.hpp caf_line REGEX "define CAF_VERSION ")
    if(caf_line MATCHES " ([1-9][0-9]*)$")
      math(EXPR caf_major "${CMAKE_MATCH_1} / 10000")
      math(EXPR caf_minor "${CMAKE_MATCH_1} / 100 % 100")
      math(EXPR caf_patch "${CMAKE_MATCH_1} % 100")
      set(CAF_VERSION ${caf_major}.${caf_minor}.${caf_patch})
    endif()
  endif()
endif()

set(caf_given_root "$ENV{CAF_ROOT}")
if(DEFINED CAF_ROOT)
  set(caf_given_root "${CAF_ROOT}")
endif()
cmake_path(IS_PREFIX caf_given_root "${CAF_LOCATION}" NORMALIZE caf_in_root)

set(caf_accepted NO)
if(NOT CAF_LOCATION)
  set(caf_refusal "install libcaf-dev, or set CMAKE_PREFIX_PATH to where CAF 1.x is installed")
elseif(caf_given_dir AND NOT EXISTS ${caf_given_dir}/CAFConfig.cmake)
  set(caf_refusal "there is no CAFConfig.cmake in CAF_DIR, ${caf_given_dir}")
elseif(caf_given_root AND NOT caf_in_root)
  set(caf_refusal "CAF_ROOT is ${caf_given_root}, but what was found is ${CAF_LOCATION}")
elseif(NOT CAF_VERSION VERSION_EQUAL 0.17.6
       AND NOT (CAF_VERSION VERSION_GREATER_EQUAL 1 AND CAF_VERSION VERSION_LESS 2))
  string(CONCAT caf_refusal
    "CAF ${CAF_VERSION} in ${CAF_LOCATION} is not supported. Supported are 0.17.6 and 1.x: "
    "0.18 and 0.19 lack what statistics of actors need, and later ones are not known here")
elseif(CAF_CONFIG AND NOT TARGET CAF::io)
  set(caf_refusal "CAF ${CAF_VERSION} in ${CAF_LOCATION} was built without its module io")
elseif(NOT CAF_CONFIG AND NOT (CAF_CORE_LIBRARY AND CAF_IO_LIBRARY))
  set(caf_refusal "the libraries caf_core and caf_io are missing")
else()
  set(caf_accepted YES)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CAF REQUIRED_VARS caf_accepted VERSION_VAR CAF_VERSION
                                  HANDLE_COMPONENTS REASON_FAILURE_MESSAGE "${caf_refusal}")

if(CAF_FOUND AND NOT TARGET CAF::core)
  add_library(CAF::core UNKNOWN IMPORTED)
  set_target_properties(CAF::core PROPERTIES IMPORTED_LOCATION ${CAF_CORE_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${CAF_INCLUDE_DIR}
                        INTERFACE_LINK_LIBRARIES Threads::Threads)
  add_library(CAF::io UNKNOWN IMPORTED)
  set_target_properties(CAF::io PROPERTIES IMPORTED_LOCATION ${CAF_IO_LIBRARY}
                        INTERFACE_LINK_LIBRARIES CAF::core)
endif()
if(CAF_openssl_FOUND AND NOT TARGET CAF::openssl)
  add_library(CAF::openssl UNKNOWN IMPORTED)
  set_target_properties(CAF::openssl PROPERTIES IMPORTED_LOCATION ${CAF_OPENSSL_LIBRARY}
                        INTERFACE_LINK_LIBRARIES CAF::io)
endif()
