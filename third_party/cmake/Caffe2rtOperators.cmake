# How an operator is registered: one row in its family's CMakeLists.txt names its stem and what it has (operators/README.md).
#
#   caffe2rt_operator(spatial_bn CUDA KERNELS CUDNN)
#
#   always    spatial_bn.cc, which defines RegisterSpatialBn(): schema, gradient maker, CPU operators
#   CUDA      spatial_bn_cuda.cc, which defines RegisterSpatialBnCuda(): operators on CUDA
#   KERNELS   spatial_bn.cu: kernels and their launch functions
#   EXACT     the same, for kernels whose results have the bits of the host's (Caffe2rtCuda.cmake)
#   IDEEP     spatial_bn_ideep.cc, which defines RegisterSpatialBnIdeep(): operators on IDEEP (contexts/onednn)
#   CUDNN     spatial_bn_cudnn.cc, which defines RegisterSpatialBnCudnn(); in builds with cuDNN's headers
#
# The calls of all Register functions are generated from the rows, in the order in which the families are listed
# (caffe2rt_generate_registration). A file that does not exist fails the configuration, a Register function that is not
# defined fails the link.

# spatial_bn becomes SpatialBn.
function(caffe2rt_camel_case stem result)
  string(REPLACE "_" ";" words ${stem})
  set(camel)
  foreach(word IN LISTS words)
    string(SUBSTRING ${word} 0 1 first)
    string(SUBSTRING ${word} 1 -1 rest)
    string(TOUPPER ${first} first)
    string(APPEND camel ${first}${rest})
  endforeach()
  set(${result} ${camel} PARENT_SCOPE)
endfunction()

function(caffe2rt_require_source source)
  if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${source})
    message(FATAL_ERROR "operator row in ${CMAKE_CURRENT_SOURCE_DIR}/CMakeLists.txt: ${source} does not exist")
  endif()
endfunction()

function(caffe2rt_operator stem)
  cmake_parse_arguments(has "CUDA;KERNELS;EXACT;CUDNN;IDEEP" "" "" ${ARGN})
  if(has_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "caffe2rt_operator(${stem}): unknown \"${has_UNPARSED_ARGUMENTS}\", want CUDA, KERNELS, EXACT, CUDNN or IDEEP")
  endif()
  get_property(stems GLOBAL PROPERTY caffe2rt_operator_stems)
  if(stem IN_LIST stems)
    message(FATAL_ERROR "caffe2rt_operator(${stem}): a second row for this stem")
  endif()
  set_property(GLOBAL APPEND PROPERTY caffe2rt_operator_stems ${stem})
  caffe2rt_camel_case(${stem} name)
  caffe2rt_require_source(${stem}.cc)
  caffe2rt_sources(${stem}.cc)
  set_property(GLOBAL APPEND PROPERTY caffe2rt_register_functions Register${name})
  if(has_IDEEP)
    caffe2rt_require_source(${stem}_ideep.cc)
    caffe2rt_sources(${stem}_ideep.cc)
    set_property(GLOBAL APPEND PROPERTY caffe2rt_register_functions Register${name}Ideep)
  endif()
  if(has_CUDA)
    caffe2rt_require_source(${stem}_cuda.cc)
    caffe2rt_cuda_sources(${stem}_cuda.cc)
    set_property(GLOBAL APPEND PROPERTY caffe2rt_register_cuda_functions Register${name}Cuda)
  endif()
  if(has_KERNELS)
    caffe2rt_require_source(${stem}.cu)
    caffe2rt_cuda_sources(${stem}.cu)
  endif()
  if(has_EXACT)
    caffe2rt_require_source(${stem}.cu)
    caffe2rt_exact_kernels(${stem}.cu)
  endif()
  if(has_CUDNN)
    caffe2rt_require_source(${stem}_cudnn.cc)
    if(CAFFE2RT_HAS_CUDNN)
      caffe2rt_cuda_sources(${stem}_cudnn.cc)
      set_property(GLOBAL APPEND PROPERTY caffe2rt_register_cuda_functions Register${name}Cudnn)
    endif()
  endif()
endfunction()

# Declarations and calls of the functions in `property`.
function(caffe2rt_registration_text property declarations calls)
  get_property(functions GLOBAL PROPERTY ${property})
  set(declared)
  set(called)
  foreach(function IN LISTS functions)
    string(APPEND declared "void ${function}();\n")
    string(APPEND called "  ${function}();\n")
  endforeach()
  set(${declarations} "${declared}" PARENT_SCOPE)
  set(${calls} "${called}" PARENT_SCOPE)
endfunction()

# Writes the sources that call every Register function and adds them. To be called once, after all rows.
function(caffe2rt_generate_registration)
  caffe2rt_registration_text(caffe2rt_register_functions DECLARATIONS CALLS)
  configure_file(register.cc.in register.cc @ONLY)
  target_sources(caffe2rt PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/register.cc)
  if(CAFFE2RT_HAS_CUDA)
    caffe2rt_registration_text(caffe2rt_register_cuda_functions DECLARATIONS CALLS)
    configure_file(register_cuda.cc.in register_cuda.cc @ONLY)
    target_sources(caffe2_cuda_objects PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/register_cuda.cc)
  endif()
endfunction()
