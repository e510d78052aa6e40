# Part of run.cmake: what is installed, and the project that uses most of it.
file(GLOB headers RELATIVE ${prefix}/include ${prefix}/include/*)
file(GLOB_RECURSE files LIST_DIRECTORIES false RELATIVE ${prefix}/include ${prefix}/include/caffe2/*)
list(FILTER files EXCLUDE REGEX "^caffe2/proto/[a-z0-9_]+\\.proto$")
if(NOT headers STREQUAL "caffe2;caffe2rt" OR files)
  message(FATAL_ERROR "include/ has ${headers}, with \"${files}\" besides .proto files in caffe2, want caffe2rt and caffe2/proto/*.proto")
endif()

# Without a dependency, the error names the package to install.
execute_process(COMMAND ${configure} -S ${PROJECT_DIR} -B ${WORK_DIR}/missing -DCMAKE_DISABLE_FIND_PACKAGE_Protobuf=ON
                RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE error)
if(result EQUAL 0 OR NOT error MATCHES "libprotobuf-dev")
  message(FATAL_ERROR "configuring without Protobuf returned ${result} and the error does not name its package: ${error}")
endif()

run(${configure} -S ${PROJECT_DIR} -B ${WORK_DIR}/build -DEMBEDDING_COMPLETE=${COMPLETE} -DEMBEDDING_PCH=${PCH}
    -DEMBEDDING_DEMO=${demo})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build --parallel 2)
run(${CMAKE_CTEST_COMMAND} --test-dir ${WORK_DIR}/build --output-on-failure --no-tests=error)

# Both kinds of library are installed. From Python, which opens the shared one with local symbols, also with a module.
file(GLOB shared_library ${prefix}/lib*/libcaffe2rt.so ${prefix}/lib*/*/libcaffe2rt.so)
file(GLOB static_library ${prefix}/lib*/libcaffe2rt.a ${prefix}/lib*/*/libcaffe2rt.a)
if(NOT SANITIZE AND (NOT shared_library OR NOT static_library))
  message(FATAL_ERROR "the installation has the libraries \"${shared_library}\" and \"${static_library}\", want both kinds")
endif()
find_program(python python3)
if(python AND NOT SANITIZE)
  execute_process(
    COMMAND ${python} ${PROJECT_DIR}/classify.py ${shared_library} ${demo}/init_net.pb ${demo}/predict_net.pb
            ${WORK_DIR}/build/libclamp_sum.so
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
  if(NOT result EQUAL 0 OR NOT output MATCHES "class 1 of 4")
    message(FATAL_ERROR "classify.py returned ${result}, want \"class 1 of 4\": ${output}${error}")
  endif()
else()
  message(STATUS "Python 3 is not installed, or the build has sanitizers: the shared library is not used from Python")
endif()
