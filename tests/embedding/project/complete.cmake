# Part of CMakeLists.txt: what is independent of the kind of the library.

# Sources in Caffe2's own style; first those that mean the same in both generations of sources.
set(neutral style/main.cc style/common.cc style/elementwise.cc style/flags.cc style/io.cc style/math.cc style/other_log_first.cc
            style/other_log_last.cc style/proto.cc style/stats_transform.cc style/transitive.cc)
add_executable(style ${neutral} style/blob_workspace.cc style/later_names.cc style/net_predictor.cc style/operator.cc
                     style/tensor.cc style/three_file_op.cc)
target_link_libraries(style PRIVATE caffe2rt::compat)
add_test(NAME style COMMAND style)

# Sources of the first years, in which Tensor is a template over the context. Their language level is raised by the target.
add_executable(templated ${neutral} templated/affine_op.cc templated/eigen.cc templated/net_predictor.cc templated/operator.cc
                         templated/tensor.cc templated/workspace.cc)
target_link_libraries(templated PRIVATE caffe2rt::compat_templated)
set_target_properties(templated PROPERTIES CXX_STANDARD 17)
add_test(NAME templated COMMAND templated)
add_library(templated_ops SHARED templated/affine_op.cc)
target_link_libraries(templated_ops PRIVATE caffe2rt::module caffe2rt::compat_templated_headers)
add_test(NAME templated_ops COMMAND ${CAFFE2} ops TemplatedAffine --module $<TARGET_FILE:templated_ops>)

# One program of sources of both kinds, which is a choice per source.
add_executable(generations generations/templated.cc generations/untemplated.cc)
target_link_libraries(generations PRIVATE caffe2rt::compat)
set_source_files_properties(generations/templated.cc PROPERTIES COMPILE_DEFINITIONS CAFFE2RT_TEMPLATED_TENSOR=1)
add_test(NAME generations COMMAND generations)

# An operator in the three-file style, in a library that is loaded with global visibility.
add_library(three_file_ops SHARED style/three_file_op.cc)
target_link_libraries(three_file_ops PRIVATE caffe2rt::module caffe2rt::compat_headers)
add_test(NAME three_file_ops COMMAND ${CAFFE2} ops EmbeddingAffine --module $<TARGET_FILE:three_file_ops>)

# Ten operators in the style of 2017 and ten in the style of 2019: as modules, and linked into a program.
set_source_files_properties(operators/old_operators.cc PROPERTIES COMPILE_DEFINITIONS CAFFE2RT_TEMPLATED_TENSOR=1)
set(old_values "23 28 35 36 6 24 1")
set(new_values "10 12 12 12 6 24 1")
foreach(style old new)
  add_library(${style}_operators MODULE operators/${style}_operators.cc)
  target_link_libraries(${style}_operators PRIVATE caffe2rt::module caffe2rt::compat_headers)
  add_test(NAME ${style}_operators COMMAND ${CAFFE2} run --module $<TARGET_FILE:${style}_operators>
           --predict-net ${CMAKE_CURRENT_SOURCE_DIR}/operators/${style}.pbtxt)
  set_tests_properties(${style}_operators PROPERTIES PASS_REGULAR_EXPRESSION "\n +${${style}_values}\n")
endforeach()
add_executable(operators operators/main.cc $<TARGET_OBJECTS:new_operators> $<TARGET_OBJECTS:old_operators>)
target_link_libraries(operators PRIVATE caffe2rt::compat)
add_test(NAME operators COMMAND operators ${CMAKE_CURRENT_SOURCE_DIR}/operators)
# The file is the user's own, although its folder is called like the library's.
add_test(NAME source_of_operator COMMAND ${CAFFE2} ops OldScale --module $<TARGET_FILE:old_operators>)
set_tests_properties(source_of_operator PROPERTIES
  PASS_REGULAR_EXPRESSION "source: [^\n]+/operators/old_operators.cc")

# A project of its own, with the other generation of sources, before this one finds Caffe2's package.
add_subdirectory(old_package)

# Messages of the user's own that contain Caffe2's, in .proto files that were written for Caffe2.
add_executable(protos protos/main.cc)
caffe2rt_protobuf_generate(TARGET protos PROTOS protos/recipe.proto protos/sub/team.proto)
target_link_libraries(protos PRIVATE caffe2rt::compat)
add_test(NAME protos COMMAND protos)

# Compiles all headers together, in both orders, and those of headers.txt alone; always included twice. Of the other generation
# also all together, and alone those whose text depends on the generation.
set(compat_dir ${CAFFE2RT_INCLUDE_DIR}/caffe2_core/compat)
foreach(folder ATen c10 caffe caffe2)
  file(GLOB_RECURSE headers RELATIVE ${compat_dir} ${compat_dir}/${folder}/*.h)
  list(APPEND all_headers ${headers})
endforeach()
set(reversed ${all_headers})
list(REVERSE reversed)
set(together "")
foreach(order all_headers reversed)
  set(text "")
  foreach(header IN LISTS ${order})
    string(APPEND text "#include \"${header}\"\n")
  endforeach()
  file(CONFIGURE OUTPUT ${order}.cc CONTENT "${text}${text}int ${order}_compiles() { return 1; }\n")
  list(APPEND together ${CMAKE_CURRENT_BINARY_DIR}/${order}.cc)
endforeach()
# Those that moved, under their old paths.
file(GLOB runtime_headers RELATIVE ${CAFFE2RT_INCLUDE_DIR} ${CAFFE2RT_INCLUDE_DIR}/caffe2_core/runtime/*.h)
set(text "")
foreach(header IN LISTS runtime_headers)
  file(STRINGS ${CAFFE2RT_INCLUDE_DIR}/${header} moved REGEX "under its old path")
  if(moved)
    string(APPEND text "#include \"${header}\"\n")
  endif()
endforeach()
if(NOT text MATCHES "runtime/predictor.h")
  message(FATAL_ERROR "no header under its old path includes predictor.h: ${text}")
endif()
file(CONFIGURE OUTPUT old_paths.cc CONTENT "${text}caffe2rt::Predictor* old_paths_compile() { return nullptr; }\n")
list(APPEND together ${CMAKE_CURRENT_BINARY_DIR}/old_paths.cc)
file(STRINGS headers/headers.txt headers)
set(headers_of_a_generation "")
foreach(header IN LISTS all_headers)
  file(STRINGS ${compat_dir}/${header} choice REGEX "CAFFE2RT_TEMPLATED_TENSOR|caffe2rt_templated/")
  if(choice)
    list(APPEND headers_of_a_generation ${header})
  endif()
endforeach()
add_library(headers OBJECT ${together})
target_link_libraries(headers PRIVATE caffe2rt::compat)
add_library(headers_templated OBJECT ${together})
target_link_libraries(headers_templated PRIVATE caffe2rt::compat_templated)
foreach(header IN LISTS headers headers_of_a_generation)
  string(MAKE_C_IDENTIFIER ${header} name)
  file(CONFIGURE OUTPUT alone/${name}.cc
       CONTENT "#include \"${header}\"\n#include \"${header}\"\nint ${name}_compiles() { return 1; }\n")
endforeach()
foreach(header IN LISTS headers)
  string(MAKE_C_IDENTIFIER ${header} name)
  target_sources(headers PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/alone/${name}.cc)
endforeach()
foreach(header IN LISTS headers_of_a_generation)
  string(MAKE_C_IDENTIFIER ${header} name)
  target_sources(headers_templated PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/alone/${name}.cc)
endforeach()

# Headers of other libraries take most of the time. The library's own are never precompiled here, and nothing is for sources
# whose first lines matter.
option(EMBEDDING_PCH "Precompile headers of protobuf and of the standard library" OFF)
target_compile_options(headers PRIVATE -O0 -g0)
target_compile_options(headers_templated PRIVATE -O0 -g0)
if(EMBEDDING_PCH)
  foreach(target headers headers_templated style templated)
    target_precompile_headers(${target} PRIVATE <algorithm> <atomic> <chrono> <cmath> <condition_variable> <cstdint> <cstring>
      <functional> <iostream> <map> <memory> <mutex> <random> <set> <span> <sstream> <string> <thread> <unordered_map>
      <utility> <vector> <caffe2rt/caffe2.pb.h>)
  endforeach()
  set_source_files_properties(style/other_log_first.cc style/other_log_last.cc style/proto.cc style/transitive.cc PROPERTIES
                              SKIP_PRECOMPILE_HEADERS ON)
endif()
