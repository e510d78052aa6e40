# caffe2rt.pc and caffe2rt-module.pc, for builds that use pkg-config instead of CMake:
#
#   c++ -std=c++20 main.cc $(pkg-config --cflags --libs caffe2rt)
#   c++ -std=c++20 -shared -fPIC my_operator.cc -o libmy_operator.so $(pkg-config --cflags caffe2rt-module)
#
# The paths are relative to the files, so that an installation may be moved. Programs link the shared library; --static adds what
# the static one needs (-l:libcaffe2rt.a), which is linked without --whole-archive: a program needs that only if it loads modules.
# The dependencies are linked as shared libraries, hence by name: pkg-config --static would add what they need themselves as static
# ones, which need not be installed (libzip: bz2, lzma, ...).
set(pc_requires "protobuf absl_core_headers")
set(pc_libs "-lcaffe2rt")
set(pc_requires_private "absl_strings absl_str_format")
set(pc_libs_private "-ldnnl -ljpeg -lpng -lz -llmdb -lleveldb -lnuma -lstdc++ -lm -pthread -ldl")
if(NOT BUILD_SHARED_LIBS AND NOT TARGET caffe2rt_shared)  # CAFFE2RT_HIDE_SYMBOLS is off
  string(APPEND pc_requires " ${pc_requires_private}")
  string(APPEND pc_libs " ${pc_libs_private}")
endif()
set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pc_prefix /${pc_dir} /)
string(REGEX REPLACE "/$" "" pc_prefix ${pc_prefix})
configure_file(third_party/cmake/caffe2rt.pc.in ${PROJECT_BINARY_DIR}/caffe2rt.pc @ONLY)
configure_file(third_party/cmake/caffe2rt-module.pc.in ${PROJECT_BINARY_DIR}/caffe2rt-module.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/caffe2rt.pc ${PROJECT_BINARY_DIR}/caffe2rt-module.pc DESTINATION ${pc_dir}
        COMPONENT development)
