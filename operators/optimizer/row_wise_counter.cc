#include <algorithm>
#include <cmath>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/element_type.h"
#include "operators/optimizer/update_checks.h"
#include "operators/optimizer/update_loops.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int64_t> kCounterHalfLife{
    "counter_halflife", -1, "iterations in which a count halves; 0 or less: nothing is counted"};

// prev_iter (int64), update_counter (double), indices, iter [1]  ->  the first two, in place
class RowWiseCounterOp final : public Operator<CPUContext> {
 public:
  RowWiseCounterOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), half_life_(ReadArgument(kCounterHalfLife)) {}

  bool RunOnDevice() override {
    const Tensor& last = Input(0);
    const Tensor& counts = Input(1);
    const Tensor& indices = Input(2);
    RequireSameSize({last, "input 0 (prev_iter)"}, {counts, "input 1 (update_counter)"});
    CAFFE_ENFORCE_EQ(Input(3).numel(), 1, "elements of input 3 (iter) of shape ", Input(3).sizes());
    RequireElements<int64_t>(last);
    RequireElements<double>(counts);
    RequireElements<int64_t>(Input(3));
    if (half_life_ <= 0) return true;
    RequireElementsOf<int32_t, int64_t>(indices, "input 2 (indices)");
    const int64_t iteration = *Input(3).data<int64_t>();
    const RowSizes sizes{counts.numel(), 1, indices.numel()};
    int64_t* const latest = OutputData<int64_t>(0, last.sizes());
    double* const count = OutputData<double>(1, counts.sizes());
    DispatchByType<int32_t, int64_t>(indices.dtype(), "input 2 (indices)", [&](auto element) {
      const auto* const rows = indices.data<decltype(element)>();
      RequireRows(sizes, rows);
      for (int64_t j = 0; j < sizes.count; ++j) {
        const int64_t row = rows[j];
        const double age =
            std::max(static_cast<double>(iteration) - static_cast<double>(latest[row]), 0.0);
        count[row] = 1 + count[row] * std::exp2(-age / static_cast<double>(half_life_));
        latest[row] = std::max(latest[row], iteration);
      }
    });
    return true;
  }

 private:
  const int64_t half_life_;
};

}  // namespace

void RegisterRowWiseCounter() {
  RegisterSchema("RowWiseCounter", __FILE__)
      .NumInputs(4)
      .NumOutputs(2)
      .EnforceInplace({{0, 0}, {1, 1}})
      .Arg(kCounterHalfLife)
      .Input(0, "prev_iter", "the iteration of the last update of each row, int64")
      .Input(1, "update_counter", "the count of each row, double")
      .Input(2, "indices", "the rows that are updated, int32 or int64")
      .Input(3, "iter", "the iteration, int64, one element")
      .Output(0, "prev_iter", "input 0")
      .Output(1, "update_counter", "input 1")
      .TensorInferenceFunction(InferLikeInputs({0, 1}))
      .SetDoc("Counts the recent updates of each row. Counts decay exponentially.");
  RegisterCpuOperator<RowWiseCounterOp>("RowWiseCounter", __FILE__);
  // Counts are not part of the function that is differentiated.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("RowWiseCounter", __FILE__);
}

}  // namespace caffe2rt
