# cmake --install: bin/caffe2, libraries, headers in include/caffe2rt, .proto files in include/caffe2/proto, and the packages
# caffe2rt (targets caffe2rt::caffe2rt, caffe2rt::module, caffe2rt::compat, caffe2rt::compat_templated, caffe2rt::counted_new) and
# Caffe2 (the names of the original's package, over caffe2rt::compat_headers and the shared library).
#
# Both kinds of library are installed: caffe2rt::caffe2rt is of the kind that BUILD_SHARED_LIBS says, caffe2rt::shared and
# caffe2rt::static are of theirs. The shared one is also called libcaffe2.so.
#
# Components: `runtime` (the program, the shared library), `development` (headers, CMake files, the static library) `CUDA`
# (libcaffe2_cuda) and `gloo` (libcaffe2_gloo).
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/caffe2rt)

# What a module is built with: the headers, and no library, because the program that loads it has one.
add_library(module INTERFACE)
add_library(caffe2rt::module ALIAS module)
target_compile_features(module INTERFACE cxx_std_20)
target_include_directories(module INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
  $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/gen>
  $<INSTALL_INTERFACE:${CAFFE2RT_INSTALL_INCLUDEDIR}>
  $<TARGET_PROPERTY:protobuf::libprotobuf,INTERFACE_INCLUDE_DIRECTORIES>
  $<TARGET_PROPERTY:absl::core_headers,INTERFACE_INCLUDE_DIRECTORIES>)

# The forwarding headers under Caffe2's own paths; alone (for modules), and with the library.
add_library(compat_headers INTERFACE)
add_library(caffe2rt::compat_headers ALIAS compat_headers)
target_link_libraries(compat_headers INTERFACE module)
target_include_directories(compat_headers INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/caffe2_core/compat>
  $<INSTALL_INTERFACE:${CAFFE2RT_INSTALL_INCLUDEDIR}/caffe2_core/compat>)
add_library(compat INTERFACE)
add_library(caffe2rt::compat ALIAS compat)
target_link_libraries(compat INTERFACE compat_headers caffe2rt)
# The same for sources in which Tensor is a template over the context.
foreach(name compat_headers compat)
  string(REPLACE compat compat_templated templated ${name})
  add_library(${templated} INTERFACE)
  add_library(caffe2rt::${templated} ALIAS ${templated})
  target_link_libraries(${templated} INTERFACE ${name})
  target_compile_definitions(${templated} INTERFACE CAFFE2RT_TEMPLATED_TENSOR=1)
endforeach()

# CUDA's library opens at run time or is linked into the static one. In the first case it is a component of its own, which need
# not be installed, with an export file of its own.
set(installed_targets caffe2rt caffe2rt_counted_new module compat_headers compat compat_templated_headers
                      compat_templated)
if(CAFFE2RT_HAS_CUDA AND CAFFE2_CUDA_STATIC)
  list(APPEND installed_targets caffe2_cuda)
elseif(CAFFE2RT_HAS_CUDA)
  install(TARGETS caffe2_cuda EXPORT caffe2rtCudaTargets
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT CUDA)
  install(EXPORT caffe2rtCudaTargets NAMESPACE caffe2rt:: DESTINATION ${package_dir} COMPONENT CUDA)
endif()
if(CAFFE2RT_HAS_GLOO)
  install(TARGETS caffe2_gloo LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT gloo)
endif()
install(TARGETS ${installed_targets} EXPORT caffe2rtTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
        OBJECTS DESTINATION ${CMAKE_INSTALL_LIBDIR}/caffe2rt COMPONENT development)
foreach(kind shared static)
  if(TARGET caffe2rt_${kind})
    install(TARGETS caffe2rt_${kind} EXPORT caffe2rtOtherTargets
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development)
    install(EXPORT caffe2rtOtherTargets NAMESPACE caffe2rt:: DESTINATION ${package_dir} COMPONENT development)
  endif()
endforeach()
# The shared libraries under Caffe2's names, for builds that search for them: find_library(CAFFE2_LIB caffe2), -lcaffe2_gpu.
function(caffe2rt_install_name library name component)
  set(link ${PROJECT_BINARY_DIR}/names/lib${name}.so)
  file(CREATE_LINK lib${library}.so ${link} SYMBOLIC)
  install(FILES ${link} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component})
endfunction()
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/names)
if(BUILD_SHARED_LIBS OR TARGET caffe2rt_shared)
  caffe2rt_install_name(caffe2rt caffe2 development)
endif()
if(CAFFE2RT_HAS_CUDA AND NOT CAFFE2_CUDA_STATIC)
  caffe2rt_install_name(caffe2_cuda caffe2_gpu CUDA)
endif()
install(TARGETS caffe2 RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
if(BUILD_SHARED_LIBS)
  file(RELATIVE_PATH library_dir /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
  set_target_properties(caffe2 PROPERTIES INSTALL_RPATH "$ORIGIN/${library_dir}")
endif()

install(CODE "set(source \"${PROJECT_SOURCE_DIR}\")\nset(include_dir \"${CAFFE2RT_INSTALL_INCLUDEDIR}\")\nset(scratch \"${PROJECT_BINARY_DIR}\")"
        COMPONENT development)
install(SCRIPT third_party/cmake/InstallHeaders.cmake COMPONENT development)
install(DIRECTORY ${PROJECT_BINARY_DIR}/gen/caffe2rt DESTINATION ${CAFFE2RT_INSTALL_INCLUDEDIR} COMPONENT development
        FILES_MATCHING PATTERN "*.pb.h" PATTERN "*.proto")
install(EXPORT caffe2rtTargets NAMESPACE caffe2rt:: DESTINATION ${package_dir} COMPONENT development)
configure_package_config_file(third_party/cmake/caffe2rtConfig.cmake.in
  ${PROJECT_BINARY_DIR}/caffe2rtConfig.cmake INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_BINDIR CAFFE2RT_INSTALL_INCLUDEDIR)
file(RELATIVE_PATH proto_root /${package_dir} /${CMAKE_INSTALL_INCLUDEDIR})
configure_file(third_party/cmake/GenerateProto.cmake.in ${PROJECT_BINARY_DIR}/GenerateProto.cmake @ONLY)
# The same rule as CAFFE2RT_SOVERSION.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/caffe2rtConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/caffe2rtConfig.cmake
              ${PROJECT_BINARY_DIR}/caffe2rtConfigVersion.cmake ${PROJECT_BINARY_DIR}/GenerateProto.cmake
              third_party/cmake/Caffe2rtDependencies.cmake third_party/cmake/Caffe2rtProtobuf.cmake third_party/cmake/FindLeveldb.cmake
              third_party/cmake/FindLibzip.cmake third_party/cmake/FindLmdb.cmake
              third_party/cmake/FindNuma.cmake third_party/cmake/FindOnednn.cmake third_party/cmake/FindProtobuf.cmake
        DESTINATION ${package_dir} COMPONENT development)
# The version of Caffe2 that the headers of compat state.
file(STRINGS caffe2_core/compat/caffe2/core/macros.h caffe2_version REGEX "define CAFFE2_VERSION_(MAJOR|MINOR|PATCH) ")
list(TRANSFORM caffe2_version REPLACE ".* " "")
list(JOIN caffe2_version "." caffe2_version)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/Caffe2ConfigVersion.cmake
  VERSION ${caffe2_version} COMPATIBILITY AnyNewerVersion)
install(FILES third_party/cmake/Caffe2Config.cmake ${PROJECT_BINARY_DIR}/Caffe2ConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Caffe2 COMPONENT development)
if(NOT CAFFE2_CUDA_STATIC)  # which links CUDA's libraries, too
  include(Caffe2rtPkgConfig)
endif()
