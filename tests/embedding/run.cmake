# cmake -DSOURCE_DIR=... -DBUILD_DIR=... -DPROJECT_DIR=... -DWORK_DIR=... -DGENERATOR=... -P run.cmake
include(${CMAKE_CURRENT_LIST_DIR}/run_steps.cmake)

install_components(prefix runtime development)
file(GLOB headers RELATIVE ${prefix}/include ${prefix}/include/*)
file(GLOB_RECURSE files LIST_DIRECTORIES false RELATIVE ${prefix}/include ${prefix}/include/caffe2/*)
list(FILTER files EXCLUDE REGEX "^caffe2/proto/[a-z0-9_]+\\.proto$")
if(NOT headers STREQUAL "caffe2;caffe2rt" OR files)
  message(FATAL_ERROR "include/ has ${headers}, with \"${files}\" besides .proto files in caffe2, want caffe2rt and caffe2/proto/*.proto")
endif()
set(flags "")
if(SANITIZE)
  set(flags -DCMAKE_CXX_FLAGS=-fsanitize=${SANITIZE})
endif()
set(demo ${SOURCE_DIR}/binaries/demo/stripes)
set(configure ${CMAKE_COMMAND} -G ${GENERATOR}
    -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_BUILD_TYPE=${BUILD_TYPE}
    -DCMAKE_CXX_COMPILER=${CXX_COMPILER} -DCMAKE_CXX_FLAGS_DEBUG=  # without -g, a tenth of the compiler's time
    -DCMAKE_CXX_COMPILER_LAUNCHER=${CXX_COMPILER_LAUNCHER} ${flags})

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

# Projects that know the library as Caffe2.
run(${configure} -S ${PROJECT_DIR}/../detectron -B ${WORK_DIR}/detectron -DCMAKE_INSTALL_PREFIX=${WORK_DIR}/detectron_prefix)
run(${CMAKE_COMMAND} --build ${WORK_DIR}/detectron --target install)
run(${configure} -S ${PROJECT_DIR}/../by_library -B ${WORK_DIR}/by_library)
run(${CMAKE_COMMAND} --build ${WORK_DIR}/by_library --parallel 2)
run(${WORK_DIR}/by_library/toy_regression)
foreach(module ${WORK_DIR}/detectron_prefix/lib/libcaffe2_detectron_custom_ops.so ${WORK_DIR}/by_library/libdouble_even.so)
  expect_output("\n +2 2 8\n"
    ${prefix}/bin/caffe2 run --module ${module} --predict-net ${PROJECT_DIR}/../detectron/double_even.pbtxt)
endforeach()
expect_output("\n +3\n.*\n +100\n"
  ${prefix}/bin/caffe2 plan ${PROJECT_DIR}/../by_library/toy_regression.pbtxt --fetch w --fetch ITER)

# A source in an older language: one error that names the remedy, whichever header comes first.
foreach(header caffe2/core/operator.h caffe2/core/common_gpu.h caffe2_core/runtime/operator_registry.h)
  file(WRITE ${WORK_DIR}/old_language.cc "#include \"${header}\"\n")
  execute_process(COMMAND ${CXX_COMPILER} -std=c++17 -fsyntax-only -I${prefix}/include/caffe2rt
                          -I${prefix}/include/caffe2rt/caffe2_core/compat ${WORK_DIR}/old_language.cc
                  RESULT_VARIABLE result ERROR_VARIABLE error)
  string(REGEX MATCHALL "error: [^\n]*" errors "${error}")
  list(GET errors 0 first)
  list(LENGTH errors count)
  if(result EQUAL 0 OR NOT first MATCHES "requires C\\+\\+20: compile with -std=c\\+\\+20" OR NOT count EQUAL 2)
    message(FATAL_ERROR "${header} in C++17 returned ${result} with ${count} errors, want 2, the first of which asks for "
                        "C++20: ${error}")
  endif()
endforeach()

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

if(COMPLETE)
  include(${CMAKE_CURRENT_LIST_DIR}/run_protos.cmake)
  include(${CMAKE_CURRENT_LIST_DIR}/run_snippets.cmake)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/run_pkg_config.cmake)
