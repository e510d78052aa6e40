# find_package(Caffe2): the variables, targets and functions of the original's package.
#
#   CAFFE2_INCLUDE_DIRS, Caffe2_LIBRARIES, Caffe2_LIBRARY, Caffe2_MAIN_LIBS, Caffe2_CPU, Caffe2_CPU_LIBS
#   with CUDA also Caffe2_GPU, Caffe2_GPU_LIBS and targets caffe2_gpu, Caffe2_GPU
#   with CAFFE2_TEMPLATED_TENSOR set before: for sources in which Tensor is a template over the context
#   targets caffe2, caffe2_protos, Caffe2_CPU; caffe2_binary_target(file.cc), caffe2_library(name ...)
include(CMakeFindDependencyMacro)
find_dependency(caffe2rt HINTS ${CMAKE_CURRENT_LIST_DIR}/../caffe2rt)

set(caffe2_compat caffe2rt::compat)
if(CAFFE2_TEMPLATED_TENSOR)
  set(caffe2_compat caffe2rt::compat_templated)
endif()
foreach(name caffe2 caffe2_gpu caffe2_protos Caffe2_CPU Caffe2_GPU)
  if(NOT TARGET ${name})
    add_library(${name} INTERFACE IMPORTED)
    set_property(TARGET ${name} PROPERTY INTERFACE_LINK_LIBRARIES ${caffe2_compat})
  endif()
endforeach()
set(CAFFE2_INCLUDE_DIRS ${CAFFE2RT_INCLUDE_DIR} ${CAFFE2RT_INCLUDE_DIR}/caffe2_core/compat)
set(Caffe2_INCLUDE_DIRS ${CAFFE2_INCLUDE_DIRS})
set(Caffe2_LIBRARIES ${caffe2_compat})
set(Caffe2_LIBRARY ${caffe2_compat})
set(Caffe2_MAIN_LIBS ${caffe2_compat})
set(Caffe2_CPU_LIBS ${caffe2_compat})
set(Caffe2_CPU ${caffe2_compat})
if(TARGET caffe2rt::cuda)
  foreach(name caffe2_gpu Caffe2_GPU)
    set_property(TARGET ${name} PROPERTY INTERFACE_LINK_LIBRARIES caffe2rt::cuda ${caffe2_compat})
  endforeach()
  set(Caffe2_GPU_LIBS caffe2rt::cuda ${caffe2_compat})
  set(Caffe2_GPU ${Caffe2_GPU_LIBS})
endif()
set(Caffe2_FOUND TRUE)
set(CAFFE2_FOUND TRUE)

if(NOT COMMAND caffe2_binary_target)
  # An executable of one source, called as the source is. Without keywords, as in the original: a target has one form only, and
  # projects add further libraries without them.
  function(caffe2_binary_target source)
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    target_link_libraries(${name} ${Caffe2_MAIN_LIBS})
  endfunction()
  function(caffe2_library name)
    add_library(${name} ${ARGN})
    target_link_libraries(${name} ${Caffe2_MAIN_LIBS})
  endfunction()
endif()
