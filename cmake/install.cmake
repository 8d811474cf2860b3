# What is installed: the components, the CMake package `datastream` and files for pkg-config; and
# what `cpack -G DEB` makes of them. A new component is one line here.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/datastream)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(doc_dir ${CMAKE_INSTALL_DATAROOTDIR}/doc/libdatastream-dev)
file(RELATIVE_PATH pkgconfig_to_prefix /prefix/${pkgconfig_dir} /prefix)

set(components "")
set(needs_of_components "")
set(debian_depends "")
set(caf_debian "")

if(TARGET datastream_caf)
  find_package(CAF MODULE QUIET REQUIRED)
  # Another CAF than Debian's comes from no Debian package.
  if(CAF_LOCATION MATCHES "^/usr/(include|lib)")
    string(REGEX MATCH "^(.*[.])([0-9]+)$" unused ${CAF_VERSION})
    math(EXPR next_patch "${CMAKE_MATCH_2} + 1")
    set(caf_debian "libcaf-dev (>= ${CAF_VERSION})" "libcaf-dev (<< ${CMAKE_MATCH_1}${next_patch}~)")
  endif()
endif()

# What components link to and do not bring along: how CMake and pkg-config find it, and in which
# Debian packages it is.
function(datastream_dependency target)
  cmake_parse_arguments(arg "" "REQUIRES;LIBS" "FIND;DEBIAN" ${ARGN})
  foreach(key FIND REQUIRES LIBS DEBIAN)
    set_property(GLOBAL PROPERTY datastream_${key}_${target} "${arg_${key}}")
  endforeach()
endfunction()

datastream_dependency(Threads::Threads FIND Threads LIBS -pthread)
datastream_dependency(nlohmann_json::nlohmann_json FIND "nlohmann_json 3.11"
                      REQUIRES "nlohmann_json >= 3.11" DEBIAN "nlohmann-json3-dev (>= 3.11)")
datastream_dependency(CAF::core FIND Threads CAF LIBS "-lcaf_core -pthread" DEBIAN ${caf_debian})
datastream_dependency(CAF::io FIND CAF LIBS "-lcaf_io -lcaf_core" DEBIAN ${caf_debian})
datastream_dependency(Storage::rocksdb FIND Storage LIBS -lrocksdb DEBIAN librocksdb-dev)
datastream_dependency(Storage::zstd FIND Storage LIBS -lzstd DEBIAN libzstd-dev)

# Installs the target datastream_<name>, if it was built, as the component <name>. What it needs is
# read from the target; components that it needs come before it.
function(datastream_component name description)
  set(target datastream_${name})
  if(NOT TARGET ${target})
    return()
  endif()
  set(needs "")    # components, in an order in which they can be loaded
  set(finds "")    # arguments of find_package, as CMake's package has them
  set(requires "") # as the file for pkg-config has them
  set(libs "")
  get_target_property(links ${target} INTERFACE_LINK_LIBRARIES)
  list(FILTER links EXCLUDE REGEX "BUILD_INTERFACE")
  foreach(link IN LISTS links)
    string(REGEX REPLACE "^[$]<LINK_ONLY:(.*)>$" "\\1" link "${link}")
    if(link MATCHES "^datastream::(.*)$")
      list(APPEND needs ${needs_of_${CMAKE_MATCH_1}} ${CMAKE_MATCH_1})
      list(APPEND finds ${finds_of_${CMAKE_MATCH_1}})
      string(REPLACE _ - other datastream-${CMAKE_MATCH_1})
      list(APPEND requires "${other} = ${PROJECT_VERSION}")
    else()
      foreach(key FIND REQUIRES LIBS DEBIAN)
        get_property(${key} GLOBAL PROPERTY datastream_${key}_${link})
      endforeach()
      if(NOT FIND)
        message(FATAL_ERROR "${target} links to ${link}: a datastream_dependency in "
                            "cmake/install.cmake has to say where users have it from")
      endif()
      list(APPEND finds ${FIND})
      list(APPEND requires ${REQUIRES})
      list(APPEND libs ${LIBS})
      list(APPEND debian_depends ${DEBIAN})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES needs)
  list(REMOVE_DUPLICATES finds)
  list(REMOVE_DUPLICATES debian_depends)

  get_target_property(type ${target} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    list(PREPEND libs "-L\${libdir}" -l${target})
  endif()
  install(TARGETS ${target} EXPORT ${target} FILE_SET HEADERS)
  install(EXPORT ${target} NAMESPACE datastream:: DESTINATION ${package_dir}
          FILE datastream-${name}-targets.cmake)
  string(REPLACE _ - pc_name datastream-${name})
  list(JOIN requires ", " requires)
  list(JOIN libs " " libs)
  configure_file(cmake/datastream.pc.in ${PROJECT_BINARY_DIR}/pkgconfig/${pc_name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/${pc_name}.pc DESTINATION ${pkgconfig_dir})

  string(APPEND needs_of_components
         "set(datastream_needs_of_${name} ${needs})\nset(datastream_finds_of_${name} \"${finds}\")\n")
  list(APPEND components ${name})
  set(needs_of_${name} ${needs} PARENT_SCOPE)
  set(finds_of_${name} ${finds} PARENT_SCOPE)
  set(needs_of_components "${needs_of_components}" PARENT_SCOPE)
  set(components ${components} PARENT_SCOPE)
  set(debian_depends ${debian_depends} PARENT_SCOPE)
endfunction()

datastream_component(core "values, pipe, ingest and views of datastream")
datastream_component(testing "support for tests of programs that use datastream")
datastream_component(archive "streams of datastream on disk")
datastream_component(caf "what differs between versions of CAF (headers only)")
datastream_component(actors "the pipe of datastream as CAF actors")
datastream_component(archive_actor "an archive of datastream that CAF actors write to")
datastream_component(hooks "processes, host and actors as sources of datastream")
datastream_component(hooks_caf "observes the actors of a CAF program for datastream")
datastream_component(envelope "the legacy envelope of datastream, over UDP and TCP")
datastream_component(envelope_caf "the legacy envelope of datastream between actors, and bridges")

if(TARGET datastream_archive_tool)
  install(TARGETS datastream_archive_tool)
endif()

configure_file(cmake/datastream-config.cmake.in datastream-config.cmake @ONLY)
write_basic_package_version_file(datastream-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/datastream-config.cmake
              ${PROJECT_BINARY_DIR}/datastream-config-version.cmake
              actors/cmake/FindCAF.cmake
              libdatastream/archive/cmake/FindStorage.cmake
        DESTINATION ${package_dir})
install(FILES README.md CHANGELOG.md DESTINATION ${doc_dir})
install(DIRECTORY docs DESTINATION ${doc_dir} FILES_MATCHING PATTERN *.md PATTERN *.svg)
install(FILES LICENSE DESTINATION ${doc_dir} RENAME copyright)

if(PROJECT_IS_TOP_LEVEL)
  set(CPACK_GENERATOR DEB)
  set(CPACK_VERBATIM_VARIABLES ON)
  set(CPACK_PACKAGE_NAME libdatastream-dev)
  set(CPACK_PACKAGE_VENDOR "The datastream authors")
  set(CPACK_PACKAGE_CONTACT "The datastream authors")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
      GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
  list(JOIN debian_depends ", " CPACK_DEBIAN_PACKAGE_DEPENDS)
  list(JOIN components ", " component_names)
  set(CPACK_PACKAGE_DESCRIPTION "Static libraries and headers. Components: ${component_names}.")
  if(TARGET datastream_caf)
    string(APPEND CPACK_PACKAGE_DESCRIPTION "\nBuilt with CAF ${CAF_VERSION}, and of use with no other.")
  endif()
  include(CPack)
endif()
