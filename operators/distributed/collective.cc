#include "operators/distributed/collective.h"

#include "caffe2_core/base/logging.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/waiting.h"
#include "caffe2_core/runtime/workspace.h"
#include "operators/distributed/collective_engine.h"

namespace caffe2rt {
namespace {

// Ranks may give their devices different numbers: what is after the scope names the blob on all of them.
std::string LabelOf(const OperatorDef& def) {
  if (!def.name().empty()) return def.name();
  if (def.output_size() == 0) return def.type();
  const std::string& output = def.output(0);
  return output.substr(output.rfind('/') + 1);
}

void WriteStatus(Blob* blob, int32_t value) {
  Tensor* const status = blob->GetMutableTensor(CPU);
  status->Resize(std::vector<int64_t>{1});
  *status->mutable_data<int32_t>() = value;
}

}  // namespace

CollectiveOp::CollectiveOp(const OperatorDef& def, Workspace* ws)
    : Operator<CPUContext>(def, ws), label_(LabelOf(def)) {
  const std::string status = this->ReadArgument(kCollectiveStatusBlob);
  if (!status.empty()) {
    status_ = ws->CreateBlob(status);
    WriteStatus(status_, 0);
  }
  if (!def.engine().empty()) EnforceCollectiveEngine(def.engine());
}

bool CollectiveOp::RunOnDevice() {
  if (status_ == nullptr) {
    Work();
    return true;
  }
  try {
    Work();
    return true;
  } catch (const RunStopped&) {
    throw;
  } catch (const OutOfMemory&) {
    throw;
  } catch (const EnforceNotMet& error) {
    LOG(ERROR) << error.message();
    WriteStatus(status_, 1);
    return false;
  }
}

CommonWorldBlob CollectiveOp::World() const {
  const CommonWorldBlob& world = OperatorBase::Input<CommonWorldBlob>(0);
  CAFFE_ENFORCE(world != nullptr, "input 0 (comm_world) has been destroyed");
  const std::string& engine = debug_def().engine();
  CAFFE_ENFORCE(engine.empty() || world->engine().empty() || engine == world->engine(),
                "the operator names engine \"", engine, "\", and its world \"", world->name(),
                "\" has engine \"", world->engine(), "\"");
  return world;
}

Tensor* CollectiveOp::InPlace(int i) {
  const Tensor& x = Input(i + 1);
  Tensor* const y = Output(i);
  y->raw_mutable_data(x.dtype());
  return y;
}

Tensor* CollectiveOp::FirstInPlace(int count) {
  Tensor* const first = InPlace(0);
  for (int i = 1; i < count; ++i) {
    const Tensor& other = Input(i + 1);
    CAFFE_ENFORCE(other.dtype() == first->dtype(), "input ", i + 1, " is of type ",
                  other.dtype().name(), ", want ", first->dtype().name(), ", the type of input 1");
    CAFFE_ENFORCE_EQ(other.numel(), first->numel(), "elements of input ", i + 1,
                     ", want as many as input 1 has");
  }
  return first;
}

OpSchema& CollectiveSchema(const char* type, const char* file) {
  // Data parallel training computes gradients first; sums over ranks have none.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>(type, file);
  return RegisterSchema(type, file)
      .Arg(kCollectiveStatusBlob)
      .HasEffect(Effect::kCommunication)
      .Traits({.waits = true});
}

OpSchema& InPlaceCollectiveSchema(const char* type, const char* file) {
  return CollectiveSchema(type, file)
      .Input(0, "comm_world", "a world from CreateCommonWorld or CloneCommonWorld")
      .Input(1, "X_0, X_1, ...",
             "tensors of one type and size, one for each device of this process")
      .Output(0, "X_0, X_1, ...", "the same tensors")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return std::vector<TensorShape>(in.begin() + 1, in.begin() + 1 + def.output_size());
      })
      .SynchronizedInputs({0})
      .ModifiesInputs({0});
}

}  // namespace caffe2rt
