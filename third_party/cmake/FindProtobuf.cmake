# protobuf::libprotobuf and protobuf::protoc. Since version 22, the headers of protobuf need abseil's libraries, which only
# protobuf's own package links; CMake's module finds versions that have no package, such as Debian's 3.21.
find_package(Protobuf CONFIG QUIET)
if(NOT Protobuf_FOUND)
  include(${CMAKE_ROOT}/Modules/FindProtobuf.cmake)
endif()
