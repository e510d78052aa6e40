// ONNXWhere: ONNX's Where (opset 16): X where the condition holds, else Y, with numpy's broadcasting.
//   condition bool, X, Y of one type  ->  Z, of the broadcast shape of the three
//
// Caffe2's Where has no broadcasting and fewer element types.

#include <algorithm>
#include <array>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/copy_rows.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/strided_copy.h"
#include "operators/primitives/parallel_ranges.h"

namespace caffe2rt {

namespace {

// Joins `input` into the broadcast shape *dims. THROWS if they do not match.
void JoinBroadcastDims(IntArrayRef input, std::vector<int64_t>* dims) {
  if (input.size() > dims->size()) dims->insert(dims->begin(), input.size() - dims->size(), 1);
  const size_t added = dims->size() - input.size();
  for (size_t i = 0; i < input.size(); ++i) {
    int64_t& dim = (*dims)[added + i];
    CAFFE_ENFORCE(dim == input[i] || dim == 1 || input[i] == 1, "shape ", input,
                  " cannot be broadcast with ", IntArrayRef(*dims), " of the inputs before");
    if (dim == 1) dim = input[i];
  }
}

// The strides of an input in the broadcast shape: 0 where it is repeated.
void BroadcastStrides(IntArrayRef input, IntArrayRef dims,
                      std::array<int64_t, kMaxLoops>* strides) {
  const size_t added = dims.size() - input.size();
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    const int64_t size = i < added ? 1 : input[i - added];
    (*strides)[i] = size == 1 ? 0 : stride;
    stride *= size;
  }
}

// A row: strides are 0 or 1.
template <class T>
void SelectRow(int64_t n, const bool* c, int64_t c_step, const T* x, int64_t x_step, const T* y,
               int64_t y_step, T* z) {
  if (c_step == 0) {
    const T* const from = *c ? x : y;
    const int64_t step = *c ? x_step : y_step;
    for (int64_t i = 0; i < n; ++i) z[i] = from[i * step];
  } else if (x_step == 1 && y_step == 1) {
    for (int64_t i = 0; i < n; ++i) z[i] = c[i] ? x[i] : y[i];
  } else {
    for (int64_t i = 0; i < n; ++i) z[i] = c[i] ? x[i * x_step] : y[i * y_step];
  }
}

class ONNXWhereOp final : public Operator<CPUContext> {
 public:
  using Operator::Operator;

  bool RunOnDevice() override {
    const Tensor& C = Input(0);
    const Tensor& X = Input(1);
    const Tensor& Y = Input(2);
    const TypeMeta type = X.dtype();
    RequireElements<bool>(C);
    CAFFE_ENFORCE(Y.dtype() == type, "input 2 (Y) has elements of type ", Y.dtype().name(),
                  ", want ", type.name(), " as input 1 (X)");
    dims_.assign(C.dims().begin(), C.dims().end());
    JoinBroadcastDims(X.sizes(), &dims_);
    JoinBroadcastDims(Y.sizes(), &dims_);
    Tensor* const Z = Output(0);
    Z->Resize(dims_);
    void* const z = OutputMemory(Z, type);
    if (Z->numel() == 0) return true;
    const bool same = C.sizes() == Z->sizes() && X.sizes() == Z->sizes() && Y.sizes() == Z->sizes();
    flat_.assign(1, Z->numel());
    const IntArrayRef dims = same ? flat_ : dims_;  // one row if nothing is repeated
    std::array<int64_t, kMaxLoops> c_steps, x_steps, y_steps;
    BroadcastStrides(same ? flat_ : C.sizes(), dims, &c_steps);
    BroadcastStrides(same ? flat_ : X.sizes(), dims, &x_steps);
    BroadcastStrides(same ? flat_ : Y.sizes(), dims, &y_steps);
    DispatchBySize(type, "input 1 (X)", [&](auto element) {
      using T = decltype(element);
      const bool* const c = C.data<bool>();
      const T* const x = static_cast<const T*>(X.raw_data());
      const T* const y = static_cast<const T*>(Y.raw_data());
      T* const out = static_cast<T*>(z);
      if (dims.empty()) {
        *out = *c ? *x : *y;
        return;
      }
      if (dims.size() == 1) {
        ParallelElements(dims[0], [&](int64_t first, int64_t last) {
          SelectRow(last - first, c + first * c_steps[0], c_steps[0], x + first * x_steps[0],
                    x_steps[0], y + first * y_steps[0], y_steps[0], out + first);
        });
        return;
      }
      const size_t inner = dims.size() - 1;
      const int64_t n = dims[inner];
      const IntArrayRef outer(dims.data(), inner);
      ParallelRanges(Z->numel() / n, n, [&](int64_t first, int64_t last) {
        ForEachRowOf(outer, first, last, [&](int64_t row, const int64_t* index) {
          int64_t at[3] = {0, 0, 0};
          for (size_t i = 0; i < inner; ++i) {
            at[0] += index[i] * c_steps[i];
            at[1] += index[i] * x_steps[i];
            at[2] += index[i] * y_steps[i];
          }
          SelectRow(n, c + at[0], c_steps[inner], x + at[1], x_steps[inner], y + at[2],
                    y_steps[inner], out + row * n);
        });
      });
    });
    return true;
  }

 private:
  std::vector<int64_t> dims_, flat_;
};

// X has the gradient where the condition holds, Y elsewhere; both are summed over what was broadcast.
class GetOnnxWhereGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    const std::string zero = GI(1) + "_zero";
    std::vector<OperatorDef> ops = {CreateOperatorDef("ConstantFill", "", {}, {zero}, {})};
    for (const int i : {1, 2}) {
      const std::string whole = GI(i) + "_before_sum";
      ops.push_back(CreateOperatorDef(
          "ONNXWhere", "", {I(0), i == 1 ? GO(0) : zero, i == 1 ? zero : GO(0)}, {whole}));
      ops.push_back(CreateOperatorDef("SumReduceLike", "", {whole, ShapeOf(i)}, {GI(i)},
                                      {MakeArgument("numpy", 1)}));
    }
    return ops;
  }
};

}  // namespace

void RegisterOnnxWhere() {
  RegisterSchema("ONNXWhere", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Input(0, "condition", "bool")
      .Input(1, "X", "any type")
      .Input(2, "Y", "the type of X")
      .Output(0, "Z", "X where the condition holds, else Y; the shape to which all are broadcast")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 3)) return UnknownOutputs(def);
        std::vector<int64_t> dims = GetDimsVector(in[0]);
        JoinBroadcastDims(GetDimsVector(in[1]), &dims);
        JoinBroadcastDims(GetDimsVector(in[2]), &dims);
        return std::vector<TensorShape>{CreateTensorShape(dims, in[1].data_type())};
      })
      .InheritOnnxSchema("Where")
      .Traits({.family = OperatorFamily::kElementwise})
      .SetDoc(
          "Selects elements of one of two tensors by a condition, with numpy's broadcasting, as "
          "ONNX's "
          "Where does.");
  RegisterCpuOperator<ONNXWhereOp>("ONNXWhere", __FILE__);
  RegisterGradient<GetOnnxWhereGradient>("ONNXWhere", __FILE__);
}

}  // namespace caffe2rt
