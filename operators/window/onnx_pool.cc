// ONNXMaxPool, ONNXAveragePool, ONNXLpPool: pools with all of ONNX's attributes (dilations, auto_pad,
// ceil_mode, count_include_pad), over one to three axes. MaxPool, AveragePool and LpPool are Caffe2's;
// they are faster, and have gradients, where their arguments suffice.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"
#include "operators/common/window_attributes.h"
#include "operators/primitives/parallel_ranges.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int> kOnnxPoolStorageOrder{"storage_order", 0,
                                                  "0: Indices count rows first; 1: columns first"};
constexpr ArgumentSpec<bool> kOnnxPoolIncludePad{"count_include_pad", false,
                                                 "1: the mean includes the padding as zeros"};
constexpr ArgumentSpec<int> kOnnxPoolPower{
    "p", 2, "exponent of the norm, above 0", {[](int p) { return p > 0; }, "above 0"}};

// The elements of an axis inside of one of its windows: tap i is at start + i * dilation.
struct Taps {
  int64_t start = 0;
  int64_t first = 0, last = 0;
  Taps(const WindowAxis& axis, int64_t window) : start(window * axis.stride - axis.pad_head) {
    const int64_t d = axis.dilation;
    first = start >= 0 ? 0 : std::min((-start + d - 1) / d, axis.kernel);
    last = start >= axis.in ? 0 : std::min((axis.in - 1 - start) / d + 1, axis.kernel);
    last = std::max(last, first);
  }
  // Taps inside of the axis and its padding.
  int64_t PaddedCount(const WindowAxis& axis) const {
    const int64_t end = axis.in + axis.pad_tail;
    return std::min((end - 1 - start) / axis.dilation + 1, axis.kernel);
  }
};

// Calls visit(offset) for each element of a window in a plane.
template <class Visit>
void ForElements(const Windows& windows, const Taps& d, const Taps& h, const Taps& w,
                 const Visit& visit) {
  const auto& axis = windows.axis;
  for (int64_t i = d.first; i < d.last; ++i) {
    const int64_t z = (d.start + i * axis[0].dilation) * axis[1].in;
    for (int64_t j = h.first; j < h.last; ++j) {
      const int64_t y = (z + h.start + j * axis[1].dilation) * axis[2].in + w.start;
      for (int64_t k = w.first; k < w.last; ++k) visit(y + k * axis[2].dilation);
    }
  }
}

// Calls pool(plane, out, d, h, w) for each window; `out` counts the windows of a plane.
template <class Pool>
void ForWindows(const Windows& windows, const Pool& pool) {
  const int64_t cost = windows.out_size() * std::min<int64_t>(windows.taps(), 4096);
  ParallelRanges(windows.batch * windows.channels, cost, [&](int64_t first, int64_t last) {
    for (int64_t plane = first; plane < last; ++plane) {
      int64_t out = 0;
      for (int64_t i = 0; i < windows.axis[0].out; ++i) {
        const Taps d(windows.axis[0], i);
        for (int64_t j = 0; j < windows.axis[1].out; ++j) {
          const Taps h(windows.axis[1], j);
          for (int64_t k = 0; k < windows.axis[2].out; ++k) {
            pool(plane, out++, d, h, Taps(windows.axis[2], k));
          }
        }
      }
    }
  });
}

// The part of the pools that does not depend on their function.
class OnnxPoolBase : public Operator<CPUContext> {
 protected:
  OnnxPoolBase(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), attributes_(args()) {}

  void Plan(const Tensor& X) {
    if (!dims_.empty() && X.dims() == dims_) return;
    dims_.clear();
    WindowsOf(attributes_, X.sizes(), attributes_.kernel_shape, &windows_);
    WindowOutputDims(windows_, windows_.channels, &out_dims_);
    dims_ = X.dims();
  }

  const WindowAttributes attributes_;
  Windows windows_;
  std::vector<int64_t> dims_, out_dims_;
};

class OnnxMaxPoolOp final : public OnnxPoolBase {
 public:
  OnnxMaxPoolOp(const OperatorDef& def, Workspace* ws)
      : OnnxPoolBase(def, ws), columns_first_(ReadArgument(kOnnxPoolStorageOrder) != 0) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    return DispatchByType<float, double, int8_t, uint8_t>(
        X.dtype(), "input 0 (X)", [&](auto element) { return Run<decltype(element)>(X); });
  }

 private:
  template <class T>
  bool Run(const Tensor& X) {
    Plan(X);
    T* y = OutputData<T>(0, out_dims_);
    int64_t* indices = OutputSize() > 1 ? OutputData<int64_t>(1, out_dims_) : nullptr;
    if (Output(0)->numel() == 0) return true;
    CAFFE_ENFORCE_GT(X.numel(), 0, "elements of input 0 (X) of shape ", X.sizes());
    const T* x = X.data<T>();
    const int64_t in = windows_.in_size(), out = windows_.out_size();
    ForWindows(windows_,
               [&](int64_t plane, int64_t at, const Taps& d, const Taps& h, const Taps& w) {
                 const T* from = x + plane * in;
                 int64_t best = -1;
                 T value = std::numeric_limits<T>::lowest();
                 ForElements(windows_, d, h, w, [&](int64_t i) {
                   if (best < 0 || from[i] > value || (from[i] != from[i] && value == value)) {
                     best = i;
                     value = from[i];
                   }
                 });
                 y[plane * out + at] = value;
                 if (indices != nullptr) {
                   indices[plane * out + at] = plane * in + (best < 0 ? 0 : Index(best));
                 }
               });
    return true;
  }

  // The position of an element in its plane, counted in the storage order.
  int64_t Index(int64_t at) const {
    if (!columns_first_) return at;
    const auto& axis = windows_.axis;
    const int64_t w = at % axis[2].in, h = at / axis[2].in % axis[1].in;
    const int64_t d = at / axis[2].in / axis[1].in;
    return (w * axis[1].in + h) * axis[0].in + d;
  }

  const bool columns_first_;
};

class OnnxAveragePoolOp final : public OnnxPoolBase {
 public:
  OnnxAveragePoolOp(const OperatorDef& def, Workspace* ws)
      : OnnxPoolBase(def, ws), include_pad_(ReadArgument(kOnnxPoolIncludePad)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    return DispatchByType<float, double>(X.dtype(), "input 0 (X)", [&](auto element) {
      using T = decltype(element);
      Plan(X);
      T* y = OutputData<T>(0, out_dims_);
      if (Output(0)->numel() == 0) return true;
      const T* x = X.numel() > 0 ? X.data<T>() : nullptr;
      const int64_t in = windows_.in_size(), out = windows_.out_size();
      ForWindows(windows_,
                 [&](int64_t plane, int64_t at, const Taps& d, const Taps& h, const Taps& w) {
                   const T* from = x + plane * in;
                   T sum = 0;
                   ForElements(windows_, d, h, w, [&](int64_t i) { sum += from[i]; });
                   y[plane * out + at] = sum / static_cast<T>(Count(d, h, w));
                 });
      return true;
    });
  }

 private:
  int64_t Count(const Taps& d, const Taps& h, const Taps& w) const {
    if (!include_pad_) return (d.last - d.first) * (h.last - h.first) * (w.last - w.first);
    const auto& axis = windows_.axis;
    return d.PaddedCount(axis[0]) * h.PaddedCount(axis[1]) * w.PaddedCount(axis[2]);
  }

  const bool include_pad_;
};

class OnnxLpPoolOp final : public OnnxPoolBase {
 public:
  OnnxLpPoolOp(const OperatorDef& def, Workspace* ws)
      : OnnxPoolBase(def, ws), p_(ReadArgument(kOnnxPoolPower)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    return DispatchByType<float, double>(X.dtype(), "input 0 (X)", [&](auto element) {
      using T = decltype(element);
      Plan(X);
      T* y = OutputData<T>(0, out_dims_);
      if (Output(0)->numel() == 0) return true;
      const T* x = X.numel() > 0 ? X.data<T>() : nullptr;
      const int64_t in = windows_.in_size(), out = windows_.out_size();
      const T p = static_cast<T>(p_);
      ForWindows(
          windows_, [&](int64_t plane, int64_t at, const Taps& d, const Taps& h, const Taps& w) {
            const T* from = x + plane * in;
            T sum = 0;
            ForElements(windows_, d, h, w, [&](int64_t i) {
              sum += p_ == 1   ? std::abs(from[i])
                     : p_ == 2 ? from[i] * from[i]
                               : std::pow(std::abs(from[i]), p);
            });
            y[plane * out + at] = p_ == 1 ? sum : p_ == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p);
          });
      return true;
    });
  }

 private:
  const int p_;
};

std::vector<TensorShape> InferOnnxPool(const OperatorDef& def, const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  const WindowAttributes attributes{ArgumentHelper(def)};
  Windows windows;
  std::vector<int64_t> dims;
  WindowsOf(attributes, GetDimsVector(in[0]), attributes.kernel_shape, &windows);
  WindowOutputDims(windows, windows.channels, &dims);
  (void)CheckedProduct(dims);
  std::vector<TensorShape> out{CreateTensorShape(dims, in[0].data_type())};
  if (def.output_size() > 1) out.push_back(CreateTensorShape(dims, TensorProto_DataType_INT64));
  return out;
}

OpSchema& RegisterOnnxPoolSchema(const char* type, const char* doc) {
  OpSchema& schema = RegisterSchema(type, __FILE__);
  schema.NumInputs(1)
      .NumOutputs(1)
      .Output(0, "Y", "[N, C, windows...], the type of X")
      .TensorInferenceFunction(InferOnnxPool)
      .Traits({.family = OperatorFamily::kPool})
      .SetDoc(doc);
  DeclareWindowAttributes(schema, true);
  return schema;
}

}  // namespace

void RegisterOnnxPool() {
  RegisterOnnxPoolSchema("ONNXMaxPool",
                         "The largest element of each window, as ONNX's MaxPool; NaN wins.")
      .NumOutputs(1, 2)
      .Arg(kOnnxPoolStorageOrder)
      .Input(0, "X", "float, double, int8 or uint8, [N, C, one to three axes]")
      .Output(1, "Indices", "int64, the positions of the elements in X");
  RegisterCpuOperator<OnnxMaxPoolOp>("ONNXMaxPool", __FILE__);
  RegisterOnnxPoolSchema("ONNXAveragePool", "The mean of each window, as ONNX's AveragePool.")
      .Arg(kOnnxPoolIncludePad)
      .Input(0, "X", "float or double, [N, C, one to three axes]");
  RegisterCpuOperator<OnnxAveragePoolOp>("ONNXAveragePool", __FILE__);
  RegisterOnnxPoolSchema("ONNXLpPool",
                         "The norm (sum of |x|^p)^(1/p) of each window, as ONNX's LpPool.")
      .Arg(kOnnxPoolPower)
      .Input(0, "X", "float or double, [N, C, one to three axes]");
  RegisterCpuOperator<OnnxLpPoolOp>("ONNXLpPool", __FILE__);
  // Caffe2's pools have gradients.
  for (const char* type : {"ONNXMaxPool", "ONNXAveragePool", "ONNXLpPool"}) {
    RegisterGradient<ThrowInTheTowelIfGradientIsCalled>(type, __FILE__);
  }
}

}  // namespace caffe2rt
