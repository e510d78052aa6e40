#pragma once
// Device types. DeviceType is an unscoped enum, so `CUDA`, `DeviceType::CUDA`, `at::kCUDA` and
// conversions to int all compile.
#include "caffe2_core/device/device_type.h"

namespace c10 {
using ::caffe2rt::DeviceType;
constexpr DeviceType kCPU = ::caffe2rt::CPU;
constexpr DeviceType kCUDA = ::caffe2rt::CUDA;
constexpr DeviceType kHIP = ::caffe2rt::HIP;
constexpr DeviceType kFPGA = ::caffe2rt::FPGA;
constexpr DeviceType kMSNPU = ::caffe2rt::MSNPU;
constexpr DeviceType kXLA = ::caffe2rt::XLA;
constexpr int COMPILE_TIME_MAX_DEVICE_TYPES = ::caffe2rt::kMaxDeviceTypes;
inline std::string DeviceTypeName(DeviceType type, bool /*lower_case*/ = false) {
  return ::caffe2rt::DeviceTypeName(type);
}
}  // namespace c10

namespace at {
using ::c10::DeviceType;
using ::c10::kCPU;
using ::c10::kCUDA;
using ::c10::kHIP;
}  // namespace at

namespace caffe2 {
using ::c10::COMPILE_TIME_MAX_DEVICE_TYPES;
using ::caffe2rt::CPU;
using ::caffe2rt::CUDA;
using ::caffe2rt::DeviceType;
using ::caffe2rt::FPGA;
using ::caffe2rt::HIP;
using ::caffe2rt::IDEEP;
using ::caffe2rt::MKLDNN;
using ::caffe2rt::MLC;
using ::caffe2rt::MSNPU;
using ::caffe2rt::OPENCL;
using ::caffe2rt::OPENGL;
using ::caffe2rt::XLA;
}  // namespace caffe2
