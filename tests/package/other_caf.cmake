# The package must not meet a CAF that it was not built with: neither in CMake nor in a compiler.
include(${CMAKE_CURRENT_LIST_DIR}/package.cmake)

set(built_with "datastream::actors cannot be used: it was built with CAF ${CAF_VERSION}, but")
set(other ${WORK}/other_caf)
file(REMOVE_RECURSE ${other})

# As a package for CMake: of a version that ours accepts when it is built.
set(folder ${other}/lib/cmake/CAF)
file(WRITE ${folder}/CAFConfig.cmake
     "add_library(CAF::core INTERFACE IMPORTED)\nadd_library(CAF::io INTERFACE IMPORTED)\n")
file(WRITE ${folder}/CAFConfigVersion.cmake "set(PACKAGE_VERSION 1.99.0)\n")
expect_refusal("${built_with} CAF 1.99.0 was found in ${folder}" components -DCOMPONENTS=actors
               -DCAF_DIR=${folder})
expect_refusal("${built_with} CAF 1.99.0 was found in ${folder}" components -DCAF_DIR=${folder})
file(MAKE_DIRECTORY ${other}/empty)
expect_refusal("it needs CAF ${CAF_VERSION}: CAF_ROOT is ${other}/empty" components
               -DCOMPONENTS=actors -DCAF_ROOT=${other}/empty)
configure(code components -DCOMPONENTS=hooks -DCAF_DIR=${folder})
expect_output("hooks: TRUE")

# As headers, empty but for their version: every header of ours that includes CAF refuses them.
function(write_caf_headers major minor patch)
  foreach(include IN LISTS caf_includes)
    file(WRITE ${other}/include/${include} "")
  endforeach()
  file(WRITE ${other}/include/caf/config.hpp "#define CAF_MAJOR_VERSION ${major}\n"
       "#define CAF_MINOR_VERSION ${minor}\n#define CAF_PATCH_VERSION ${patch}\n")
  file(WRITE ${other}/include/caf/detail/build_config.hpp "")
endfunction()

function(preprocess result header)
  run_any(code ${CXX} -std=c++2b -E -I${other}/include -I${prefix}/include ${header} -o ${other}/text)
  set(output "${output}" PARENT_SCOPE)
  set(${result} ${code} PARENT_SCOPE)
endfunction()

set(headers "")
set(caf_includes "")
file(GLOB_RECURSE installed ${prefix}/include/*.hpp)
foreach(header IN LISTS installed)
  file(STRINGS ${header} includes REGEX "#include <caf/")
  if(includes)
    list(APPEND headers ${header})
    list(TRANSFORM includes REPLACE ".*<(.*)>.*" "\\1")
    list(APPEND caf_includes ${includes})
  endif()
endforeach()

string(REGEX MATCH "^([0-9]+)[.]([0-9]+)[.]([0-9]+)" numbers ${CAF_VERSION})
set(numbers ${CMAKE_MATCH_1} ${CMAKE_MATCH_2} ${CMAKE_MATCH_3})
write_caf_headers(${numbers})
preprocess(code ${prefix}/include/datastream/caf/version.hpp)
if(NOT code EQUAL 0)
  message(SEND_ERROR "refused its own CAF:\n${output}")
endif()
write_caf_headers(${numbers}9)
foreach(header IN LISTS headers)
  preprocess(code ${header})
  if(code EQUAL 0)
    message(SEND_ERROR "${header} does not care which CAF it includes")
  endif()
  expect_output("datastream was built with another CAF")
endforeach()
list(LENGTH headers count)
if(count LESS 20)
  message(SEND_ERROR "only ${count} headers include CAF")
endif()
