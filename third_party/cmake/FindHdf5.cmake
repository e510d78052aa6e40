# Hdf5::hdf5, from Debian's libhdf5-dev, which keeps the library for one process under a name of its own.
include(FindPackageHandleStandardArgs)
find_path(Hdf5_INCLUDE_DIR hdf5_hl.h PATH_SUFFIXES hdf5/serial)
find_library(Hdf5_LIBRARY NAMES hdf5_serial hdf5 PATH_SUFFIXES hdf5/serial)
find_library(Hdf5_HL_LIBRARY NAMES hdf5_serial_hl hdf5_hl PATH_SUFFIXES hdf5/serial)
find_package_handle_standard_args(Hdf5 REQUIRED_VARS Hdf5_LIBRARY Hdf5_HL_LIBRARY Hdf5_INCLUDE_DIR)
if(Hdf5_FOUND AND NOT TARGET Hdf5::hdf5)
  add_library(Hdf5::hdf5 UNKNOWN IMPORTED)
  set_target_properties(Hdf5::hdf5 PROPERTIES
    IMPORTED_LOCATION ${Hdf5_HL_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${Hdf5_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES ${Hdf5_LIBRARY})
endif()
mark_as_advanced(Hdf5_INCLUDE_DIR Hdf5_LIBRARY Hdf5_HL_LIBRARY)
