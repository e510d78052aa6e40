# cmake -DPART=project|others -DSOURCE_DIR=... -DBUILD_DIR=... -DPROJECT_DIR=... -DWORK_DIR=... -DGENERATOR=... -P run.cmake
include(${CMAKE_CURRENT_LIST_DIR}/run_steps.cmake)

install_components(prefix runtime development)
set(flags "")
if(SANITIZE)
  set(flags -DCMAKE_CXX_FLAGS=-fsanitize=${SANITIZE})
endif()
set(demo ${SOURCE_DIR}/binaries/demo/stripes)
set(configure ${CMAKE_COMMAND} -G ${GENERATOR}
    -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_BUILD_TYPE=${BUILD_TYPE}
    -DCMAKE_CXX_COMPILER=${CXX_COMPILER} -DCMAKE_CXX_FLAGS_DEBUG=  # without -g, a tenth of the compiler's time
    -DCMAKE_CXX_COMPILER_LAUNCHER=${CXX_COMPILER_LAUNCHER} ${flags})

include(${CMAKE_CURRENT_LIST_DIR}/run_${PART}.cmake)
