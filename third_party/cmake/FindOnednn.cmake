# Onednn::onednn, from Debian's libdnnl-dev. Not by its own package file: that wants OpenCL's development files, which
# libdnnl-dev does not bring and nobody needs here.
include(FindPackageHandleStandardArgs)
find_path(Onednn_INCLUDE_DIR oneapi/dnnl/dnnl.hpp)
find_library(Onednn_LIBRARY dnnl)
find_package_handle_standard_args(Onednn REQUIRED_VARS Onednn_LIBRARY Onednn_INCLUDE_DIR)
if(Onednn_FOUND AND NOT TARGET Onednn::onednn)
  add_library(Onednn::onednn UNKNOWN IMPORTED)
  set_target_properties(Onednn::onednn PROPERTIES
    IMPORTED_LOCATION ${Onednn_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${Onednn_INCLUDE_DIR})
endif()
mark_as_advanced(Onednn_INCLUDE_DIR Onednn_LIBRARY)
