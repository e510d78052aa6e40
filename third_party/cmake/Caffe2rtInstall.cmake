# cmake --install: bin/caffe2, libraries, headers, and the packages caffe2rt (targets caffe2rt::caffe2rt, caffe2rt::module,
# caffe2rt::compat, caffe2rt::counted_new) and Caffe2 (the names of the original's package, over caffe2rt::compat).
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/caffe2rt)

# What a module is built with: the headers, and no library, because the program that loads it has one.
add_library(module INTERFACE)
add_library(caffe2rt::module ALIAS module)
target_compile_features(module INTERFACE cxx_std_20)
target_include_directories(module INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
  $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/gen>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
  $<TARGET_PROPERTY:protobuf::libprotobuf,INTERFACE_INCLUDE_DIRECTORIES>)

# The forwarding headers under Caffe2's own paths; alone (for modules), and with the library.
add_library(compat_headers INTERFACE)
add_library(caffe2rt::compat_headers ALIAS compat_headers)
target_link_libraries(compat_headers INTERFACE module)
target_include_directories(compat_headers INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/caffe2_core/compat>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/caffe2_core/compat>)
add_library(compat INTERFACE)
add_library(caffe2rt::compat ALIAS compat)
target_link_libraries(compat INTERFACE compat_headers caffe2rt)

set(installed_targets caffe2rt caffe2rt_counted_new module compat_headers compat)
if(CAFFE2RT_HAS_CUDA)
  list(APPEND installed_targets caffe2_cuda)
endif()
install(TARGETS ${installed_targets} EXPORT caffe2rtTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        OBJECTS DESTINATION ${CMAKE_INSTALL_LIBDIR}/caffe2rt)
if(TARGET caffe2 AND BUILD_SHARED_LIBS)  # which installs itself
  set_target_properties(caffe2 PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
endif()
install(DIRECTORY caffe2_core contexts operators DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.cuh")
install(DIRECTORY ${PROJECT_BINARY_DIR}/gen/caffe2rt DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.pb.h" PATTERN "*.proto")
install(EXPORT caffe2rtTargets NAMESPACE caffe2rt:: DESTINATION ${package_dir})
configure_package_config_file(third_party/cmake/caffe2rtConfig.cmake.in
  ${PROJECT_BINARY_DIR}/caffe2rtConfig.cmake INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/caffe2rtConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/caffe2rtConfig.cmake
              ${PROJECT_BINARY_DIR}/caffe2rtConfigVersion.cmake
              third_party/cmake/Caffe2rtDependencies.cmake third_party/cmake/FindLeveldb.cmake
              third_party/cmake/FindLibzip.cmake third_party/cmake/FindLmdb.cmake
              third_party/cmake/FindNuma.cmake third_party/cmake/FindOnednn.cmake
        DESTINATION ${package_dir})
install(FILES third_party/cmake/Caffe2Config.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Caffe2)
