# Gloo::gloo, from Debian's libgloo-dev.
include(FindPackageHandleStandardArgs)
find_path(Gloo_INCLUDE_DIR gloo/context.h)
find_library(Gloo_LIBRARY gloo)
find_package_handle_standard_args(Gloo REQUIRED_VARS Gloo_LIBRARY Gloo_INCLUDE_DIR)
if(Gloo_FOUND AND NOT TARGET Gloo::gloo)
  set(gloo_include_dirs ${Gloo_INCLUDE_DIR})
  if(NOT EXISTS ${Gloo_INCLUDE_DIR}/gloo/common/memory.h)
    configure_file(${CMAKE_CURRENT_LIST_DIR}/GlooMemory.h.in ${PROJECT_BINARY_DIR}/gloo_missing/gloo/common/memory.h COPYONLY)
    list(APPEND gloo_include_dirs ${PROJECT_BINARY_DIR}/gloo_missing)
  endif()
  add_library(Gloo::gloo UNKNOWN IMPORTED)
  set_target_properties(Gloo::gloo PROPERTIES
    IMPORTED_LOCATION ${Gloo_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES "${gloo_include_dirs}")
endif()
mark_as_advanced(Gloo_INCLUDE_DIR Gloo_LIBRARY)
