# run(command args...): runs a command, and stops the script if it fails.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " line)
    message(FATAL_ERROR "failed (${result}): ${line}")
  endif()
endfunction()

# expect_output(regex command args...): runs a command, which must print a text that matches.
function(expect_output regex)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
  if(NOT result EQUAL 0 OR NOT output MATCHES "${regex}")
    list(JOIN ARGN " " line)
    message(FATAL_ERROR "${line} returned ${result}, want 0 and a text that matches ${regex}: ${output}${error}")
  endif()
endfunction()

# install_components(prefix_variable component...): installs components of BUILD_DIR into a folder other than the one that the
# installation is given, as packages and moved installations do. The folder contains nothing else.
function(install_components prefix_variable)
  file(REMOVE_RECURSE ${WORK_DIR}/stage)
  foreach(component IN LISTS ARGN)
    run(${CMAKE_COMMAND} -E env DESTDIR=${WORK_DIR}/stage
        ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix /prefix --component ${component})
  endforeach()
  set(${prefix_variable} ${WORK_DIR}/stage/prefix PARENT_SCOPE)
endfunction()
