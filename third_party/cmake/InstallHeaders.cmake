# Installs the public headers into `include_dir`. Caffe2rtInstall.cmake runs this script at installation, with `source` and
# `include_dir` set.
#
# A header is internal, and is not installed, if it opens the namespace caffe2rt without `#pragma GCC visibility` before it.
cmake_path(ABSOLUTE_PATH include_dir BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" OUTPUT_VARIABLE destination)
foreach(folder caffe2_core contexts operators)
  file(GLOB_RECURSE headers RELATIVE ${source} ${source}/${folder}/*.h ${source}/${folder}/*.cuh)
  foreach(header IN LISTS headers)
    file(STRINGS ${source}/${header} line LIMIT_COUNT 1 REGEX "^(namespace caffe2rt|#pragma GCC visibility)")
    if(NOT line MATCHES "^namespace")
      cmake_path(GET header PARENT_PATH header_folder)
      file(INSTALL ${source}/${header} DESTINATION ${destination}/${header_folder} MESSAGE_NEVER)
    endif()
  endforeach()
endforeach()
