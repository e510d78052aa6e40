# cmake --install: bin/caffe2, libraries, headers and the package caffe2rt with targets caffe2rt::caffe2rt and
# caffe2rt::compat.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/caffe2rt)

add_library(compat INTERFACE)
add_library(caffe2rt::compat ALIAS compat)
target_link_libraries(compat INTERFACE caffe2rt)
target_include_directories(compat INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/caffe2_core/compat>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/caffe2_core/compat>)

install(TARGETS caffe2rt compat caffe2rt_proto EXPORT caffe2rtTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        OBJECTS DESTINATION ${CMAKE_INSTALL_LIBDIR}/unused EXCLUDE_FROM_ALL)
install(DIRECTORY caffe2_core contexts operators DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.cuh")
install(DIRECTORY ${PROJECT_BINARY_DIR}/gen/caffe2rt DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.pb.h" PATTERN "*.proto")
install(EXPORT caffe2rtTargets NAMESPACE caffe2rt:: DESTINATION ${package_dir})
configure_package_config_file(third_party/cmake/caffe2rtConfig.cmake.in
  ${PROJECT_BINARY_DIR}/caffe2rtConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/caffe2rtConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/caffe2rtConfig.cmake ${PROJECT_BINARY_DIR}/caffe2rtConfigVersion.cmake
              third_party/cmake/Caffe2rtDependencies.cmake third_party/cmake/FindLeveldb.cmake
              third_party/cmake/FindLmdb.cmake
        DESTINATION ${package_dir})
