#pragma once
// caffe2::Tensor<Context>: the tensor of sources that were written before the middle of 2018.
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/tensor/blob.h"
#include "caffe2_core/tensor/tensor.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2 {

// A caffe2rt::Tensor whose type names the device. It has no data members, and a blob stores it as a
// caffe2rt::Tensor (BlobContent below). Copies share the memory, as in Caffe2.
template <class Context>
class Tensor : public ::caffe2rt::Tensor {
 public:
  // A tensor without a shape, on the device of the context.
  Tensor() : ::caffe2rt::Tensor(Context::GetDeviceType()) {}
  explicit Tensor(const std::vector<int64_t>& dims)
      : ::caffe2rt::Tensor(dims, Context::GetDeviceType()) {}
  template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
  explicit Tensor(const std::vector<T>& dims) : Tensor() {
    Resize(dims);
  }
  template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
  explicit Tensor(std::initializer_list<T> dims)
      : Tensor(std::vector<int64_t>(dims.begin(), dims.end())) {}
  // Copies the elements of a tensor on any device.
  template <class Source>
  explicit Tensor(const Tensor<Source>& source) : Tensor() {
    CopyFrom(source);
  }
  template <class Source, class CopyContext>
  Tensor(const Tensor<Source>& source, CopyContext* context) : Tensor() {
    CopyFrom(source, context);
  }
  // Copies `values`, and waits for the copy, because they may be temporary.
  template <class T>
  Tensor(const std::vector<int64_t>& dims, const std::vector<T>& values, Context* /*context*/)
      : Tensor() {
    CopyFrom(values);
    Reshape(dims);
  }
  // A tensor of rank 0.
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  Tensor(const T& value, Context* context)
      : Tensor(std::vector<int64_t>(), std::vector<T>{value}, context) {}

  // The constructors of later sources. THROW if `device` is not that of the context.
  explicit Tensor(::caffe2rt::DeviceType device) : ::caffe2rt::Tensor(Checked(device)) {}
  Tensor(const std::vector<int64_t>& dims, ::caffe2rt::DeviceType device)
      : ::caffe2rt::Tensor(dims, Checked(device)) {}
  Tensor(const std::vector<int>& dims, ::caffe2rt::DeviceType device)
      : ::caffe2rt::Tensor(dims, Checked(device)) {}
  Tensor(std::initializer_list<int64_t> dims, ::caffe2rt::DeviceType device)
      : ::caffe2rt::Tensor(dims, Checked(device)) {}
  // Shares the memory of a tensor on the device of the context. THROWS if it is on another one.
  explicit Tensor(const ::caffe2rt::Tensor& shared) : ::caffe2rt::Tensor(shared) {
    Checked(shared.GetDeviceType());
  }

  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  Tensor& operator=(const Tensor&) = default;
  Tensor& operator=(Tensor&&) noexcept = default;

  void Resize(const std::vector<int64_t>& dims) { ::caffe2rt::Tensor::Resize(dims); }
  void Resize(::caffe2rt::IntArrayRef dims) { ::caffe2rt::Tensor::Resize(dims); }
  void Resize(std::initializer_list<int64_t> dims) { ::caffe2rt::Tensor::Resize(dims); }
  template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
  void Resize(const std::vector<T>& dims) {
    ::caffe2rt::Tensor::Resize(dims);
  }
  // Sizes of any types that convert to int64_t, such as enumerators and floating-point numbers.
  template <class... Sizes,
            class = std::enable_if_t<(sizeof...(Sizes) > 0) &&
                                     (std::is_convertible_v<Sizes, int64_t> && ...)>>
  void Resize(Sizes... dims) {
    ::caffe2rt::Tensor::Resize(static_cast<int64_t>(dims)...);
  }
  template <class T>
  void Reserve(const std::vector<T>& dims, ::caffe2rt::BaseContext* context) {
    ::caffe2rt::Tensor::Reserve(std::vector<int64_t>(dims.begin(), dims.end()), context);
  }
  // Templates, because sources also name the context: CopyFrom<CPUContext>(source, &context).
  using ::caffe2rt::Tensor::CopyFrom;
  template <class Source>
  void CopyFrom(const Tensor<Source>& source) {
    ::caffe2rt::Tensor::CopyFrom(source);
  }
  template <class Source, class CopyContext>
  void CopyFrom(const Tensor<Source>& source, CopyContext* context) {
    ::caffe2rt::Tensor::CopyFrom(source, context);
  }
  using ::caffe2rt::Tensor::ResizeLike;
  template <class Source>
  void ResizeLike(const Tensor<Source>& source) {
    ::caffe2rt::Tensor::ResizeLike(source);
  }
  void swap(Tensor& other) noexcept { ::caffe2rt::Tensor::swap(other); }
  Tensor Clone() const { return Tensor(::caffe2rt::Tensor::Clone()); }

 private:
  static ::caffe2rt::DeviceType Checked(::caffe2rt::DeviceType device) {
    CAFFE_ENFORCE(device == Context::GetDeviceType(), "the tensor is on ",
                  ::caffe2rt::DeviceTypeName(device), ", want one on ",
                  ::caffe2rt::DeviceTypeName(Context::GetDeviceType()));
    return device;
  }
};

static_assert(sizeof(Tensor<::caffe2rt::CPUContext>) == sizeof(::caffe2rt::Tensor));

}  // namespace caffe2

#pragma GCC visibility push(default)
namespace caffe2rt {

// A blob holds a Tensor<Context> if it holds a Tensor on the device of the context.
template <class Context>
struct BlobContent<::caffe2::Tensor<Context>> {
  using Stored = Tensor;
  static bool Accepts(const Tensor& tensor) {
    return tensor.GetDeviceType() == Context::GetDeviceType();
  }
};

namespace internal {
// TypeMeta has one identity for tensors of all devices, so that `blob.meta().Match<TensorCPU>()`
// holds. context_gpu.h does the same for the other context.
template <>
inline const TypeData* TypeDataOf<::caffe2::Tensor<CPUContext>>() {
  return TypeDataOf<Tensor>();
}
}  // namespace internal

}  // namespace caffe2rt
#pragma GCC visibility pop
