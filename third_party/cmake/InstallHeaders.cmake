# Installs the public headers into `include_dir`. Caffe2rtInstall.cmake runs this script at installation, with `source`,
# `include_dir` and `scratch`, a folder for files that it makes, set.
#
# A header is internal, and is not installed, if it opens the namespace caffe2rt without `#pragma GCC visibility` before it.
#
# The headers of these folders were in caffe2_core/runtime before 0.2. Headers there forward to them, for one release.
cmake_policy(VERSION 3.25)
set(folders_from_runtime caffe2_core/executors caffe2_core/plan caffe2_core/model caffe2_core/inspect)
function(install_at_old_path header)
  cmake_path(GET header PARENT_PATH folder)
  if(folder IN_LIST folders_from_runtime)
    cmake_path(GET header FILENAME name)
    set(forwarding ${scratch}/old_paths/${name})
    # Writes a new file in whole, and none that is there: installations may run side by side.
    file(CONFIGURE OUTPUT ${forwarding} @ONLY
         CONTENT "#pragma once\n// ${header} under its old path, which goes with the next release.\n#include \"${header}\"\n")
    file(INSTALL ${forwarding} DESTINATION ${destination}/caffe2_core/runtime MESSAGE_NEVER)
  endif()
endfunction()

cmake_path(ABSOLUTE_PATH include_dir BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" OUTPUT_VARIABLE destination)
foreach(folder caffe2_core contexts operators)
  file(GLOB_RECURSE headers RELATIVE ${source} ${source}/${folder}/*.h ${source}/${folder}/*.cuh)
  foreach(header IN LISTS headers)
    file(STRINGS ${source}/${header} line LIMIT_COUNT 1 REGEX "^(namespace caffe2rt|#pragma GCC visibility)")
    if(NOT line MATCHES "^namespace")
      cmake_path(GET header PARENT_PATH header_folder)
      file(INSTALL ${source}/${header} DESTINATION ${destination}/${header_folder} MESSAGE_NEVER)
      install_at_old_path(${header})
    endif()
  endforeach()
endforeach()
