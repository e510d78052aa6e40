#include <limits>

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/primitives/cub.h"
#include "operators/segment/segment_reduction.h"

namespace caffe2rt {

template <class Index>
void ReduceUnsortedSegments(CUDAContext& context, const SegmentJob<float, Index>& job,
                            const int32_t* ids, SegmentScratch<CUDAContext>* scratch) {
  const int64_t n = job.positions;
  CAFFE_ENFORCE_LE(n, std::numeric_limits<int32_t>::max(), "number of segment ids");
  scratch->keys.Resize(2, n);
  scratch->places.Resize(2, n);
  int64_t* const keys = scratch->keys.template mutable_data<int64_t>();
  int32_t* const places = scratch->places.template mutable_data<int32_t>();
  if (n > 0) MakeSegmentKeys(context, n, job.segments, ids, keys, places);  // checks the ids
  if (job.segments == 0 || job.block == 0) return;
  if (n > 0) math::SortByCub(context, n, keys, keys + n, places, places + n, &scratch->temporary);
  scratch->offsets.Resize(job.segments + 1);
  int64_t* const offsets = scratch->offsets.template mutable_data<int64_t>();
  FindOffsets(context, n, job.segments, keys + n, offsets);
  SegmentJob<float, Index> sorted = job;
  sorted.offsets = offsets;
  sorted.places = places + n;
  ReduceSegments(context, sorted, &scratch->temporary);
}

// The types for which Caffe2 has CUDA implementations.
void RegisterSegmentReductionCuda() {
  for (const char* type :
       {"UnsortedSegmentSum", "UnsortedSegmentMean", "SortedSegmentRangeMean",
        "SortedSegmentRangeLogMeanExp", "LengthsSum", "LengthsMean", "LengthsMax",
        "SparseLengthsSum", "SparseLengthsMean", "SparseLengthsWeightedSum"}) {
    RegisterOperator<SegmentReductionOp<CUDAContext>>(CUDA, type, __FILE__);
  }
}

}  // namespace caffe2rt
