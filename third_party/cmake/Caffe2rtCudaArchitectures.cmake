# Default architectures. `list` is what the compiler knows, as `nvcc --list-gpu-arch` prints it.
#
#   caffe2rt_portable_architectures(VARIABLE LIST)          for packages: 75-virtual runs on every supported GPU after a compilation
#                                                           at the first start; 80, 90 and 100 (A100, H100, B200) start at once
#                                                           where the compiler knows them, and GPUs newer than the last of them
#                                                           compile that one
#   caffe2rt_architectures_of_gpus(VARIABLE LIST CAPABILITIES)   for a build from source: those of the machine's GPUs, whose compute
#                                                           capabilities nvidia-smi prints ("9.0"), else 75-virtual
function(caffe2rt_portable_architectures variable list)
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

function(caffe2rt_architectures_of_gpus variable list capabilities)
  string(REGEX MATCHALL "compute_[0-9]+" known "${list}")
  string(REGEX MATCHALL "[0-9]+\\.[0-9]+" gpus "${capabilities}")
  set(architectures)
  foreach(gpu IN LISTS gpus)
    string(REPLACE "." "" number ${gpu})
    if(NOT "compute_${number}" IN_LIST known)
      set(architectures)
      break()
    endif()
    list(APPEND architectures ${number}-real)
  endforeach()
  list(REMOVE_DUPLICATES architectures)
  if(NOT architectures)
    set(architectures 75-virtual)
  endif()
  set(${variable} ${architectures} PARENT_SCOPE)
endfunction()
