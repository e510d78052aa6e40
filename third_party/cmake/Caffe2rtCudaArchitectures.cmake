# caffe2rt_cuda_architectures(VARIABLE LIST): sets the default of CMAKE_CUDA_ARCHITECTURES. LIST is what the compiler knows, as
# `nvcc --list-gpu-arch` prints it. 75-virtual runs on every supported GPU after a compilation at the first start; 80, 90 and 100
# (A100, H100, B200) start at once where the compiler knows them, and GPUs newer than the last of them compile that one.
function(caffe2rt_cuda_architectures variable list)
  string(REGEX MATCHALL "compute_[0-9]+" known "${list}")
  set(architectures 75-virtual)
  foreach(number 80 90 100)
    if("compute_${number}" IN_LIST known)
      list(APPEND architectures ${number}-real)
    endif()
  endforeach()
  list(TRANSFORM architectures REPLACE "-real$" "" AT -1)
  set(${variable} ${architectures} PARENT_SCOPE)
endfunction()
