# Numa::numa, from Debian's libnuma-dev.
include(FindPackageHandleStandardArgs)
find_path(Numa_INCLUDE_DIR numa.h)
find_library(Numa_LIBRARY numa)
find_package_handle_standard_args(Numa REQUIRED_VARS Numa_LIBRARY Numa_INCLUDE_DIR)
if(Numa_FOUND AND NOT TARGET Numa::numa)
  add_library(Numa::numa UNKNOWN IMPORTED)
  set_target_properties(Numa::numa PROPERTIES
    IMPORTED_LOCATION ${Numa_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${Numa_INCLUDE_DIR})
endif()
mark_as_advanced(Numa_INCLUDE_DIR Numa_LIBRARY)
