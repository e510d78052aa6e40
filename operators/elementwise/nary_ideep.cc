// Sum, Mean, Max and Min on IDEEP. Y has the layout of the first input that is in a layout of
// oneDNN, or of input 0 in place.

#include "caffe2_core/runtime/plans_ahead.h"
#include "contexts/onednn/onednn_context.h"
#include "operators/common/onednn_planes.h"
#include "operators/elementwise/nary.h"
#include "operators/elementwise/same_layout_ideep.h"

namespace caffe2rt {

namespace {

template <NaryKind kKind>
class NaryOnednnOp final : public Operator<IDEEPContext>, public PlansAhead {
 public:
  NaryOnednnOp(const OperatorDef& def, Workspace* ws)
      : Operator<IDEEPContext>(def, ws),
        inputs_(InputSize()),
        data_(static_cast<size_t>(InputSize())) {}

  void PlanAhead(const AheadInputs&) override {
    Plan(Output(0));
    PrepareOutput(Output(0), Input(0).dims(), inputs_.layout());
  }

  bool RunOnDevice() override {
    const auto input = [this](int i) -> const Tensor& { return Input(i); };
    Tensor* Y = Output(0);
    if (!inputs_.Match(input)) Plan(Y);
    for (int i = 0; i < InputSize(); ++i) data_[static_cast<size_t>(i)] = inputs_.Read(i, Input(i));
    const InplaceInput kept(Input(0), Y);
    Combine(PrepareOutput(Y, Input(0).dims(), inputs_.layout()));
    return true;
  }

 private:
  using Function = NaryFunction<kKind>;
  static constexpr int64_t kBlock = 1024;  // floats that stay in the first-level cache

  void Plan(const Tensor* Y) {
    for (int i = 1; i < InputSize(); ++i) {
      CAFFE_ENFORCE(Input(i).dims() == Input(0).dims(), "input ", i, " has shape ",
                    Input(i).sizes(), ", want ", Input(0).sizes(), " as input 0");
    }
    inputs_.Plan([this](int i) -> const Tensor& { return Input(i); }, Y == &Input(0) ? 0 : -1);
  }

  void Combine(float* y) const {
    const size_t count = data_.size();
    ForEachRange(inputs_.floats(), 1, static_cast<int64_t>(count),
                 [&](int64_t first, int64_t last) {
                   for (int64_t at = first; at < last; at += kBlock) {
                     const int64_t n = std::min(kBlock, last - at);
                     const float* sum = data_[0] + at;
                     if (count == 1 && sum != y + at) std::copy_n(sum, n, y + at);
                     for (size_t i = 1; i < count; ++i, sum = y + at) {
                       RunSimd(internal::ZipKernel<Function>{}, n, sum, data_[i] + at, y + at);
                     }
                     if constexpr (kKind == NaryKind::kMean) {
                       const TimesFactor<float> scale{1.0f / static_cast<float>(count)};
                       RunSimd(internal::MapKernel<TimesFactor<float>>{scale}, n,
                               static_cast<const float*>(y + at), y + at);
                     }
                   }
                 });
  }

  SameLayoutInputs inputs_;
  std::vector<const float*> data_;
};

}  // namespace

void RegisterNaryIdeep() {
  kNary.ForEach([]<NaryKind kKind, class... Ts>(const NaryRow<kKind, Ts...>& row) {
    RegisterOperator<NaryOnednnOp<kKind>>(IDEEP, row.type, __FILE__);
  });
}

}  // namespace caffe2rt
