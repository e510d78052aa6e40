#pragma once
// The gradient operators of segment operators (segment_types.h lists them): each row that was
// reduced gets the gradient of its segment, multiplied by what the reduction asks for.
//   [SCALARS], [DATA], [OUTPUT], gradient [segments, inner..], SEGMENT_IDS or LENGTHS, [INDICES]
//     -> gradient of the rows [rows, inner..], [gradient of SCALARS]
//
// The positions of the inputs differ between the types. All tensors except the last two inputs hold
// floats.

#include <vector>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "operators/common/copy_rows.h"
#include "operators/segment/segment_input.h"

namespace caffe2rt {

template <class Context>
class SegmentGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SegmentGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), row_(SegmentGradientOf(def.type())) {}

  bool RunOnDevice() override {
    if (row_.indices < 0) return RunWith<int32_t>(nullptr);
    const Tensor& indices = Input(row_.indices);
    CAFFE_ENFORCE_EQ(indices.dim(), 1, "rank of input INDICES of shape ", indices.sizes(),
                     ", want a vector");
    return DispatchByType<int32_t, int64_t>(indices.dtype(), "input INDICES", [&](auto index) {
      return RunWith<decltype(index)>(indices.template data<decltype(index)>());
    });
  }

 private:
  template <class Index>
  bool RunWith(const Index* indices) {
    const Tensor& gradient = Input(row_.gradient);
    CAFFE_ENFORCE_GE(gradient.dim(), 1, "rank of input ", row_.gradient, " (SEGMENT_GRADS)");
    const int64_t count = gradient.dim(0);
    segments_.Read(*this, row_.by, row_.segments, row_.by == SegmentsBy::kUnsortedIds ? count : -1);
    const int64_t positions = segments_.positions();
    // As in Caffe2, gradients without sorted ids are left out.
    CAFFE_ENFORCE(
        segments_.count() == count || (row_.by == SegmentsBy::kSortedIds && positions == 0),
        SubjectOf(row_.by, row_.segments), " describes ", segments_.count(), " segments, want ",
        count, ", dim 0 of input ", row_.gradient, " (SEGMENT_GRADS) of shape ", gradient.sizes());
    SpreadJob<Index> job{.reduction = row_.reduction,
                         .segments = segments_.count(),
                         .positions = positions,
                         .block = gradient.size_from_dim(1),
                         .indices = indices,
                         .dy = gradient.template data<float>()};
    ReadData(&job);
    if (indices != nullptr) {
      CAFFE_ENFORCE_EQ(Input(row_.indices).numel(), positions,
                       "number of indices, want the sum of input LENGTHS");
    }
    if (row_.scalars >= 0) ReadScalars(&job);
    dims_.assign(gradient.dims().begin(), gradient.dims().end());
    dims_[0] = positions;
    job.dx = this->template OutputData<float>(0, dims_);
    if (row_.data >= 0 && row_.scalars >= 0 && this->OutputSize() > 1) {
      job.dweights = this->template OutputData<float>(1, Input(row_.scalars).sizes());
    }
    if (positions > 0) Spread(job);
    return true;
  }

  template <class Index>
  void Spread(SpreadJob<Index>& job) {
    if (row_.by != SegmentsBy::kUnsortedIds) {
      job.offsets = segments_.OffsetsOnDevice(context_);
      SpreadGradients(context_, job);
    } else if constexpr (Context::GetDeviceType() == CPU && std::is_same_v<Index, int32_t>) {
      SpreadUnsorted(context_, job, segments_.ids(), &counts_);
    }
  }

  // The input and the output of the forward operator.
  template <class Index>
  void ReadData(SpreadJob<Index>* job) {
    if (row_.by == SegmentsBy::kSortedIds && row_.data >= 0) return ReadRangeData(job);
    if (row_.data >= 0) {
      const Tensor& data = Input(row_.data);
      CAFFE_ENFORCE_GE(data.dim(), 1, "rank of input ", row_.data, " (DATA)");
      job->rows = data.dim(0);
      CAFFE_ENFORCE(data.size_from_dim(1) == job->block || job->positions == 0, "input ", row_.data,
                    " (DATA) has shape ", data.sizes(), ", want rows of ", job->block,
                    " elements, as in SEGMENT_GRADS");
      CAFFE_ENFORCE(row_.indices >= 0 || job->rows == job->positions, "input ", row_.data,
                    " (DATA) has ", job->rows, " rows, want ", job->positions,
                    ", those of all segments");
      job->x = data.template data<float>();
    }
    if (row_.output >= 0) {
      const Tensor& output = Input(row_.output);
      CAFFE_ENFORCE_EQ(output.numel(), Input(row_.gradient).numel(), "elements of input ",
                       row_.output, " (OUTPUT) of shape ", output.sizes(),
                       ", want those of SEGMENT_GRADS of shape ", Input(row_.gradient).sizes());
      job->y = output.template data<float>();
    }
  }

  // As in Caffe2, DATA and OUTPUT of the operators of ranges may have any shape of enough elements.
  template <class Index>
  void ReadRangeData(SpreadJob<Index>* job) {
    const Tensor& data = Input(row_.data);
    const Tensor& output = Input(row_.output);
    const float* const x = data.template data<float>();
    const float* const y = output.template data<float>();
    if (!row_.reads_output()) return;
    CAFFE_ENFORCE_GE(data.numel(), CheckedMultiply<int64_t>(job->positions, job->block),
                     "elements of input ", row_.data, " (DATA) of shape ", data.sizes(), ", want ",
                     job->positions, " rows of ", job->block, ", those of all segments");
    CAFFE_ENFORCE_GE(output.numel(), job->segments * job->block, "elements of input ", row_.output,
                     " (OUTPUT) of shape ", output.sizes(),
                     ", want those of SEGMENT_GRADS of shape ", Input(row_.gradient).sizes());
    job->rows = job->positions;
    job->x = x;
    job->y = y;
  }

  template <class Index>
  void ReadScalars(SpreadJob<Index>* job) {
    const Tensor& scalars = Input(row_.scalars);
    // As in Caffe2, further dimensions of size 1 are allowed, before the rows only next to DATA.
    CAFFE_ENFORCE(scalars.numel() == job->positions &&
                      (row_.data >= 0 || (scalars.dim() >= 1 && scalars.dim(0) == job->positions)),
                  "input ", row_.scalars, " (SCALARS) has shape ", scalars.sizes(), ", want [",
                  job->positions, "], one for each row");
    job->weights = scalars.template data<float>();
  }

  const SegmentGradient& row_;
  SegmentInput<Context> segments_;
  Tensor counts_{Context::GetDeviceType()};
  std::vector<int64_t> dims_;
};

}  // namespace caffe2rt
