# cmake -DPROJECT_DIR=... -P cuda_architectures_test.cmake: the default architectures of several compilers and machines.
cmake_minimum_required(VERSION 3.25)
include(${PROJECT_DIR}/third_party/cmake/Caffe2rtCudaArchitectures.cmake)

function(expect_portable list want)
  caffe2rt_portable_architectures(got "${list}")
  if(NOT "${got}" STREQUAL "${want}")
    message(SEND_ERROR "packages by a compiler that knows \"${list}\": got ${got}, want ${want}")
  endif()
endfunction()

expect_portable("compute_75\ncompute_80\ncompute_86\ncompute_90\ncompute_100\ncompute_103\ncompute_120\n"
                "75-virtual;80-real;90-real;100")
expect_portable("compute_75\ncompute_80\ncompute_90\n" "75-virtual;80-real;90")
expect_portable("compute_75\n" "75-virtual")
expect_portable("" "75-virtual")

function(expect_of_gpus capabilities want)
  caffe2rt_architectures_of_gpus(got "compute_75\ncompute_80\ncompute_86\ncompute_90\n" "${capabilities}")
  if(NOT "${got}" STREQUAL "${want}")
    message(SEND_ERROR "a machine whose GPUs have \"${capabilities}\": got ${got}, want ${want}")
  endif()
endfunction()

expect_of_gpus("" "75-virtual")
expect_of_gpus("9.0\n" "90-real")
expect_of_gpus("8.6\n8.6\n9.0\n" "86-real;90-real")
expect_of_gpus("12.0\n" "75-virtual")  # unknown to the compiler
expect_of_gpus("9.0\n12.0\n" "75-virtual")
expect_of_gpus("[N/A]\n" "75-virtual")
