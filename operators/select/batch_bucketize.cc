// BatchBucketize: the positions of columns of features among boundaries, of each column its own.
//   feature float [N, D], indices int32 [M]: columns, boundaries float [sum of lengths],
//   lengths int32 [M]  ->  int32 [N, M]
#include <algorithm>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/segment_offsets.h"

namespace caffe2rt {
namespace {

class BatchBucketizeOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;

  bool RunOnDevice() override {
    const Tensor& feature = Input(0);
    const Tensor& indices = Input(1);
    const Tensor& boundaries = Input(2);
    CAFFE_ENFORCE_EQ(feature.dim(), 2, "rank of input 0 (feature) of shape ", feature.sizes());
    for (int i = 1; i < 4; ++i)
      CAFFE_ENFORCE_EQ(Input(i).dim(), 1, "rank of input ", i, " of shape ", Input(i).sizes());
    CAFFE_ENFORCE_EQ(Input(3).numel(), indices.numel(),
                     "elements of input 3 (lengths), want those of input 1 (indices)");
    RequireElements<float>(feature);
    RequireElements<int32_t>(indices);
    RequireElements<float>(boundaries);
    segments_.Read<int32_t>(*this, 3, "input 3 (lengths)");
    CAFFE_ENFORCE_EQ(boundaries.numel(), segments_.total(),
                     "elements of input 2 (boundaries), want the sum of the lengths");
    const int32_t* const index = indices.data<int32_t>();
    const float* const boundary = boundaries.data<float>();
    const int64_t rows = feature.dim(0), columns = feature.dim(1), buckets = indices.numel();
    CheckBoundaries(boundary);
    for (int64_t i = 0; i < buckets; ++i) {
      CAFFE_ENFORCE(index[i] >= 0 && index[i] < columns, "element ", i, " of input 1 (indices) is ",
                    index[i], ", want at least 0 and below ", columns);
    }
    const float* const x = feature.data<float>();
    int32_t* y = OutputData<int32_t>(0, {rows, buckets});
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t i = 0; i < buckets; ++i) {
        const float* const first = boundary + segments_.offset(i);
        const float* const last = boundary + segments_.offset(i + 1);
        // NaN is above all boundaries.
        const float* const above = std::partition_point(
            first, last,
            [value = x[row * columns + index[i]]](float limit) { return !(value <= limit); });
        *y++ = static_cast<int32_t>(above - first);
      }
    }
    return true;
  }

 private:
  void CheckBoundaries(const float* boundary) const {
    for (int64_t i = 0; i < segments_.count(); ++i) {
      const int64_t first = segments_.offset(i);
      for (int64_t k = first; k < segments_.offset(i + 1); ++k) {
        CAFFE_ENFORCE(boundary[k == first ? k : k - 1] <= boundary[k], "element ", k,
                      " of input 2 (boundaries) is ", boundary[k],
                      ", want ascending numbers for element ", i, " of input 1 (indices)");
      }
    }
  }

  SegmentOffsets<CPUContext> segments_;
};

}  // namespace

void RegisterBatchBucketize() {
  RegisterSchema("BatchBucketize", __FILE__)
      .NumInputs(4)
      .NumOutputs(1)
      .Input(0, "feature", "[N, D] float")
      .Input(1, "indices", "[M] int32: columns of feature")
      .Input(2, "boundaries",
             "[sum of lengths] float: the numbers between the buckets of each of the M columns, "
             "ascending")
      .Input(3, "lengths", "[M] int32: the number of boundaries of each column")
      .Output(0, "bucktized_feat", "[N, M] int32: from 0 to the number of boundaries")
      .TypesOfInput(0, {.accepted = {TensorProto::FLOAT}})
      .TypesOfInput(1, {.accepted = {TensorProto::INT32}})
      .TypesOfInput(2, {.accepted = {TensorProto::FLOAT}})
      .TypesOfInput(3, {.accepted = {TensorProto::INT32}})
      .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>& in) {
        const bool known = AreKnown(in, 2) && in[0].dims_size() == 2 && in[1].dims_size() == 1;
        if (!known) return std::vector<TensorShape>{UnknownShapeOf(TensorProto::INT32)};
        return std::vector<TensorShape>{CreateTensorShape(
            std::vector<int64_t>{in[0].dims(0), in[1].dims(0)}, TensorProto::INT32)};
      })
      .SetDoc(
          "Computes the bucket of each element of some columns: the number of boundaries of the "
          "column that are less. An element that equals a boundary is in the bucket below it, and "
          "NaN is in the last bucket.");
  RegisterCpuOperator<BatchBucketizeOp>("BatchBucketize", __FILE__);
  // The features are data, which have no gradient.
  RegisterGradient<NoGradient>("BatchBucketize", __FILE__);
}

}  // namespace caffe2rt
