#pragma once
// The forward segment operators: each reduces the rows of each segment of DATA to one row
// (segment_types.h lists them). Subclasses do not exist; the type selects a row of the table.
//   DATA [rows, inner..] float, [SCALARS float], [INDICES int32 or int64], SEGMENT_IDS or LENGTHS
//     -> OUTPUT [segments, inner..] float
//
// SparseLengths operators also accept DATA of float16. Without indices all their segments are
// empty: as in Caffe2, the elements of LENGTHS and the weights are not read then. On a device, an
// index out of range is reported by the next wait for the stream.

#include <type_traits>
#include <vector>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "operators/common/copy_rows.h"
#include "operators/segment/segment_input.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<bool> kGradOnWeights{
    "grad_on_weights", false, "1: the gradient operator also computes the gradient of SCALARS"};

// Scratch memory of a context.
template <class Context>
struct SegmentScratch {
  Tensor keys{Context::GetDeviceType()}, places{Context::GetDeviceType()},
      offsets{Context::GetDeviceType()}, temporary{Context::GetDeviceType()};
};

// Reduces unsorted segments. `job` has no offsets.
template <class Index>
void ReduceUnsortedSegments(CPUContext& context, const SegmentJob<float, Index>& job,
                            const int32_t* ids, SegmentScratch<CPUContext>* scratch) {
  ReduceUnsorted(context, job, ids, &scratch->temporary);
}
template <class Index>
void ReduceUnsortedSegments(CUDAContext& context, const SegmentJob<float, Index>& job,
                            const int32_t* ids, SegmentScratch<CUDAContext>* scratch);

template <class Context>
class SegmentReductionOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SegmentReductionOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        row_(SegmentReductionOf(def.type())),
        num_segments_(row_.by == SegmentsBy::kUnsortedIds ? this->ReadArgument(kNumSegments) : -1) {
  }

  bool RunOnDevice() override {
    const Tensor& data = Input(0);
    CAFFE_ENFORCE_GE(data.dim(), 1, "rank of input 0 (DATA)");
    const auto with_index = [&](auto element) {
      using T = decltype(element);
      if (!row_.sparse) return RunWith<T, int32_t>(nullptr);
      const Tensor& indices = Input(row_.indices());
      const bool all_empty = row_.by == SegmentsBy::kLengths && indices.numel() == 0;
      CAFFE_ENFORCE(all_empty || indices.dim() == 1, "rank of input ", row_.indices(),
                    " (INDICES) of shape ", indices.sizes(), ", want a vector");
      return DispatchByType<int32_t, int64_t>(indices.dtype(), "input INDICES", [&](auto index) {
        using Index = decltype(index);
        if (all_empty) return WriteZeros();
        return RunWith<T, Index>(&indices);
      });
    };
    if (row_.takes_half()) {
      return DispatchByType<float, float16>(data.dtype(), "input 0 (DATA)", with_index);
    }
    return DispatchByType<float>(data.dtype(), "input 0 (DATA)", with_index);
  }

 private:
  bool WriteZeros() {
    const Tensor& lengths = InputAnywhere(*this, row_.segments());
    CAFFE_ENFORCE_GE(lengths.dim(), 1, "rank of ", SubjectOf(row_.by, row_.segments()));
    CAFFE_ENFORCE(lengths.IsType<int32_t>() || lengths.IsType<int64_t>(),
                  SubjectOf(row_.by, row_.segments()), " has elements of type ",
                  lengths.dtype().name(), ", want int32 or int64");
    const Tensor& data = Input(0);
    dims_.assign(data.dims().begin(), data.dims().end());
    dims_[0] = lengths.dim(0);
    Tensor* const zeros = Output(0, dims_, TypeMeta::Make<float>());
    if (zeros->numel() > 0) FillZeros(context_, zeros->nbytes(), zeros->raw_mutable_data());
    return true;
  }

  // THROWS unless the segments describe all rows that are reduced.
  void CheckPositions(int64_t got, int64_t want) const {
    CAFFE_ENFORCE_EQ(got, want, row_.by == SegmentsBy::kLengths ? "sum of " : "elements of ",
                     SubjectOf(row_.by, row_.segments()), ", want the number of ",
                     row_.sparse ? "indices" : "rows of input 0 (DATA)");
  }

  // `indices` is null if the operator has none.
  template <class T, class Index>
  bool RunWith(const Tensor* indices) {
    const Tensor& data = Input(0);
    const int64_t positions = indices != nullptr ? indices->numel() : data.dim(0);
    SegmentInput<Context>::Check(*this, row_.by, row_.segments());
    const int64_t described = InputAnywhere(*this, row_.segments()).numel();
    if (row_.by != SegmentsBy::kLengths || described == 0) CheckPositions(described, positions);
    const float* const weights = row_.weighted() ? Weights(positions) : nullptr;
    segments_.Read(*this, row_.by, row_.segments(), num_segments_);
    CheckPositions(segments_.positions(), positions);
    if (row_.reduction == Reduction::kPositionalSum) {
      CAFFE_ENFORCE_GE(Input(1).numel(), segments_.longest(),
                       "elements of input 1 (WEIGHT), want those of the longest segment");
    }
    SegmentJob<T, Index> job{
        .reduction = row_.reduction,
        .segments = segments_.count(),
        .positions = positions,
        .rows = data.dim(0),
        .block = data.size_from_dim(1),
        .indices = indices != nullptr ? indices->template data<Index>() : nullptr,
        .data = data.template data<T>()};
    job.weights = weights;
    dims_.assign(data.dims().begin(), data.dims().end());
    dims_[0] = segments_.count();
    job.out = this->template OutputData<float>(0, dims_);
    // The kernels check ids and indices, also if there is nothing to reduce.
    if (job.segments == 0 && positions == 0) return true;
    if (row_.by != SegmentsBy::kUnsortedIds) {
      job.offsets = segments_.OffsetsOnDevice(context_);
      ReduceSegments(context_, job, &scratch_.temporary);
    } else if constexpr (std::is_same_v<T, float>) {
      ReduceUnsortedSegments(context_, job, segments_.ids(), &scratch_);
    }
    return true;
  }

  const float* Weights(int64_t positions) {
    const Tensor& weights = Input(1);
    CAFFE_ENFORCE_EQ(weights.dim(), 1, "rank of input 1 (SCALARS) of shape ", weights.sizes(),
                     ", want a vector");
    if (row_.reduction != Reduction::kPositionalSum) {
      CAFFE_ENFORCE_EQ(weights.numel(), positions,
                       "elements of input 1 (SCALARS), want one for "
                       "each row that is reduced");
    }
    return weights.template data<float>();
  }

  const SegmentReduction& row_;
  const int64_t num_segments_;
  SegmentInput<Context> segments_;
  SegmentScratch<Context> scratch_;
  std::vector<int64_t> dims_;
};

}  // namespace caffe2rt
