# A program that is built with nothing but what pkg-config says.
include(${CMAKE_CURRENT_LIST_DIR}/package.cmake)

file(GLOB files ${prefix}/${LIBDIR}/pkgconfig/*.pc)
list(TRANSFORM files REPLACE ".*/(.*)[.]pc" "\\1")
run(${PKG_CONFIG} --validate ${files})
run(${PKG_CONFIG} --modversion ${files})
string(REGEX MATCHALL "[^ ]+" versions "${output}")
list(REMOVE_DUPLICATES versions)
if(NOT versions STREQUAL VERSION)
  message(SEND_ERROR "expected version ${VERSION} of all, but it was ${versions}")
endif()

# The whole of every component is linked, so that nothing can be missing that the program does not
# happen to call.
run(${PKG_CONFIG} --cflags ${files})
separate_arguments(cflags UNIX_COMMAND "${output}")
run(${PKG_CONFIG} --libs ${files})
separate_arguments(libs UNIX_COMMAND "${output}")
if(CAF_DIR) # of which only CMake knows where it is
  cmake_path(SET caf_lib NORMALIZE ${CAF_DIR}/../..)
  list(APPEND libs -L${caf_lib} -Wl,-rpath,${caf_lib})
endif()
run(${CXX} -std=c++2b ${cflags} ${CMAKE_CURRENT_LIST_DIR}/core/without_actors.cpp
    -Wl,--whole-archive ${libs} -Wl,--no-whole-archive -o ${WORK}/by_pkg_config)
run(${WORK}/by_pkg_config)
expect_output("demo.log #0 hello")
