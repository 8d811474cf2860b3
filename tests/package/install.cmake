# Installs into an empty folder and moves what is there, so that the tests behind this one have a
# package in a place of which it cannot know.
include(${CMAKE_CURRENT_LIST_DIR}/package.cmake)

file(REMOVE_RECURSE ${WORK}/staged ${prefix})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/staged)
file(RENAME ${WORK}/staged ${prefix})

if(EXISTS ${BUILD}/tools/datastream-archive)
  run(${prefix}/bin/datastream-archive --version)
endif()

file(GLOB_RECURSE texts ${prefix}/*.cmake ${prefix}/*.pc ${prefix}/*.hpp)
list(LENGTH texts count)
if(count LESS 80)
  message(SEND_ERROR "only ${count} files were installed")
endif()
foreach(file IN LISTS texts)
  file(READ ${file} text)
  foreach(folder ${WORK} ${BUILD} ${SOURCE})
    string(FIND "${text}" "${folder}" found)
    if(NOT found EQUAL -1)
      message(SEND_ERROR "${file} speaks of ${folder}")
    endif()
  endforeach()
endforeach()
