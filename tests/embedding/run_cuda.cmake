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
