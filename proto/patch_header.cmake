# Changes a header that protoc generated: shared libraries export its classes, and DeviceOption has accessors under the older
# name of field 2. Does nothing if the header is changed already.
#   cmake -DHEADER=<name.pb.h> -P patch_header.cmake
set(export_begin "#pragma GCC visibility push(default)\n")
set(accessors "
  // Field 2 under the name it had until 2018.
  bool has_cuda_gpu_id() const { return has_device_id(); }
  int32_t cuda_gpu_id() const { return device_id(); }
  void set_cuda_gpu_id(int32_t value) { set_device_id(value); }
  void clear_cuda_gpu_id() { clear_device_id(); }
")
file(READ "${HEADER}" text)
string(FIND "${text}" "${export_begin}" done)
if(NOT done EQUAL -1)
  return()
endif()

# Inserts `added` before the insertion point `point`.
function(insert_before point added)
  set(line "// @@protoc_insertion_point(${point})\n")
  string(FIND "${text}" "${line}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "${HEADER}: no insertion point ${point}, want the output of protoc 3.x")
  endif()
  string(SUBSTRING "${text}" 0 ${at} before)
  string(SUBSTRING "${text}" ${at} -1 after)
  set(text "${before}${added}${after}" PARENT_SCOPE)
endfunction()
insert_before(includes "${export_begin}")
insert_before(global_scope "#pragma GCC visibility pop\n")
if(HEADER MATCHES "/caffe2\\.pb\\.h$")
  insert_before(class_scope:caffe2rt.DeviceOption "${accessors}")
endif()
file(WRITE "${HEADER}" "${text}")
