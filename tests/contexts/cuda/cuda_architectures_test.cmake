# cmake -DPROJECT_DIR=... -P cuda_architectures_test.cmake: the default architectures of several compilers.
cmake_minimum_required(VERSION 3.25)
include(${PROJECT_DIR}/third_party/cmake/Caffe2rtCudaArchitectures.cmake)

function(expect list want)
  caffe2rt_cuda_architectures(got "${list}")
  if(NOT "${got}" STREQUAL "${want}")
    message(SEND_ERROR "compiler that knows \"${list}\": got ${got}, want ${want}")
  endif()
endfunction()

expect("compute_75\ncompute_80\ncompute_86\ncompute_90\ncompute_100\ncompute_103\ncompute_120\n" "75-virtual;80-real;90-real;100")
expect("compute_75\ncompute_80\ncompute_90\n" "75-virtual;80-real;90")
expect("compute_75\n" "75-virtual")
expect("" "75-virtual")
