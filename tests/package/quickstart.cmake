# The program that the README shows, as a project of its own; and a project that asks for everything.
include(${CMAKE_CURRENT_LIST_DIR}/package.cmake)

build(quickstart -DQUICKSTART=${SOURCE}/examples/quickstart.cpp -DCAF_DIR=${CAF_DIR})
run(${WORK}/quickstart/quickstart)
expect_output("worker.log #4 job 2 ")
expect_output("worker.load #5 {\"queue\":2,\"busy\":0.5} ")

# Who names no component gets everything.
configure(code components -DCAF_DIR=${CAF_DIR})
foreach(component ${COMPONENTS_BUILT})
  expect_output("target: ${component} ")
endforeach()
