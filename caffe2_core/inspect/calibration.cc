#include "caffe2_core/inspect/calibration.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/passes/user_operators.h"
#include "caffe2_core/inspect/blob_watch.h"
#include "caffe2_core/tensor/int8_tensor.h"

namespace caffe2rt {
namespace {

constexpr char kMin[] = "input_min", kMax[] = "input_max";

bool HasRange(const OperatorDef& def) {
  const OpSchema* const schema = OpSchemaRegistry::Schema(def.type());
  return schema != nullptr && def.input_size() > 0 &&
         std::any_of(schema->args().begin(), schema->args().end(),
                     [](const auto& arg) { return arg.name == kMin; });
}

class RangeObserver final : public ObserverBase<OperatorBase> {
 public:
  RangeObserver(OperatorBase* op, RangeHistogram* histogram)
      : ObserverBase<OperatorBase>(op), histogram_(histogram) {}

  void Start() override {
    const Tensor* const x = FindTensor(*subject_->Inputs()[0]);
    if (x == nullptr || !x->IsType<float>() || !x->HasData()) return;
    Tensor copy(CPU);
    if (x->GetDeviceType() != CPU) copy.CopyFrom(*x);
    const Tensor& host = x->GetDeviceType() == CPU ? *x : copy;
    histogram_->Add(host.data<float>(), host.numel());
  }

 private:
  RangeHistogram* const histogram_;
};

}  // namespace

Calibration::Calibration(const NetDef& def, NetBase* net) {
  CAFFE_ENFORCE(net != nullptr, "argument net of Calibration is null");
  for (OperatorBase* op : net->GetOperators()) {
    const std::vector<UserOperator> users = UserOperatorsOf(op->debug_def());
    if (users.empty() || !HasRange(def.op(users[0].position))) continue;
    std::unique_ptr<RangeHistogram>& histogram = histograms_[users[0].position];
    if (histogram == nullptr) histogram = std::make_unique<RangeHistogram>();
    auto observer = std::make_unique<RangeObserver>(op, histogram.get());
    observers_.emplace_back(op, op->AttachObserver(std::move(observer)));
  }
}

Calibration::~Calibration() {
  for (const auto& [op, observer] : observers_) op->DetachObserver(observer);
}

float HeadroomFor(int64_t examples) {
  return 0.5f / std::sqrt(static_cast<float>(std::max<int64_t>(examples, 4)));
}

std::map<int, InputRange> Calibration::ranges(float headroom) const {
  std::map<int, InputRange> ranges;
  for (const auto& [position, histogram] : histograms_) {
    if (histogram->elements() == 0) continue;
    const RangeHistogram::Range seen = histogram->seen();
    RangeHistogram::Range best = histogram->BestRange();
    if (best.min == seen.min) best.min *= 1 + headroom;
    if (best.max == seen.max) best.max *= 1 + headroom;
    ranges[position] = {.min = best.min,
                        .max = best.max,
                        .seen_min = seen.min,
                        .seen_max = seen.max,
                        .elements = histogram->elements(),
                        .not_finite = histogram->not_finite()};
  }
  return ranges;
}

void Calibration::StateRanges(NetDef* net, float headroom) const {
  for (const auto& [position, range] : ranges(headroom)) {
    OperatorDef* const op = net->mutable_op(position);
    CAFFE_ENFORCE_EQ(range.not_finite, 0, "elements of input 0 (\"", op->input(0),
                     "\") of operator ", position, " (", OperatorText(*op),
                     ") that are not finite, so it has no range");
    if (!(range.min < range.max)) continue;
    *GetMutableArgument(kMin, true, op) = MakeArgument(kMin, range.min);
    *GetMutableArgument(kMax, true, op) = MakeArgument(kMax, range.max);
  }
}

}  // namespace caffe2rt
