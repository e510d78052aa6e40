# Part of run.cmake: the installed .proto files without CMake's package, as other build systems and languages use them.
find_program(protoc protoc REQUIRED)
set(imports -I${prefix}/include -I${PROJECT_DIR})

# protoc parses files that import them. Field 1 of the message is a net, and field 1 of a net is its name.
file(WRITE ${WORK_DIR}/recipe.pbtxt "net { name: \"ab\" }")
execute_process(COMMAND ${protoc} ${imports} --encode=mine.Recipe protos/recipe.proto
                INPUT_FILE ${WORK_DIR}/recipe.pbtxt OUTPUT_FILE ${WORK_DIR}/recipe.pb COMMAND_ERROR_IS_FATAL ANY)
file(READ ${WORK_DIR}/recipe.pb bytes HEX)
if(NOT bytes STREQUAL "0a040a026162")
  message(FATAL_ERROR "protoc encodes a net called ab as ${bytes}, want 0a040a026162")
endif()

# Classes of other languages are complete: their names are those of Caffe2.
file(MAKE_DIRECTORY ${WORK_DIR}/python)
foreach(name caffe2 caffe2_legacy hsm metanet predictor_consts)
  run(${protoc} ${imports} --python_out=${WORK_DIR}/python caffe2/proto/${name}.proto)
endforeach()

# The script generates classes for C++ without a CMake project, and reports files that it cannot place.
file(GLOB_RECURSE script ${prefix}/lib*/GenerateProto.cmake)
set(proto ${PROJECT_DIR}/protos/sub/team.proto)
run(${CMAKE_COMMAND} -DPROTO=${proto} -DOUT_DIR=${WORK_DIR}/by_hand -P ${script})
file(STRINGS ${WORK_DIR}/by_hand/team.pb.h class REGEX "^class Team ")
if(NOT class)
  message(FATAL_ERROR "${WORK_DIR}/by_hand/team.pb.h has no class Team")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -DPROTO=${proto} -DOUT_DIR=${WORK_DIR}/by_hand -DIMPORT_DIRS=${WORK_DIR} -P ${script}
                RESULT_VARIABLE result ERROR_VARIABLE error)
if(result EQUAL 0 OR NOT error MATCHES "IMPORT_DIRS, which")
  message(FATAL_ERROR "a file outside of IMPORT_DIRS returned ${result}: ${error}")
endif()
