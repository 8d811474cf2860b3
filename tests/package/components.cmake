# What find_package answers to those who ask for more than there is.
include(${CMAKE_CURRENT_LIST_DIR}/package.cmake)

expect_refusal("datastream::nonsense cannot be used: it is not among what was built and installed: core"
               components -DCOMPONENTS=nonsense)
expect_refusal("datastream::testing cannot be used: it needs nlohmann_json 3.11, which was not found"
               components -DCOMPONENTS=testing -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON)

# What is optional does not fail and is still told.
configure(code components -DCOMPONENTS=testing -DOPTIONAL=nonsense)
expect_output("datastream::nonsense cannot be used")
expect_output("target: core")
expect_output("testing: TRUE")
expect_output("nonsense: FALSE")
expect_output("Configuring done")

# Before 1.0 another minor version is another library.
string(REGEX MATCH "^([0-9]+)[.]([0-9]+)" minor ${VERSION})
math(EXPR next "${CMAKE_MATCH_2} + 1")
configure(code components -DCOMPONENTS=core -DASKED_VERSION=${minor})
expect_output("core: TRUE")
expect_refusal("requested version \"${CMAKE_MATCH_1}.${next}\"" components -DCOMPONENTS=core
               -DASKED_VERSION=${CMAKE_MATCH_1}.${next})
