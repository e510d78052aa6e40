# Lmdb::lmdb, from Debian's liblmdb-dev.
include(FindPackageHandleStandardArgs)
find_path(Lmdb_INCLUDE_DIR lmdb.h)
find_library(Lmdb_LIBRARY lmdb)
find_package_handle_standard_args(Lmdb REQUIRED_VARS Lmdb_LIBRARY Lmdb_INCLUDE_DIR)
if(Lmdb_FOUND AND NOT TARGET Lmdb::lmdb)
  add_library(Lmdb::lmdb UNKNOWN IMPORTED)
  set_target_properties(Lmdb::lmdb PROPERTIES
    IMPORTED_LOCATION ${Lmdb_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${Lmdb_INCLUDE_DIR})
endif()
mark_as_advanced(Lmdb_INCLUDE_DIR Lmdb_LIBRARY)
