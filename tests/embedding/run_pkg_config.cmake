# Part of run.cmake: builds programs of the project with pkg-config instead of CMake. Not in sanitizer builds, whose flags
# pkg-config does not know.
find_program(pkg_config pkg-config)
if(NOT pkg_config OR SANITIZE)
  message(STATUS "pkg-config is not installed, or the build has sanitizers: its files are not tested")
  return()
endif()

# flags_of(result package options...): the flags that pkg-config prints for the moved installation.
file(GLOB_RECURSE pc_file ${prefix}/lib*/caffe2rt.pc)
cmake_path(GET pc_file PARENT_PATH pc_dir)
function(flags_of result package)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${pc_dir} ${pkg_config} ${ARGN} ${package}
                  OUTPUT_VARIABLE output OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${output}")
  set(${result} ${flags} PARENT_SCOPE)
endfunction()

cmake_path(GET pc_dir PARENT_PATH library_dir)
flags_of(flags caffe2rt --cflags --libs)
run(${CXX_COMPILER} -std=c++20 ${PROJECT_DIR}/embed.cc -o ${WORK_DIR}/embed_by_pkg_config -pthread ${flags}
    -Wl,-rpath,${library_dir})
run(${WORK_DIR}/embed_by_pkg_config)
find_program(c_compiler NAMES cc gcc clang REQUIRED)
run(${c_compiler} -std=c99 ${PROJECT_DIR}/classify.c -o ${WORK_DIR}/classify_by_pkg_config ${flags}
    -Wl,-rpath,${library_dir})
run(${WORK_DIR}/classify_by_pkg_config ${demo}/init_net.pb ${demo}/predict_net.pb)

# The static library, which a program that does not load modules links like any other.
flags_of(static_flags caffe2rt --static --cflags --libs)
list(TRANSFORM static_flags REPLACE "^-lcaffe2rt$" "-l:libcaffe2rt.a")
run(${CXX_COMPILER} -std=c++20 ${PROJECT_DIR}/embed.cc -o ${WORK_DIR}/embed_static -pthread ${static_flags})
run(${WORK_DIR}/embed_static)

# A module has the headers alone.
flags_of(flags caffe2rt-module --cflags --libs)
if(flags MATCHES "(^|;)-l")
  message(FATAL_ERROR "caffe2rt-module links libraries: ${flags}")
endif()
run(${CXX_COMPILER} -std=c++20 -shared -fPIC ${PROJECT_DIR}/clamp_sum.cc -o ${WORK_DIR}/libclamp_sum.so ${flags})
run(${prefix}/bin/caffe2 ops ClampSum --module ${WORK_DIR}/libclamp_sum.so)
