# What the tests of the package share.
#
# They are called with SOURCE and BUILD, the project and its build folder; WORK, a scratch folder;
# GENERATOR and CXX, what it was built with; VERSION, its own; LIBDIR, where libraries are installed
# below a prefix; COMPONENTS_BUILT, with commas between them; with actors, CAF_VERSION, CAF_DIR and CAF_LOCATION as FindCAF left them.

set(prefix ${WORK}/prefix)
string(REPLACE "," ";" COMPONENTS_BUILT "${COMPONENTS_BUILT}")

# Runs a command without what the environment says about where to look for packages. Sets `output`
# to all that it prints, with runs of white space as one space.
function(run_any result)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env --unset=CMAKE_PREFIX_PATH --unset=CAF_ROOT --unset=DESTDIR
            --unset=CXXFLAGS PKG_CONFIG_PATH=${prefix}/${LIBDIR}/pkgconfig ${ARGN}
    OUTPUT_VARIABLE text ERROR_VARIABLE text RESULT_VARIABLE code)
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  set(output "${text}" PARENT_SCOPE)
  set(${result} ${code} PARENT_SCOPE)
endfunction()

# The same of a command that has to succeed.
function(run)
  run_any(code ${ARGN})
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN}\nended with ${code}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# Whether `output` contains the text.
function(expect_output text)
  string(FIND "${output}" "${text}" found)
  if(found EQUAL -1)
    message(SEND_ERROR "expected \"${text}\", but it was:\n${output}")
  endif()
endfunction()

# Configures the project `name` of this folder against the installed package, in WORK/<name>.
function(configure result name)
  file(REMOVE_RECURSE ${WORK}/${name})
  run_any(code ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${name} -B ${WORK}/${name}
          -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_PREFIX_PATH=${prefix} ${ARGN})
  set(output "${output}" PARENT_SCOPE)
  set(${result} ${code} PARENT_SCOPE)
endfunction()

# Configures it, which has to succeed, and builds it.
function(build name)
  configure(code ${name} ${ARGN})
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "cannot configure ${name}:\n${output}")
  endif()
  run(${CMAKE_COMMAND} --build ${WORK}/${name})
endfunction()

# Configures it, which has to fail with that message.
function(expect_refusal message name)
  configure(code ${name} ${ARGN})
  if(code EQUAL 0)
    message(SEND_ERROR "expected \"${message}\" with ${ARGN}, but it was configured")
  endif()
  expect_output("${message}")
endfunction()
