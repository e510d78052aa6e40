# Part of the package caffe2rt. C++ classes from a user's .proto files that import caffe2/proto/caffe2.proto and its siblings:
#
#   caffe2rt_protobuf_generate(TARGET my_program PROTOS my.proto sub/other.proto [IMPORT_DIRS folder ...] [OUT_DIR folder])
#
# adds my.pb.cc and sub/other.pb.cc to the sources of the target, and the folder of the headers to its include folders. Each file is
# below one of IMPORT_DIRS, by default the current source folder. The target links caffe2rt::compat, or one of its siblings.
function(caffe2rt_protobuf_generate)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;OUT_DIR" "PROTOS;IMPORT_DIRS")
  if(arg_UNPARSED_ARGUMENTS OR NOT TARGET "${arg_TARGET}" OR NOT arg_PROTOS)
    message(FATAL_ERROR "caffe2rt_protobuf_generate has TARGET \"${arg_TARGET}\", PROTOS \"${arg_PROTOS}\" and the further "
                        "arguments \"${arg_UNPARSED_ARGUMENTS}\", want a target, .proto files and nothing else")
  endif()
  if(NOT TARGET protobuf::protoc)
    message(FATAL_ERROR "protoc is missing; on Debian, install protobuf-compiler")
  endif()
  if(NOT arg_OUT_DIR)
    set(arg_OUT_DIR ${CMAKE_CURRENT_BINARY_DIR}/caffe2rt_protos)
  endif()
  cmake_path(ABSOLUTE_PATH arg_OUT_DIR BASE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} NORMALIZE)
  if(NOT arg_IMPORT_DIRS)
    set(arg_IMPORT_DIRS ${CMAKE_CURRENT_SOURCE_DIR})
  endif()
  set(import_dirs "")
  foreach(dir IN LISTS arg_IMPORT_DIRS)
    cmake_path(ABSOLUTE_PATH dir NORMALIZE)
    list(APPEND import_dirs ${dir})
  endforeach()
  set(protos "")
  foreach(proto IN LISTS arg_PROTOS)
    cmake_path(ABSOLUTE_PATH proto NORMALIZE)
    list(APPEND protos ${proto})
  endforeach()
  set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/GenerateProto.cmake)
  list(JOIN import_dirs "," joined_dirs)
  foreach(proto IN LISTS protos)
    set(stem "")
    foreach(dir IN LISTS import_dirs)
      cmake_path(IS_PREFIX dir ${proto} is_below)
      if(is_below AND NOT stem)
        cmake_path(RELATIVE_PATH proto BASE_DIRECTORY ${dir} OUTPUT_VARIABLE stem)
        cmake_path(REMOVE_EXTENSION stem LAST_ONLY)
      endif()
    endforeach()
    if(NOT stem)
      message(FATAL_ERROR "\"${proto}\" is in none of the folders IMPORT_DIRS, which are \"${import_dirs}\"")
    endif()
    # One file may import another, so each is generated again if any has changed.
    add_custom_command(
      OUTPUT ${arg_OUT_DIR}/${stem}.pb.cc ${arg_OUT_DIR}/${stem}.pb.h
      COMMAND ${CMAKE_COMMAND} -DPROTO=${proto} -DOUT_DIR=${arg_OUT_DIR} "-DIMPORT_DIRS=${joined_dirs}"
              -DPROTOC=$<TARGET_FILE:protobuf::protoc> -P ${script}
      DEPENDS ${protos} ${script}
      COMMENT "Generating the classes of ${stem}.proto"
      VERBATIM)
    target_sources(${arg_TARGET} PRIVATE ${arg_OUT_DIR}/${stem}.pb.cc ${arg_OUT_DIR}/${stem}.pb.h)
  endforeach()
  target_include_directories(${arg_TARGET} PRIVATE ${arg_OUT_DIR})
endfunction()
