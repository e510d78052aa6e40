// GatherND: ONNX's operator (opset 13).
//   data, indices int32 or int64 [..., n], argument batch_dims
//   ->  Y: each row of n indices names a slice of data, after the batch dimensions
// ScatterND: ONNX's operator (opset 18).
//   data, indices int32 or int64 [..., n], updates [the rows of indices, the shape of a slice]
//   ->  Y, a copy of data in which each named slice is combined with its update (argument reduction)
//
// Negative indices count from the end. Updates of the same slice are applied in their order.

#include <algorithm>

#include "caffe2_core/base/checked_math.h"
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

namespace {

constexpr ArgumentSpec<int> kGatherNdBatchDims{
    "batch_dims",
    0,
    "number of leading dimensions that data and indices have in common",
    {[](int dims) { return dims >= 0; }, "at least 0"}};

// The slices that rows of indices name.
struct NamedSlices {
  // THROWS if the shapes do not fit.
  NamedSlices(IntArrayRef data, IntArrayRef indices, size_t batch_dims) : dims(data) {
    CAFFE_ENFORCE(!indices.empty() && indices.size() > batch_dims && data.size() > batch_dims,
                  "input 0 (data) has shape ", data, " and input 1 (indices) ", indices,
                  ", want ranks above batch_dims ", batch_dims);
    CAFFE_ENFORCE_LE(indices.back(), static_cast<int64_t>(data.size() - batch_dims),
                     "last dim of input 1 (indices) of shape ", indices,
                     ", want at most the rank of ", "input 0 (data) of shape ", data,
                     " without batch_dims ", batch_dims);
    for (size_t i = 0; i < batch_dims; ++i) {
      CAFFE_ENFORCE_EQ(indices[i], data[i], "dim ", i, " of input 1 (indices), a batch dimension");
      batches *= data[i];
    }
    first = batch_dims;
    count = static_cast<size_t>(indices.back());
    rows = CheckedProduct(indices.slice(0, indices.size() - 1));
    slice = CheckedProduct(data.slice(first + count));
    batch_size = CheckedProduct(data.slice(first));
  }
  // Writes the offset of each row's slice. THROWS if an index is out of range.
  template <class Index>
  void Locate(const Index* indices, std::vector<int64_t>* offsets) const {
    offsets->resize(static_cast<size_t>(rows));
    const int64_t per_batch = batches > 0 ? rows / batches : 0;
    for (int64_t row = 0; row < rows; ++row) {
      int64_t offset = 0;
      for (size_t i = 0; i < count; ++i) {
        const int64_t size = dims[first + i];
        int64_t index = static_cast<int64_t>(*indices++);
        CAFFE_ENFORCE(index >= -size && index < size, "row ", row,
                      " of input 1 (indices) has index ", index, " for a dimension of size ", size);
        if (index < 0) index += size;
        offset = offset * size + index;
      }
      (*offsets)[static_cast<size_t>(row)] = row / per_batch * batch_size + offset * slice;
    }
  }

  IntArrayRef dims;
  size_t first = 0, count = 0;
  int64_t batches = 1, rows = 0, slice = 0, batch_size = 0;
};

void LocateSlices(const NamedSlices& slices, const Tensor& indices, std::vector<int64_t>* offsets) {
  DispatchByType<int64_t, int32_t>(indices.dtype(), "input 1 (indices)", [&](auto element) {
    slices.Locate(indices.data<decltype(element)>(), offsets);
  });
}

// The shape of the rows of indices, then that of a slice.
void SliceRowsDims(IntArrayRef data, IntArrayRef indices, const NamedSlices& slices,
                   std::vector<int64_t>* dims) {
  dims->assign(indices.begin(), indices.end() - 1);
  dims->insert(dims->end(), data.begin() + static_cast<std::ptrdiff_t>(slices.first + slices.count),
               data.end());
}

class GatherNDOp final : public Operator<CPUContext> {
 public:
  GatherNDOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), batch_dims_(ReadArgument(kGatherNdBatchDims)) {}

  bool RunOnDevice() override {
    const Tensor& data = Input(0);
    const Tensor& indices = Input(1);
    RequireElementsOf<int32_t, int64_t>(indices, "input 1 (indices)");
    const NamedSlices slices(data.sizes(), indices.sizes(), static_cast<size_t>(batch_dims_));
    SliceRowsDims(data.sizes(), indices.sizes(), slices, &dims_);
    Tensor* const Y = Output(0);
    Y->Resize(dims_);
    void* const y = OutputMemory(Y, data.dtype());
    if (Y->numel() == 0) return true;
    LocateSlices(slices, indices, &offsets_);
    DispatchBySize(data.dtype(), "input 0 (data)", [&](auto element) {
      using T = decltype(element);
      const T* const x = static_cast<const T*>(data.raw_data());
      ParallelRanges(slices.rows, slices.slice, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          std::copy_n(x + offsets_[static_cast<size_t>(row)], slices.slice,
                      static_cast<T*>(y) + row * slices.slice);
        }
      });
    });
    return true;
  }

 private:
  const int batch_dims_;
  std::vector<int64_t> dims_, offsets_;
};

class ScatterNDOp final : public Operator<CPUContext> {
 public:
  ScatterNDOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), reduction_(ReadScatterReduction(args())) {}

  bool RunOnDevice() override {
    const Tensor& data = Input(0);
    const Tensor& indices = Input(1);
    const Tensor& updates = Input(2);
    const TypeMeta type = data.dtype();
    RequireElementsOf<int32_t, int64_t>(indices, "input 1 (indices)");
    const NamedSlices slices(data.sizes(), indices.sizes(), 0);
    SliceRowsDims(data.sizes(), indices.sizes(), slices, &dims_);
    CAFFE_ENFORCE(updates.dims() == dims_, "input 2 (updates) has shape ", updates.sizes(),
                  ", want ", IntArrayRef(dims_),
                  ": the rows of input 1 (indices), then a slice of input 0");
    CAFFE_ENFORCE(updates.dtype() == type, "input 2 (updates) has elements of type ",
                  updates.dtype().name(), ", want ", type.name(), " as input 0 (data)");
    DispatchScatter(type, reduction_, [](auto, auto) {});
    Tensor* const Y = Output(0);
    if (Y != &data) CopyReshaped(context_, data, data.sizes(), Y);
    if (updates.numel() == 0) return true;
    LocateSlices(slices, indices, &offsets_);
    DispatchScatter(type, reduction_, [&](auto element, auto how) {
      using T = decltype(element);
      const T* update = static_cast<const T*>(updates.raw_data());
      T* const y = static_cast<T*>(Y->raw_mutable_data(type));
      for (const int64_t offset : offsets_) {
        T* const slice = y + offset;
        for (int64_t i = 0; i < slices.slice; ++i)
          slice[i] = Combined<decltype(how)::value>(slice[i], *update++);
      }
    });
    return true;
  }

 private:
  const ScatterReduction reduction_;
  std::vector<int64_t> dims_, offsets_;
};

std::vector<TensorShape> InferGatherNd(const OperatorDef& def, const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 2)) return {in.empty() ? UnknownShape() : UnknownShapeLike(in[0])};
  const std::vector<int64_t> data = GetDimsVector(in[0]), indices = GetDimsVector(in[1]);
  const NamedSlices slices(data, indices,
                           static_cast<size_t>(ArgumentHelper(def).Read(kGatherNdBatchDims)));
  std::vector<int64_t> dims;
  SliceRowsDims(data, indices, slices, &dims);
  return {CreateTensorShape(dims, in[0].data_type())};
}

}  // namespace

void RegisterGatherNd() {
  RegisterSchema("GatherND", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Arg(kGatherNdBatchDims)
      .Input(0, "data", "tensor of rank 1 or more")
      .Input(1, "indices", "int32 or int64 [..., n]: n leading indices of a slice in each row")
      .Output(0, "Y", "the slices: [..., the shape of a slice]")
      .TensorInferenceFunction(InferGatherNd)
      .InheritOnnxSchema()
      .Traits({.family = OperatorFamily::kShape})
      .SetDoc("Copies the slices of a tensor that rows of indices name, as ONNX's GatherND does.");
  RegisterCpuOperator<GatherNDOp>("GatherND", __FILE__);
  // Models are trained by other operators.
  RegisterGradient<GradientNotImplementedYet>("GatherND", __FILE__);

  RegisterSchema("ScatterND", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .AllowInplace({{0, 0}})
      .Arg(kScatterReduction)
      .Input(0, "data", "tensor of rank 1 or more")
      .Input(1, "indices", "int32 or int64 [..., n]: n leading indices of a slice in each row")
      .Input(2, "updates", "[..., the shape of a slice], the type of data")
      .Output(0, "Y", "data with the updates")
      .IdenticalTypeAndShapeOfInput(0)
      .InheritOnnxSchema()
      .Traits({.family = OperatorFamily::kShape, .same_shape = true})
      .SetDoc(
          "Writes slices into a copy of a tensor, at rows of indices, as ONNX's ScatterND does.");
  RegisterCpuOperator<ScatterNDOp>("ScatterND", __FILE__);
  // Models are trained by other operators.
  RegisterGradient<GradientNotImplementedYet>("ScatterND", __FILE__);
}

}  // namespace caffe2rt
