#pragma once
// The element type and device of a tensor to create: at::dtype<float>().device(CPU).
#include "c10/core/Device.h"
#include "c10/util/typeid.h"

namespace c10 {
class TensorOptions {
 public:
  TensorOptions() = default;
  TensorOptions(DeviceType type) : device_(type), has_device_(true) {}  // NOLINT: converts
  TensorOptions(Device device) : device_(device), has_device_(true) {}  // NOLINT: converts
  TensorOptions(::caffe2rt::TypeMeta type) : type_(type) {}             // NOLINT: converts
  TensorOptions device(Device device) const {
    TensorOptions changed = *this;
    changed.device_ = device;
    changed.has_device_ = true;
    return changed;
  }
  TensorOptions dtype(::caffe2rt::TypeMeta type) const {
    TensorOptions changed = *this;
    changed.type_ = type;
    return changed;
  }
  template <class T>
  TensorOptions dtype() const {
    return dtype(::caffe2rt::TypeMeta::Make<T>());
  }
  // The CPU if no device was set.
  Device device() const { return device_; }
  bool has_device() const { return has_device_; }
  ::caffe2rt::TypeMeta dtype() const { return type_; }
  // The element type, which Operator::Output accepts.
  operator ::caffe2rt::TypeMeta() const { return type_; }  // NOLINT: converts

 private:
  ::caffe2rt::TypeMeta type_ = ::caffe2rt::TypeMeta::Make<float>();
  Device device_ = Device(kCPU);
  bool has_device_ = false;
};
template <class T>
TensorOptions dtype() {
  return TensorOptions(::caffe2rt::TypeMeta::Make<T>());
}
inline TensorOptions dtype(::caffe2rt::TypeMeta type) { return TensorOptions(type); }
inline TensorOptions device(Device device) { return TensorOptions(device); }
}  // namespace c10

namespace at {
using ::c10::device;
using ::c10::dtype;
using ::c10::TensorOptions;
}  // namespace at
