# A program that keeps streams on disk: the package finds what an archive is linked with.
include(${CMAKE_CURRENT_LIST_DIR}/package.cmake)

build(archive)
file(REMOVE_RECURSE ${WORK}/kept)
run(${WORK}/archive/stored ${WORK}/kept)
expect_output("demo#1 0 kept")
file(STRINGS ${WORK}/archive/CMakeCache.txt traces REGEX "^CAF_")
if(traces)
  message(SEND_ERROR "an archive has looked for more than it needs: ${traces}")
endif()
