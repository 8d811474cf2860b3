# Which CAF is taken and which is refused: configures `caf_choice/` against made-up installations.
#
#   cmake -DMODULES=<folder of FindCAF.cmake> -DWORK=<scratch folder> -P caf_choice.cmake
include(CMakePackageConfigHelpers)

# What CAF 0.18 and later install.
function(install_package prefix version)
  set(folder ${prefix}/lib/cmake/CAF)
  file(WRITE ${folder}/CAFConfig.cmake
       "add_library(CAF::core INTERFACE IMPORTED)\nadd_library(CAF::io INTERFACE IMPORTED)\n")
  write_basic_package_version_file(${folder}/CAFConfigVersion.cmake VERSION ${version}
                                   COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
endfunction()

# What CAF 0.17 installs.
function(install_headers prefix number)
  file(WRITE ${prefix}/include/caf/config.hpp "#define CAF_VERSION ${number}\n")
  file(WRITE ${prefix}/lib/libcaf_core.so "")
  file(WRITE ${prefix}/lib/libcaf_io.so "")
endfunction()

function(expect answer)
  file(REMOVE_RECURSE ${WORK}/build)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env --unset=CMAKE_PREFIX_PATH --unset=CAF_ROOT ${CMAKE_COMMAND}
            -S ${CMAKE_CURRENT_LIST_DIR}/caf_choice -B ${WORK}/build -DCMAKE_MODULE_PATH=${MODULES} ${ARGN}
    OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  string(FIND "${output}" "${answer}" found)
  if(found EQUAL -1)
    message(SEND_ERROR "expected \"${answer}\" with ${ARGN}, but:\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
foreach(version 0.18.7 0.19.6 2.0.0)
  install_package(${WORK}/${version} ${version})
  expect("CAF ${version} in ${WORK}/${version}/lib/cmake/CAF is not supported"
         -DCMAKE_PREFIX_PATH=${WORK}/${version})
  expect("CAF ${version} in ${WORK}/${version}/lib/cmake/CAF is not supported"
         -DCAF_DIR=${WORK}/${version}/lib/cmake/CAF)
endforeach()
foreach(version 1.0.0 1.0.2 1.1.0)
  install_package(${WORK}/${version} ${version})
  expect("taken: ${version}" -DCMAKE_PREFIX_PATH=${WORK}/${version})
endforeach()
install_headers(${WORK}/headers-0.17.6 1706)
expect("taken: 0.17.6" -DCAF_ROOT=${WORK}/headers-0.17.6)
install_headers(${WORK}/headers-0.18.7 1807)
expect("CAF 0.18.7 in ${WORK}/headers-0.18.7/include is not supported"
       -DCMAKE_PREFIX_PATH=${WORK}/headers-0.18.7)
install_headers(${WORK}/headers-octal 0100)
expect("CAF of unknown version in ${WORK}/headers-octal/include is not supported"
       -DCMAKE_PREFIX_PATH=${WORK}/headers-octal)
# Where the user points to nothing, nothing else is taken instead.
file(MAKE_DIRECTORY ${WORK}/empty)
expect("there is no CAFConfig.cmake in CAF_DIR" -DCAF_DIR=${WORK}/empty
       -DCMAKE_PREFIX_PATH=${WORK}/1.1.0)
expect("CAF_ROOT is ${WORK}/empty, but what was found is" -DCAF_ROOT=${WORK}/empty
       -DCMAKE_PREFIX_PATH=${WORK}/1.1.0)
