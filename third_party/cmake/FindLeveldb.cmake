# Leveldb::leveldb, from Debian's libleveldb-dev.
include(FindPackageHandleStandardArgs)
find_path(Leveldb_INCLUDE_DIR leveldb/db.h)
find_library(Leveldb_LIBRARY leveldb)
find_package_handle_standard_args(Leveldb REQUIRED_VARS Leveldb_LIBRARY Leveldb_INCLUDE_DIR)
if(Leveldb_FOUND AND NOT TARGET Leveldb::leveldb)
  add_library(Leveldb::leveldb UNKNOWN IMPORTED)
  set_target_properties(Leveldb::leveldb PROPERTIES
    IMPORTED_LOCATION ${Leveldb_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${Leveldb_INCLUDE_DIR})
endif()
mark_as_advanced(Leveldb_INCLUDE_DIR Leveldb_LIBRARY)
