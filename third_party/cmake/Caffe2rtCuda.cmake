# Finds a CUDA toolkit, if there is one: CUDAToolkit_FOUND says so. Everything is built and tested without.
find_package(CUDAToolkit QUIET)
if(NOT CUDAToolkit_FOUND)
  message(STATUS "No CUDA toolkit: nothing of CUDA is built")
endif()
