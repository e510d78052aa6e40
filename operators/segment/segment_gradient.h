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
#include "operators/common/element_type.h"
#include "operators/segment/segment_input.h"

namespace caffe2rt {

template <class Context>
class SegmentGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SegmentGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), row_(SegmentGradientOf(def.type())) {}

  bool RunOnDevice() override {
    CheckInputs();
    if (row_.indices < 0) return RunWith<int32_t>(nullptr);
    const Tensor& indices = Input(row_.indices);
    CAFFE_ENFORCE_EQ(indices.dim(), 1, "rank of input INDICES of shape ", indices.sizes(),
                     ", want a vector");
    return DispatchByType<int32_t, int64_t>(indices.dtype(), "input INDICES", [&](auto index) {
      return RunWith<decltype(index)>(indices.template data<decltype(index)>());
    });
  }

 private:
  // Checks what does not depend on the values of the segments.
  void CheckInputs() const {
    const Tensor& gradient = Input(row_.gradient);
    CAFFE_ENFORCE_GE(gradient.dim(), 1, "rank of input ", row_.gradient, " (SEGMENT_GRADS)");
    SegmentInput<Context>::Check(*this, row_.by, row_.segments);
    const int64_t described = InputAnywhere(*this, row_.segments).numel();
    if (row_.by == SegmentsBy::kLengths) CheckCount(described, gradient);
    if (row_.by == SegmentsBy::kSortedIds) CheckSortedIds(described, gradient);
    for (const int i : {row_.gradient, row_.scalars, row_.data, row_.output}) {
      if (i >= 0) RequireElements<float>(Input(i));
    }
    const int64_t positions = PositionsOfShapes();
    CheckData(positions);
    if (row_.scalars >= 0) CheckScalars(positions);
  }

  // The number of rows that were reduced, as the shapes state it. Lengths must add up to it.
  int64_t PositionsOfShapes() const {
    if (row_.by != SegmentsBy::kLengths) return InputAnywhere(*this, row_.segments).numel();
    if (row_.indices >= 0) return Input(row_.indices).numel();
    if (row_.data >= 0 && Input(row_.data).dim() > 0) return Input(row_.data).dim(0);
    return row_.scalars >= 0 ? Input(row_.scalars).numel() : 0;
  }

  // Checks the shapes of the input and the output of the forward operator.
  void CheckData(int64_t positions) const {
    if (row_.by == SegmentsBy::kSortedIds && row_.data >= 0) return CheckRangeData(positions);
    const Tensor& gradient = Input(row_.gradient);
    if (row_.data >= 0) {
      const Tensor& data = Input(row_.data);
      CAFFE_ENFORCE_GE(data.dim(), 1, "rank of input ", row_.data, " (DATA)");
      const int64_t block = gradient.size_from_dim(1);
      CAFFE_ENFORCE(data.size_from_dim(1) == block || positions == 0, "input ", row_.data,
                    " (DATA) has shape ", data.sizes(), ", want rows of ", block,
                    " elements, as in SEGMENT_GRADS");
      CAFFE_ENFORCE(row_.indices >= 0 || data.dim(0) == positions, "input ", row_.data,
                    " (DATA) has ", data.dim(0), " rows, want ", positions,
                    ", those of all segments");
    }
    if (row_.output >= 0) {
      const Tensor& output = Input(row_.output);
      CAFFE_ENFORCE_EQ(output.numel(), gradient.numel(), "elements of input ", row_.output,
                       " (OUTPUT) of shape ", output.sizes(),
                       ", want those of SEGMENT_GRADS of shape ", gradient.sizes());
    }
  }

  // As in Caffe2, DATA and OUTPUT of the operators of ranges may have any shape of enough elements.
  void CheckRangeData(int64_t positions) const {
    if (!row_.reads_output() || positions == 0) return;
    const Tensor& data = Input(row_.data);
    const Tensor& output = Input(row_.output);
    const Tensor& gradient = Input(row_.gradient);
    const int64_t block = gradient.size_from_dim(1);
    CAFFE_ENFORCE_GE(data.numel(), CheckedMultiply(positions, block), "elements of input ",
                     row_.data, " (DATA) of shape ", data.sizes(), ", want ", positions,
                     " rows of ", block, ", those of all segments");
    CAFFE_ENFORCE_GE(output.numel(), gradient.numel(), "elements of input ", row_.output,
                     " (OUTPUT) of shape ", output.sizes(),
                     ", want those of SEGMENT_GRADS of shape ", gradient.sizes());
  }

  // Each segment has an id. As in Caffe2, gradients without ids are left out.
  void CheckSortedIds(int64_t ids, const Tensor& gradient) const {
    const int64_t count = gradient.dim(0);
    CAFFE_ENFORCE(ids == 0 || (count > 0 && count <= ids), SubjectOf(row_.by, row_.segments),
                  " has ", ids, " ids, which cannot describe ", count, " segments, dim 0 of input ",
                  row_.gradient, " (SEGMENT_GRADS) of shape ", gradient.sizes());
  }

  void CheckCount(int64_t count, const Tensor& gradient) const {
    CAFFE_ENFORCE(count == gradient.dim(0), SubjectOf(row_.by, row_.segments), " describes ", count,
                  " segments, want ", gradient.dim(0), ", dim 0 of input ", row_.gradient,
                  " (SEGMENT_GRADS) of shape ", gradient.sizes());
  }

  // As in Caffe2, further dimensions of size 1 are allowed, before the rows only next to DATA.
  void CheckScalars(int64_t positions) const {
    const Tensor& scalars = Input(row_.scalars);
    CAFFE_ENFORCE(scalars.numel() == positions &&
                      (row_.data >= 0 || (scalars.dim() >= 1 && scalars.dim(0) == positions)),
                  "input ", row_.scalars, " (SCALARS) has shape ", scalars.sizes(), ", want [",
                  positions, "], one for each row");
  }

  template <class Index>
  bool RunWith(const Index* indices) {
    const Tensor& gradient = Input(row_.gradient);
    const int64_t count = gradient.dim(0);
    segments_.Read(*this, row_.by, row_.segments, row_.by == SegmentsBy::kUnsortedIds ? count : -1);
    const int64_t positions = segments_.positions();
    // As in Caffe2, gradients without sorted ids are left out.
    if (row_.by != SegmentsBy::kSortedIds || positions > 0) CheckCount(segments_.count(), gradient);
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
  void ReadData(SpreadJob<Index>* job) const {
    CheckData(job->positions);
    const bool of_ranges = row_.by == SegmentsBy::kSortedIds && row_.data >= 0;
    if (of_ranges && !row_.reads_output()) return;
    if (row_.data >= 0) {
      job->rows = of_ranges ? job->positions : Input(row_.data).dim(0);
      job->x = Input(row_.data).template data<float>();
    }
    if (row_.output >= 0) job->y = Input(row_.output).template data<float>();
  }

  template <class Index>
  void ReadScalars(SpreadJob<Index>* job) {
    CheckScalars(job->positions);
    job->weights = Input(row_.scalars).template data<float>();
  }

  const SegmentGradient& row_;
  SegmentInput<Context> segments_;
  Tensor counts_{Context::GetDeviceType()};
  std::vector<int64_t> dims_;
};

}  // namespace caffe2rt
