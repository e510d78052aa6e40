# find_package(Caffe2): the variables, targets and functions of the original's package.
#
#   CAFFE2_VERSION, Caffe2_VERSION: that of Caffe2 whose names the headers have (caffe2/core/macros.h)
#   CAFFE2_INCLUDE_DIRS, Caffe2_LIBRARIES, Caffe2_LIBRARY, Caffe2_MAIN_LIBS, Caffe2_CPU, Caffe2_CPU_LIBS
#   with CUDA also Caffe2_GPU, Caffe2_GPU_LIBS and targets caffe2_gpu, caffe2_gpu_library, Caffe2_GPU
#   CAFFE2_FOUND_CUDA, CAFFE2_USE_CUDA: whether CUDA_ADD_LIBRARY builds kernels against the library
#   with CAFFE2_TEMPLATED_TENSOR set before: for sources in which Tensor is a template over the context
#   targets caffe2, caffe2_library, caffe2_protos, Caffe2_CPU; caffe2_binary_target(file.cc), caffe2_library(name ...)
#
# As in the original, all of them stand for the shared library, so that modules, the libraries and the programs of a project have
# one copy of it. The program `caffe2` loads such modules, also if it contains the static library. They stand for the static
# library only where no shared one is installed.
cmake_policy(VERSION 3.15...3.25)  # projects of those years ask for CMake 2.8, which lacks IN_LIST
include(CMakeFindDependencyMacro)
find_dependency(caffe2rt HINTS ${CMAKE_CURRENT_LIST_DIR}/../caffe2rt)

set(caffe2_headers caffe2rt::compat_headers)
if(CAFFE2_TEMPLATED_TENSOR)
  set(caffe2_headers caffe2rt::compat_templated_headers)
endif()
set(caffe2_runtime caffe2rt::caffe2rt)
if(TARGET caffe2rt::shared)
  set(caffe2_runtime caffe2rt::shared)
endif()
# CUDA's half comes first, for a static core to give what it needs.
set(caffe2_compat ${caffe2_headers} ${caffe2_runtime})
set(caffe2_compat_gpu ${caffe2_compat})
if(TARGET caffe2rt::cuda)
  list(PREPEND caffe2_compat_gpu caffe2rt::cuda)
  if(CMAKE_CUDA_COMPILER)  # the project has kernels, and one CUDAContext in all its sources
    set(caffe2_compat ${caffe2_compat_gpu})
  endif()
endif()

foreach(name caffe2 caffe2_library caffe2_protos Caffe2_CPU)
  if(NOT TARGET ${name})
    add_library(${name} INTERFACE IMPORTED)
    set_property(TARGET ${name} PROPERTY INTERFACE_LINK_LIBRARIES ${caffe2_compat})
  endif()
endforeach()
foreach(name caffe2_gpu caffe2_gpu_library Caffe2_GPU)
  if(NOT TARGET ${name})
    add_library(${name} INTERFACE IMPORTED)
    set_property(TARGET ${name} PROPERTY INTERFACE_LINK_LIBRARIES ${caffe2_compat_gpu})
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
  set(Caffe2_GPU_LIBS ${caffe2_compat_gpu})
  set(Caffe2_GPU ${caffe2_compat_gpu})
endif()
# CUDA_ADD_LIBRARY is a function of CMake's FindCUDA, for projects that do not enable the language CUDA. The flags of the host's
# compiler name an older C++ in such projects, so they are not for nvcc.
set(CAFFE2_FOUND_CUDA FALSE)
if(TARGET caffe2rt::cuda AND CMAKE_CUDA_COMPILER)
  set(CAFFE2_FOUND_CUDA TRUE)
elseif(TARGET caffe2rt::cuda AND CUDAToolkit_FOUND)
  if(POLICY CMP0146)  # CMake 3.27 and later: find FindCUDA, which is deprecated
    cmake_policy(SET CMP0146 OLD)
  endif()
  find_package(CUDA QUIET MODULE)
  if(CUDA_FOUND)
    set(CAFFE2_FOUND_CUDA TRUE)
    set(CUDA_PROPAGATE_HOST_FLAGS OFF)
    list(APPEND CUDA_NVCC_FLAGS -std=c++20)
  endif()
endif()
if(TARGET caffe2rt::cuda AND NOT CAFFE2_FOUND_CUDA AND NOT Caffe2_FIND_QUIETLY)
  message(STATUS "Caffe2: CUDA_ADD_LIBRARY is not available, because CMake finds no CUDA toolkit: CAFFE2_FOUND_CUDA is FALSE")
endif()
set(CAFFE2_USE_CUDA ${CAFFE2_FOUND_CUDA})
set(CAFFE2_VERSION ${Caffe2_VERSION})  # that of Caffe2ConfigVersion.cmake
set(CAFFE2_VERSION_MAJOR ${Caffe2_VERSION_MAJOR})
set(CAFFE2_VERSION_MINOR ${Caffe2_VERSION_MINOR})
set(CAFFE2_VERSION_PATCH ${Caffe2_VERSION_PATCH})
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
