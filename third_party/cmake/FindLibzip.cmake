# Libzip::zip, from Debian's libzip-dev.
include(FindPackageHandleStandardArgs)
find_path(Libzip_INCLUDE_DIR zip.h)
find_library(Libzip_LIBRARY zip)
find_package_handle_standard_args(Libzip REQUIRED_VARS Libzip_LIBRARY Libzip_INCLUDE_DIR)
if(Libzip_FOUND AND NOT TARGET Libzip::zip)
  add_library(Libzip::zip UNKNOWN IMPORTED)
  set_target_properties(Libzip::zip PROPERTIES
    IMPORTED_LOCATION ${Libzip_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${Libzip_INCLUDE_DIR})
endif()
mark_as_advanced(Libzip_INCLUDE_DIR Libzip_LIBRARY)
