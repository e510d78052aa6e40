#include "caffe2_core/inspect/calibration.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/passes/user_operators.h"
#include "caffe2_core/inspect/blob_watch.h"

namespace caffe2rt {
namespace {

constexpr char kMin[] = "input_min", kMax[] = "input_max";

bool HasRange(const OperatorDef& def) {
  const OpSchema* const schema = OpSchemaRegistry::Schema(def.type());
  return schema != nullptr && def.input_size() > 0 &&
         std::any_of(schema->args().begin(), schema->args().end(),
                     [](const auto& arg) { return arg.name == kMin; });
}

void Widen(const Tensor& x, InputRange* range) {
  const float* const data = x.data<float>();
  float min = range->min, max = range->max;
  int64_t not_finite = 0;
  for (int64_t i = 0; i < x.numel(); ++i) {
    const bool finite = std::isfinite(data[i]);
    not_finite += !finite;
    min = finite && data[i] < min ? data[i] : min;
    max = finite && data[i] > max ? data[i] : max;
  }
  *range = {.min = min,
            .max = max,
            .elements = range->elements + x.numel(),
            .not_finite = range->not_finite + not_finite};
}

class RangeObserver final : public ObserverBase<OperatorBase> {
 public:
  RangeObserver(OperatorBase* op, int position, std::map<int, InputRange>* ranges)
      : ObserverBase<OperatorBase>(op), position_(position), ranges_(ranges) {}

  void Start() override {
    const Tensor* const x = FindTensor(*subject_->Inputs()[0]);
    if (x == nullptr || !x->IsType<float>() || !x->HasData()) return;
    Tensor copy(CPU);
    if (x->GetDeviceType() != CPU) copy.CopyFrom(*x);
    Widen(x->GetDeviceType() == CPU ? *x : copy, &(*ranges_)[position_]);
  }

 private:
  const int position_;
  std::map<int, InputRange>* const ranges_;
};

}  // namespace

Calibration::Calibration(const NetDef& def, NetBase* net) {
  CAFFE_ENFORCE(net != nullptr, "argument net of Calibration is null");
  for (OperatorBase* op : net->GetOperators()) {
    const std::vector<UserOperator> users = UserOperatorsOf(op->debug_def());
    if (users.empty() || !HasRange(def.op(users[0].position))) continue;
    auto observer = std::make_unique<RangeObserver>(op, users[0].position, &ranges_);
    observers_.emplace_back(op, op->AttachObserver(std::move(observer)));
  }
}

Calibration::~Calibration() {
  for (const auto& [op, observer] : observers_) op->DetachObserver(observer);
}

void Calibration::StateRanges(NetDef* net) const {
  for (const auto& [position, range] : ranges_) {
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
