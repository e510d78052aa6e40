# Adds accessors under the older name of DeviceOption field 2 to the generated class. Does nothing
# if the class already has them.
#   cmake -DHEADER=<caffe2.pb.h> -P patch_device_option.cmake
set(point "  // @@protoc_insertion_point(class_scope:caffe2rt.DeviceOption)")
set(accessors "
  // Field 2 under the name it had until 2018.
  bool has_cuda_gpu_id() const { return has_device_id(); }
  int32_t cuda_gpu_id() const { return device_id(); }
  void set_cuda_gpu_id(int32_t value) { set_device_id(value); }
  void clear_cuda_gpu_id() { clear_device_id(); }
")
file(READ "${HEADER}" text)
string(FIND "${text}" "has_cuda_gpu_id" done)
if(NOT done EQUAL -1)
  return()
endif()
string(FIND "${text}" "${point}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "${HEADER}: no insertion point for DeviceOption, want the output of protoc 3.x")
endif()
string(SUBSTRING "${text}" 0 ${at} before)
string(SUBSTRING "${text}" ${at} -1 after)
file(WRITE "${HEADER}" "${before}${accessors}${after}")
