# The package for Debian, as `cpack` makes it of what was built.
include(${CMAKE_CURRENT_LIST_DIR}/package.cmake)

file(REMOVE_RECURSE ${WORK}/debian)
get_filename_component(folder ${CMAKE_COMMAND} DIRECTORY)
run(${folder}/cpack -G DEB --config ${BUILD}/CPackConfig.cmake -B ${WORK}/debian)
file(GLOB package ${WORK}/debian/libdatastream-dev_${VERSION}_*.deb)

run(${DPKG_DEB} --info ${package})
expect_output("Package: libdatastream-dev")
expect_output("Section: libdevel")
expect_output("Maintainer: The datastream authors")
expect_output("Depends: nlohmann-json3-dev (>= 3.11)")
if(CAF_LOCATION STREQUAL "/usr/include") # Debian's
  expect_output(", libcaf-dev (>= 0.17.6), libcaf-dev (<< 0.17.7~)")
endif()

run(${DPKG_DEB} --contents ${package})
foreach(file share/doc/libdatastream-dev/copyright share/doc/libdatastream-dev/README.md
             share/doc/libdatastream-dev/docs/user_guide.md
             ${LIBDIR}/libdatastream_core.a ${LIBDIR}/cmake/datastream/datastream-config.cmake
             ${LIBDIR}/pkgconfig/datastream-core.pc include/datastream/pipe/endpoint.hpp)
  expect_output(" ./usr/${file} ")
endforeach()
