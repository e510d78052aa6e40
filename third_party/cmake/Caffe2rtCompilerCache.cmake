# ccache, if it is installed: objects that were compiled before are taken from its cache, also those of another clone or build
# tree. A launcher that is set already (CMAKE_CXX_COMPILER_LAUNCHER, CMAKE_CUDA_COMPILER_LAUNCHER) stays.
#
# No object depends on where the sources are: ccache makes the paths of a command relative (CCACHE_BASEDIR), and __FILE__ is
# caffe2rt/FOLDER/FILE. Debug information has paths, so that ccache tells the folders of builds with -g apart.
#
# CAFFE2RT_LAUNCHER: the launcher, also if there is no ccache.
option(CAFFE2RT_CCACHE "Use ccache if it is installed" ON)
# Ninja compiles in the build folder, whose sources have relative paths with ccache.
file(RELATIVE_PATH root ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
foreach(prefix ${PROJECT_SOURCE_DIR}/ ${root})
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fmacro-prefix-map=${prefix}=caffe2rt/>")
endforeach()
set(program "")
if(CAFFE2RT_CCACHE)
  find_program(CCACHE ccache)
  if(CCACHE)
    set(program ${CCACHE})
  endif()
endif()
string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
set(hash_dir NOHASHDIR)
if("${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}" MATCHES "(^| )-g")
  set(hash_dir HASHDIR)
endif()
set(CAFFE2RT_LAUNCHER ${PROJECT_BINARY_DIR}/compile)
configure_file(${CMAKE_CURRENT_LIST_DIR}/compile.in ${CAFFE2RT_LAUNCHER} @ONLY)
if(program AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CAFFE2RT_LAUNCHER})
endif()
if(program AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CAFFE2RT_LAUNCHER})
endif()
