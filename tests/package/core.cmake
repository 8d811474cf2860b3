# A program without actors.
include(${CMAKE_CURRENT_LIST_DIR}/package.cmake)

build(core)
run(${WORK}/core/without_actors)
expect_output("demo.log #0 hello")
file(STRINGS ${WORK}/core/CMakeCache.txt traces REGEX "^(CAF|Boost)_")
if(traces)
  message(SEND_ERROR "the core alone has looked for more than it needs: ${traces}")
endif()
