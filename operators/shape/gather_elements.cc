// GatherElements: ONNX's operator (opset 13).
//   data, indices int32 or int64, argument axis  ->  Y, the shape of indices
//   axis 1 of three: Y[i, j, k] = data[i, indices[i, j, k], k]
// ScatterElements: ONNX's operator (opset 18).
//   data, indices int32 or int64, updates of their shape, arguments axis and reduction
//   ->  Y, a copy of data in which Y[i, indices[i, j, k], k] is combined with updates[i, j, k]
// Scatter: Caffe2's operator: ScatterElements without a reduction and without negative indices.
// GatherElementsGradient: data (for its shape), indices, dY  ->  dX, the sum of the dY of each element
//
// Negative indices of ONNX's operators count from the end. Updates of the same element are applied in their order.

#include <algorithm>
#include <array>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/copy_rows.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/integer_input.h"
#include "operators/primitives/parallel_ranges.h"
#include "operators/shape/element_index.h"

namespace caffe2rt {

ScatterReduction ReadScatterReduction(const ArgumentHelper& args) {
  const std::string name = args.Read(kScatterReduction);
  using enum ScatterReduction;
  if (name == "add") return kAdd;
  if (name == "mul") return kMul;
  if (name == "max") return kMax;
  return name == "min" ? kMin : kNone;
}

namespace {

constexpr ArgumentSpec<int> kGatherElementsAxis{
    "axis", 0, "dimension that the indices address; negative ones count from the end"};

constexpr ArgumentSpec<int> kScatterAxis{
    "axis", 1, "dimension that the indices address; negative ones count from the end"};

// THROWS unless indices have the rank of data, and fit into it in all dimensions but the axis.
void CheckElementShapes(const Tensor& data, const Tensor& indices, int64_t axis) {
  RequireElementsOf<int32_t, int64_t>(indices, "input 1 (indices)");
  bool fits = indices.dim() == data.dim();
  for (int i = 0; fits && i < data.dim(); ++i) fits = i == axis || indices.dim(i) <= data.dim(i);
  CAFFE_ENFORCE(fits, "input 1 (indices) has shape ", indices.sizes(),
                ", want the rank of input 0 (data) of shape ", data.sizes(),
                " and no larger sizes except for dim ", axis);
}

// The rows of indices, along their last dimension, and where each begins in the data.
struct ElementRows {
  ElementRows(IntArrayRef data, IntArrayRef indices, int64_t axis)
      : outer(indices.data(), indices.size() - 1),
        length(indices.back()),
        size(data[static_cast<size_t>(axis)]),
        along_rows(axis + 1 == static_cast<int64_t>(data.size())) {
    int64_t stride = 1;
    for (size_t i = data.size(); i-- > 0;) {
      strides[i] = i == static_cast<size_t>(axis) ? 0 : stride;
      if (i == static_cast<size_t>(axis)) axis_stride = stride;
      stride *= data[i];
    }
    for (const int64_t dim : outer) rows *= dim;
  }
  // Calls visit(p, offset) for each index in rows [first, last): position p of the indices and the
  // offset of its element of data.
  template <class Index, class Visit>
  void ForEach(const Index* indices, int64_t first, int64_t last, const Visit& visit) const {
    ForEachRowOf(outer, first, last, [&](int64_t row, const int64_t* at) {
      int64_t begin = 0;
      for (size_t i = 0; i < outer.size(); ++i) begin += at[i] * strides[i];
      const int64_t step = along_rows ? 0 : 1;
      const int64_t position = row * length;
      for (int64_t j = 0; j < length; ++j) {
        int64_t index = static_cast<int64_t>(indices[position + j]);
        if (index < 0) index += size;
        visit(position + j, begin + j * step + index * axis_stride);
      }
    });
  }

  IntArrayRef outer;
  int64_t length, size, axis_stride = 1, rows = 1;
  bool along_rows;
  std::array<int64_t, kMaxLoops> strides{};
};

// Calls function(typed pointer) for the indices, which are checked against `size` before.
template <class F>
void WithIndices(const Tensor& indices, int64_t size, const F& function) {
  DispatchByType<int64_t, int32_t>(indices.dtype(), "input 1 (indices)", [&](auto element) {
    const auto* const data = indices.data<decltype(element)>();
    CheckIndices(data, indices.numel(), size, "input 1 (indices)");
    function(data);
  });
}

// Combines the updates with the elements of y, which has the shape of `data`.
void ScatterUpdates(IntArrayRef data, const Tensor& indices, int64_t axis, const Tensor& updates,
                    ScatterReduction reduction, void* y) {
  if (indices.numel() == 0) return;
  const ElementRows rows(data, indices.sizes(), axis);
  WithIndices(indices, rows.size, [&](const auto* places) {
    DispatchScatter(updates.dtype(), reduction, [&](auto element, auto how) {
      using T = decltype(element);
      const T* const values = static_cast<const T*>(updates.raw_data());
      T* const out = static_cast<T*>(y);
      rows.ForEach(places, 0, rows.rows, [&](int64_t i, int64_t offset) {
        out[offset] = Combined<decltype(how)::value>(out[offset], values[i]);
      });
    });
  });
}

class GatherElementsOp final : public Operator<CPUContext> {
 public:
  GatherElementsOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), axis_(ReadArgument(kGatherElementsAxis)) {}

  bool RunOnDevice() override {
    const Tensor& data = Input(0);
    const Tensor& indices = Input(1);
    const int64_t axis = PlaceAxis(axis_, data.dim());
    CheckElementShapes(data, indices, axis);
    Tensor* const Y = Output(0);
    Y->Resize(indices.sizes());
    void* const y = OutputMemory(Y, data.dtype());
    if (indices.numel() == 0) return true;
    const ElementRows rows(data.sizes(), indices.sizes(), axis);
    WithIndices(indices, rows.size, [&](const auto* places) {
      DispatchBySize(data.dtype(), "input 0 (data)", [&](auto element) {
        using T = decltype(element);
        const T* const x = static_cast<const T*>(data.raw_data());
        T* const out = static_cast<T*>(y);
        ParallelRanges(rows.rows, rows.length, [&](int64_t first, int64_t last) {
          rows.ForEach(places, first, last, [&](int64_t i, int64_t offset) { out[i] = x[offset]; });
        });
      });
    });
    return true;
  }

 private:
  const int axis_;
};

// ScatterElements; with kIsGradient onto zeros of the shape of data.
template <bool kIsGradient>
class ScatterElementsOp final : public Operator<CPUContext> {
 public:
  ScatterElementsOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), axis_(ReadArgument(kGatherElementsAxis)) {
    reduction_ = kIsGradient ? ScatterReduction::kAdd : ReadScatterReduction(args());
  }

  bool RunOnDevice() override {
    const Tensor& data = Input(0);
    const Tensor& indices = Input(1);
    const Tensor& updates = Input(2);
    const int64_t axis = PlaceAxis(axis_, data.dim());
    const TypeMeta type = updates.dtype();
    CheckElementShapes(data, indices, axis);
    CAFFE_ENFORCE(updates.sizes() == indices.sizes(), "input 2 has shape ", updates.sizes(),
                  ", want that of input 1 (indices) ", indices.sizes());
    CAFFE_ENFORCE(kIsGradient || data.dtype() == type, "input 2 (updates) has elements of type ",
                  type.name(), ", want ", data.dtype().name(), " as input 0 (data)");
    DispatchScatter(type, reduction_, [](auto, auto) {});
    Tensor* const Y = Output(0);
    if (kIsGradient) {
      Y->Resize(data.sizes());
      void* const y = OutputMemory(Y, type);
      if (Y->numel() > 0) FillZeros(context_, Y->nbytes(), y);
    } else if (Y != &data) {
      CopyReshaped(context_, data, data.sizes(), Y);
    }
    if (indices.numel() == 0) return true;
    ScatterUpdates(Y->sizes(), indices, axis, updates, reduction_, Y->raw_mutable_data(type));
    return true;
  }

 private:
  const int axis_;
  ScatterReduction reduction_;
};

class ScatterOp final : public Operator<CPUContext> {
 public:
  ScatterOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), axis_(ReadArgument(kScatterAxis)) {}

  bool RunOnDevice() override {
    const Tensor& data = Input(0);
    const Tensor& indices = Input(1);
    const Tensor& updates = Input(2);
    const int64_t axis = PlaceAxis(axis_, data.dim());
    CheckElementShapes(data, indices, axis);
    CAFFE_ENFORCE(updates.sizes() == indices.sizes(), "input 2 (UPDATES) has shape ",
                  updates.sizes(), ", want that of input 1 (indices) ", indices.sizes());
    CAFFE_ENFORCE(data.dtype() == updates.dtype(), "input 2 (UPDATES) has elements of type ",
                  updates.dtype().name(), ", want ", data.dtype().name(), " as input 0 (DATA)");
    DispatchScatter(data.dtype(), ScatterReduction::kNone, [](auto, auto) {});
    DispatchByType<int64_t, int32_t>(indices.dtype(), "input 1 (indices)", [&](auto element) {
      const auto* const index = indices.data<decltype(element)>();
      for (int64_t i = 0; i < indices.numel(); ++i)
        CAFFE_ENFORCE_GE(index[i], 0, "element ", i, " of input 1 (indices)");
    });
    Tensor* const Y = Output(0);
    if (Y != &data) CopyReshaped(context_, data, data.sizes(), Y);
    if (indices.numel() == 0) return true;
    ScatterUpdates(Y->sizes(), indices, axis, updates, ScatterReduction::kNone,
                   Y->raw_mutable_data(data.dtype()));
    return true;
  }

 private:
  const int axis_;
};

class GetGatherElementsGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("GatherElementsGradient", "", {I(0), I(1), GO(0)}, {GI(0)});
  }
};

}  // namespace

void RegisterGatherElements() {
  RegisterSchema("GatherElements", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Arg(kGatherElementsAxis)
      .Input(0, "data", "tensor of rank 1 or more")
      .Input(1, "indices", "int32 or int64, of the rank of data")
      .Output(0, "Y", "the shape of indices and the type of data")
      .TensorInferenceFunction(InferShapeAndType(1, 0))
      .InheritOnnxSchema()
      .Traits({.family = OperatorFamily::kShape})
      .SetDoc(
          "Copies one element for each index, as ONNX's GatherElements does: the index replaces "
          "the coordinate along the axis.");
  RegisterCpuOperator<GatherElementsOp>("GatherElements", __FILE__);
  RegisterGradient<GetGatherElementsGradient>("GatherElements", __FILE__);

  RegisterSchema("ScatterElements", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .AllowInplace({{0, 0}})
      .Args(kGatherElementsAxis, kScatterReduction)
      .Input(0, "data", "tensor of rank 1 or more")
      .Input(1, "indices", "int32 or int64, of the rank of data")
      .Input(2, "updates", "the shape of indices and the type of data")
      .Output(0, "Y", "data with the updates")
      .IdenticalTypeAndShapeOfInput(0)
      .InheritOnnxSchema()
      .Traits({.family = OperatorFamily::kShape, .same_shape = true})
      .SetDoc(
          "Writes one element for each index into a copy of data, as ONNX's ScatterElements does: "
          "the index replaces the coordinate along the axis.");
  RegisterCpuOperator<ScatterElementsOp<false>>("ScatterElements", __FILE__);
  // Models are trained by other operators.
  RegisterGradient<GradientNotImplementedYet>("ScatterElements", __FILE__);

  RegisterSchema("Scatter", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .AllowInplace({{0, 0}})
      .Arg(kScatterAxis)
      .Input(0, "DATA", "tensor of rank 1 or more")
      .Input(1, "INDICES", "int32 or int64, of the rank of DATA, at least 0")
      .Input(2, "UPDATES", "the shape of INDICES and the type of DATA")
      .Output(0, "OUTPUT", "DATA with the updates")
      .IdenticalTypeAndShapeOfInput(0)
      .Traits({.family = OperatorFamily::kShape, .same_shape = true})
      .SetDoc(
          "Writes one element for each index into a copy of DATA: the index replaces the "
          "coordinate along the axis. Of updates of the same element, the last one counts.");
  RegisterCpuOperator<ScatterOp>("Scatter", __FILE__);
  // As in Caffe2, the gradient is not defined.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("Scatter", __FILE__);

  RegisterSchema("GatherElementsGradient", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Arg(kGatherElementsAxis)
      .Input(0, "data", "input 0 of GatherElements, for its shape")
      .Input(1, "indices", "int32 or int64")
      .Input(2, "dY", "the gradient of the output")
      .Output(0, "dX", "the shape of data")
      .TensorInferenceFunction(InferShapeAndType(0, 2))
      .SetDoc("Computes the gradient of GatherElements.");
  RegisterCpuOperator<ScatterElementsOp<true>>("GatherElementsGradient", __FILE__);
}

}  // namespace caffe2rt
