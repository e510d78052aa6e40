# Part of run.cmake: projects that find the library in other ways than project/.

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

if(COMPLETE)
  include(${CMAKE_CURRENT_LIST_DIR}/run_protos.cmake)
  include(${CMAKE_CURRENT_LIST_DIR}/run_snippets.cmake)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/run_pkg_config.cmake)
