#pragma once
// Tensors. Tensor is one class for all devices, and TensorCPU an alias of it; or it is a template
// over the context (caffe2rt_templated/generation.h).
#include <climits>
#include <cstdint>
#include <deque>
#include <fstream>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "c10/core/TensorOptions.h"
#include "c10/util/ArrayRef.h"
#include "c10/util/Optional.h"
#include "caffe2/core/common.h"
#include "caffe2/core/context.h"
#include "caffe2/core/flags.h"
#include "caffe2/core/logging.h"
#include "caffe2/core/typeid.h"
#include "caffe2_core/base/classic_string_stream.h"
#include "caffe2_core/compat/caffe2rt_templated/generation.h"
#include "caffe2_core/tensor/data_type.h"
#include "caffe2_core/tensor/tensor.h"
#if CAFFE2RT_TEMPLATED_TENSOR
#include "caffe2_core/compat/caffe2rt_templated/tensor.h"
#endif

namespace caffe2 {

using ::caffe2rt::canonical_axis_index_;
using ::caffe2rt::size_between_dim_;
using ::caffe2rt::size_from_dim_;
using ::caffe2rt::size_to_dim_;
#if CAFFE2RT_TEMPLATED_TENSOR
using TensorCPU = Tensor<CPUContext>;
#else
using ::caffe2rt::Tensor;
using TensorCPU = ::caffe2rt::Tensor;
#endif

// For sources that write through a const tensor. Later Caffe2 versions declared Resize,
// mutable_data and the other mutators const; this library does not:
//
//   const auto& t = *BlobGetMutableTensor(blob, CPU);
//   handles::Writable(t).Resize(2, 3);
//   handles::Writable(t).mutable_data<float>()[0] = 1;
//
// REQUIRES: the tensor object itself is not const, only the reference to it.
namespace handles {
// clang-format 14 misplaces line breaks around a requires clause.
// clang-format off
template <class T>
requires std::is_base_of_v<::caffe2rt::Tensor, T>
T& Writable(const T& tensor) {
  return const_cast<T&>(tensor);
}
// clang-format on
}  // namespace handles

inline vector<TIndex> ToVectorTIndex(const std::vector<int>& values) {
  return vector<TIndex>(values.begin(), values.end());
}
inline vector<TIndex> ToVectorint64_t(at::ArrayRef<int> values) {
  return vector<TIndex>(values.begin(), values.end());
}

// Makes a tensor of shape `dims` with memory for elements of the type in `options`.
inline ::caffe2rt::Tensor empty(at::IntArrayRef dims, at::TensorOptions options) {
  ::caffe2rt::Tensor tensor(dims, options.device().type());
  tensor.raw_mutable_data(options.dtype());
  return tensor;
}

template <class T>
::caffe2rt::Tensor TensorCPUFromValues(at::IntArrayRef dims, at::ArrayRef<T> values) {
  ::caffe2rt::Tensor tensor(dims, CPU);
  CAFFE_ENFORCE_EQ(values.size(), static_cast<size_t>(tensor.numel()),
                   "number of values for the tensor");
  T* data = tensor.template mutable_data<T>();
  std::copy(values.begin(), values.end(), data);
  return tensor;
}

// Gives `*tensor` that shape, device and element type. Its memory is reused if possible.
inline void ReinitializeTensor(::caffe2rt::Tensor* tensor, at::IntArrayRef dims,
                               at::TensorOptions options) {
  CAFFE_ENFORCE(tensor != nullptr, "ReinitializeTensor of null");
  if (tensor->GetDeviceType() != options.device().type())
    *tensor = ::caffe2rt::Tensor(options.device().type());
  tensor->Resize(dims);
  tensor->raw_mutable_data(options.dtype());
}
inline void ReinitializeAndCopyFrom(::caffe2rt::Tensor* tensor, at::TensorOptions options,
                                    const ::caffe2rt::Tensor& src, bool /*async*/ = false) {
  CAFFE_ENFORCE(tensor != nullptr, "ReinitializeAndCopyFrom of null");
  if (tensor->GetDeviceType() != options.device().type())
    *tensor = ::caffe2rt::Tensor(options.device().type());
  tensor->CopyFrom(src);
}
inline void TensorVectorResize(std::vector<::caffe2rt::Tensor>& tensors, int size,
                               DeviceType type) {
  while (static_cast<int>(tensors.size()) > size) tensors.pop_back();
  while (static_cast<int>(tensors.size()) < size) tensors.emplace_back(type);
}

// Prints the name, the shape and the first values of a CPU tensor as one line to the log or to a
// file.
class TensorPrinter {
 public:
  static constexpr int kDefaultLimit = 1000;
  explicit TensorPrinter(const std::string& tensor_name = "", const std::string& file_name = "",
                         int limit = kDefaultLimit)
      : limit_(limit > 0 ? limit : kDefaultLimit),
        name_(tensor_name),
        to_file_(!file_name.empty()) {
    if (to_file_) file_.open(file_name, std::ios::out | std::ios::trunc);
    CAFFE_ENFORCE(!to_file_ || file_.good(), "cannot write \"", file_name, "\"");
  }
  TensorPrinter(const TensorPrinter&) = delete;
  TensorPrinter& operator=(const TensorPrinter&) = delete;

  template <class T>
  void Print(const ::caffe2rt::Tensor& tensor) {
    ::caffe2rt::ClassicStringStream values;
    const int64_t count = std::min<int64_t>(tensor.numel(), limit_);
    const T* data = count > 0 ? tensor.template data<T>() : nullptr;
    for (int64_t i = 0; i < count; ++i) values << (i > 0 ? "," : "") << data[i];
    Write(MetaStr(tensor) + values.str());
  }
  void PrintMeta(const ::caffe2rt::Tensor& tensor) { Write(MetaStr(tensor)); }
  std::string MetaStr(const ::caffe2rt::Tensor& tensor) {
    ::caffe2rt::ClassicStringStream text;
    text << "Tensor " << name_ << " of type " << tensor.dtype().name() << ". Dims: (";
    for (const int64_t d : tensor.sizes()) text << d << ",";
    text << "): ";
    return text.str();
  }

 private:
  void Write(const std::string& line) {
    if (to_file_) {
      file_ << line << std::endl;
    } else {
      LOG(INFO) << line;
    }
  }
  const int limit_;
  const std::string name_;
  const bool to_file_;
  std::ofstream file_;
};

}  // namespace caffe2
