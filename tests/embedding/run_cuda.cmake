# cmake -DBUILD_DIR=... -DPROJECT_DIR=... -DWORK_DIR=... -DGENERATOR=... -DCUDA_COMPILER=... -DFAKE=folder;folder -P run_cuda.cmake
if(NOT EXISTS "${CUDA_COMPILER}")
  message("SKIPPED: nvcc is not installed")
  return()
endif()
include(${CMAKE_CURRENT_LIST_DIR}/run_steps.cmake)
install_components(prefix runtime development CUDA)
string(REPLACE ";" ":" libraries "${FAKE}")
run(${CMAKE_COMMAND} -S ${PROJECT_DIR} -B ${WORK_DIR}/build -G ${GENERATOR}
    -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_BUILD_TYPE=${BUILD_TYPE}
    -DCMAKE_CXX_COMPILER=${CXX_COMPILER} -DCMAKE_CXX_COMPILER_LAUNCHER=${CXX_COMPILER_LAUNCHER}
    -DCMAKE_CUDA_COMPILER=${CUDA_COMPILER} -DCMAKE_CUDA_HOST_COMPILER=${CXX_COMPILER}
    -DCMAKE_CUDA_COMPILER_LAUNCHER=${CXX_COMPILER_LAUNCHER} -DCMAKE_CUDA_ARCHITECTURES=75-virtual
    -DCMAKE_CXX_FLAGS_RELEASE=-O0 -DCMAKE_CUDA_FLAGS_RELEASE=-O0  # the latter of the host's half
    -DCAFFE2_TEST_ON_FAKE=ON -DCAFFE2_TEST_LIBRARIES=${libraries})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build --parallel 2)
run(${CMAKE_CTEST_COMMAND} --test-dir ${WORK_DIR}/build --output-on-failure --no-tests=error)

# The form of Detectron's project, whose kernels CMake's FindCUDA compiles. On the fake, the kernel has no host twin.
cmake_path(GET CUDA_COMPILER PARENT_PATH cuda_bin)
cmake_path(GET cuda_bin PARENT_PATH cuda_root)
set(detectron ${PROJECT_DIR}/../detectron)
run(${CMAKE_COMMAND} -S ${detectron} -B ${WORK_DIR}/detectron -G ${GENERATOR}
    -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_BUILD_TYPE=${BUILD_TYPE} -DCMAKE_CXX_COMPILER=${CXX_COMPILER}
    -DCMAKE_CXX_COMPILER_LAUNCHER=${CXX_COMPILER_LAUNCHER} -DCMAKE_CXX_FLAGS_RELEASE=-O0
    -DCUDA_TOOLKIT_ROOT_DIR=${cuda_root} -DCUDA_USE_STATIC_CUDA_RUNTIME=OFF)
run(${CMAKE_COMMAND} --build ${WORK_DIR}/detectron --target caffe2_detectron_custom_ops_gpu)
set(module ${WORK_DIR}/detectron/libcaffe2_detectron_custom_ops_gpu.so)
set(on_fake ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${libraries} ${prefix}/bin/caffe2)
expect_output("devices: CPU, CUDA" ${on_fake} ops DoubleEven --module ${module})
expect_output("\n +2 2 8\n" ${on_fake} run --module ${module} --predict-net ${detectron}/double_even.pbtxt --device cpu)
execute_process(COMMAND ${on_fake} run --module ${module} --predict-net ${detectron}/double_even.pbtxt --device cuda:0
                RESULT_VARIABLE result ERROR_VARIABLE error)
if(result EQUAL 0 OR NOT error MATCHES "DoubleEvenKernel.* has no host twin")
  message(FATAL_ERROR "DoubleEven on the fake CUDA returned ${result}, want an error that names its kernel: ${error}")
endif()
