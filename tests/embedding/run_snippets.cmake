# Part of run.cmake: builds the snippets of README.md and operators/README.md as they stand, and runs the programs.
set(snippets ${WORK_DIR}/snippets)

# extract(document): writes the snippets of SOURCE_DIR/document as files, and sets `folder` to their folder.
macro(extract document)
  string(MAKE_C_IDENTIFIER ${document} folder)
  set(folder ${snippets}/${folder})
  run(${CMAKE_CURRENT_LIST_DIR}/extract_snippets.sh ${SOURCE_DIR}/${document} ${folder})
endmacro()

extract(README.md)
run(${configure} -DCMAKE_BUILD_TYPE=Debug -S ${folder} -B ${folder}/build)
run(${CMAKE_COMMAND} --build ${folder}/build --parallel 2)
file(COPY ${demo}/init_net.pb ${demo}/predict_net.pb DESTINATION ${folder})
expect_output("^[0-9.e-]+\n[0-9.e-]+\n[0-9.e-]+\n[0-9.e-]+\n$"  # the scores of four classes
  ${CMAKE_COMMAND} -E chdir ${folder} build/classify ${demo}/images/rising_1.png)

extract(operators/README.md)
run(${configure} -DCMAKE_BUILD_TYPE=Debug -S ${folder} -B ${folder}/build)
run(${CMAKE_COMMAND} --build ${folder}/build --parallel 2)
expect_output("^y = 4\n$" ${folder}/build/my_program)
expect_output("type: \"ClampSumGradient\"" ${folder}/build/print_gradient)
expect_output("least value" ${prefix}/bin/caffe2 ops ClampSum --module ${folder}/build/libclamp_sum.so)
expect_output("factor" ${prefix}/bin/caffe2 ops MyAffine --module ${folder}/build/libaffine.so)

# The built-in operator: its row is that of a family, and its sources compile in the source tree.
file(WRITE ${folder}/row/CMakeLists.txt "
cmake_minimum_required(VERSION 3.25)
project(row LANGUAGES NONE)
set(CAFFE2RT_HAS_CUDA ON)
function(caffe2rt_sources)
endfunction()
function(caffe2rt_cuda_sources)
endfunction()
include(${SOURCE_DIR}/third_party/cmake/Caffe2rtOperators.cmake)
add_subdirectory(${folder}/operators/image image)
get_property(functions GLOBAL PROPERTY caffe2rt_register_functions)
get_property(cuda_functions GLOBAL PROPERTY caffe2rt_register_cuda_functions)
foreach(function IN LISTS functions cuda_functions)
  message(STATUS \"registers \${function}\")
endforeach()
")
expect_output("registers RegisterBrighten\n.*registers RegisterBrightenCuda\n"
  ${CMAKE_COMMAND} -S ${folder}/row -B ${folder}/row/build)
set(compile ${CXX_COMPILER} -std=c++20 -fsyntax-only -Wall -Wextra -Werror
    -I${folder} -I${SOURCE_DIR} -isystem ${BUILD_DIR}/gen)
run(${compile} ${folder}/operators/image/brighten.cc)
if(CUDA_INCLUDE_DIRS)
  list(TRANSFORM CUDA_INCLUDE_DIRS PREPEND -isystem)
  run(${compile} ${CUDA_INCLUDE_DIRS} ${folder}/row/build/image/brighten_cuda.cc)
  run(${compile} ${CUDA_INCLUDE_DIRS} -x c++ ${folder}/operators/image/brighten.cu)
endif()
