// BatchBucketOneHot: the bucket of each element among the boundaries of its column, as one-hot vectors.
//   data [N, D] float, lengths int32 [D], boundaries float [sum of lengths]  ->  [N, D + sum of lengths]
// SegmentOneHot: a row for each segment of indices, 1 at each of its indices.
//   lengths int32 [S], indices int64 [sum of lengths], index_size int64 (one element)  ->  [S, index_size]
#include <algorithm>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/segment_offsets.h"

namespace caffe2rt {
namespace {

class BatchBucketOneHotOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const Tensor& data = Input(0);
    const Tensor& lengths = Input(1);
    const Tensor& boundaries = Input(2);
    CAFFE_ENFORCE_GE(data.dim(), 1, "rank of input 0 (data)");
    const int64_t rows = data.dim(0), columns = data.size_from_dim(1);
    CAFFE_ENFORCE_EQ(lengths.numel(), columns,
                     "elements of input 1 (lengths), want the columns of input 0 (data) of shape ",
                     data.sizes());
    RequireElements<float>(data);
    const float* const boundary = boundaries.data<float>();
    segments_.Read<int32_t>(*this, 1, "input 1 (lengths)");
    for (int64_t c = 0; c < columns; ++c) {
      CAFFE_ENFORCE_GE(segments_.length(c), 1, "element ", c,
                       " of input 1 (lengths), the boundaries of a column");
    }
    CAFFE_ENFORCE_EQ(boundaries.numel(), segments_.total(),
                     "elements of input 2 (boundaries), want the sum of the lengths");
    const float* x = data.data<float>();
    const int64_t width = CheckedAdd(columns, segments_.total());
    float* y = OutputData<float>(0, {rows, width});
    std::fill_n(y, rows * width, 0.0f);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t c = 0; c < columns; ++c) {
        const int64_t n = segments_.length(c);
        y[Bucket(*x++, boundary + segments_.offset(c), n)] = 1;
        y += n + 1;
      }
    }
    return true;
  }

 private:
  // Halfway between the first boundary that is not less and the first that is greater, as equal boundaries enclose
  // buckets without a width.
  static int64_t Bucket(float x, const float* boundaries, int64_t n) {
    return (std::lower_bound(boundaries, boundaries + n, x) - boundaries +
            (std::upper_bound(boundaries, boundaries + n, x) - boundaries)) /
           2;
  }
  SegmentOffsets<CPUContext> segments_;
};

class SegmentOneHotOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const Tensor& lengths = Input(0);
    const Tensor& indices = Input(1);
    const Tensor& size = Input(2);
    CAFFE_ENFORCE_EQ(lengths.dim(), 1, "rank of input 0 (lengths) of shape ", lengths.sizes());
    CAFFE_ENFORCE_EQ(indices.dim(), 1, "rank of input 1 (indices) of shape ", indices.sizes());
    CAFFE_ENFORCE_EQ(size.numel(), 1, "elements of input 2 (index_size_tensor)");
    RequireElements<int64_t>(size);
    const int64_t* const index = indices.data<int64_t>();
    segments_.Read<int32_t>(*this, 0, "input 0 (lengths)");
    CAFFE_ENFORCE_EQ(indices.numel(), segments_.total(),
                     "elements of input 1 (indices), want the sum of the lengths");
    const int64_t n = *size.data<int64_t>();
    CAFFE_ENFORCE_GE(n, 0, "input 2 (index_size_tensor)");
    float* const y = OutputData<float>(0, {segments_.count(), n});
    std::fill_n(y, segments_.count() * n, 0.0f);
    for (int64_t s = 0; s < segments_.count(); ++s) {
      for (int64_t i = segments_.offset(s); i < segments_.offset(s + 1); ++i) {
        CAFFE_ENFORCE(index[i] >= 0 && index[i] < n, "element ", i, " of input 1 (indices) is ",
                      index[i], ", want at least 0 and less than index_size ", n);
        y[s * n + index[i]] = 1;
      }
    }
    return true;
  }

 private:
  SegmentOffsets<CPUContext> segments_;
};

}  // namespace

void RegisterBucketOneHot() {
  RegisterSchema("BatchBucketOneHot", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Input(0, "data", "[N, D] float")
      .Input(1, "lengths", "[D] int32, at least 1: the number of boundaries of each column")
      .Input(2, "boundaries", "[sum of lengths] float: the boundaries of each column, ascending")
      .Output(0, "output",
              "[N, sum of lengths + D] float: 1 in the element's bucket, of which a column has one "
              "more "
              "than boundaries")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 3) || in[0].dims_size() == 0) return UnknownOutputs(def);
        const std::vector<int64_t> dims = {
            in[0].dims(0),
            CheckedAdd(CheckedProduct(GetDimsVector(in[1])), CheckedProduct(GetDimsVector(in[2])))};
        return std::vector<TensorShape>{CreateTensorShape(dims, TensorProto_DataType_FLOAT)};
      })
      .SetDoc(
          "Encodes the bucket of each element as a one-hot vector. An element that equals "
          "boundaries is in the "
          "bucket halfway between those below and above them, rounded down.");
  RegisterCpuOperator<BatchBucketOneHotOp>("BatchBucketOneHot", __FILE__);
  RegisterSchema("SegmentOneHot", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Input(0, "lengths", "[S] int32: the number of indices of each segment")
      .Input(1, "indices", "[sum of lengths] int64, at least 0 and less than index_size")
      .Input(2, "index_size_tensor", "int64, one element: the columns of the output")
      .Output(0, "one_hots", "[S, index_size] float: 1 at the indices of the segment, 0 elsewhere")
      .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>&) {
        return std::vector<TensorShape>{UnknownShapeOf(TensorProto_DataType_FLOAT)};
      })
      .Traits({.family = OperatorFamily::kShape,
               .no_shape_reason = "the columns are the value of an input"})
      .SetDoc("Marks the indices of each segment in a row.");
  RegisterCpuOperator<SegmentOneHotOp>("SegmentOneHot", __FILE__);
  // Indices are no differentiable function of anything.
  RegisterGradient<NoGradient>("SegmentOneHot", __FILE__);
}

}  // namespace caffe2rt
