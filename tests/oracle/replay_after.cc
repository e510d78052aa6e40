// Runs an operator a second time, on other inputs, and compares it with a new one.
#include <exception>
#include <memory>
#include <string>

#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/tensor/data_type.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/replay.h"

namespace caffe2rt::test {
namespace {

// An operator in a workspace of its own. It is created when it runs first.
class Instance {
 public:
  explicit Instance(const OperatorDef& def) : def_(def) {}

  // Runs on the inputs of the call. Returns the error, or "".
  std::string RunOn(const oracle::OperatorCase& call) {
    for (const std::string& output : def_.output()) ws_.CreateBlob(output)->Reset();
    for (const oracle::Blob& blob : call.input()) MakeBlob(blob, &ws_);
    for (const oracle::Blob& blob : call.output_before()) MakeBlob(blob, &ws_);
    try {
      if (op_ == nullptr) op_ = CreateOperator(def_, &ws_);
      return op_->Run() ? "" : "the run returned false";
    } catch (const EnforceNotMet& thrown) {
      return thrown.message();
    }
  }
  // The bytes of a tensor, of other values the type alone.
  std::string Output(const std::string& name) const {
    const Blob& blob = *ws_.GetBlob(name);
    const Tensor* const tensor = FindTensor(blob);
    const bool has_bytes = tensor != nullptr && tensor->HasData() &&
                           TypeMetaToDataType(tensor->dtype()) != TensorProto::UNDEFINED;
    return has_bytes ? SerializeBlob(blob, name) : blob.TypeName();
  }

 private:
  const OperatorDef& def_;
  Workspace ws_;
  std::unique_ptr<OperatorBase> op_;
};

// Runs `reused` and a new operator on the call, and compares their errors and outputs. `*refused` is whether
// the call is an error, as it should be or not.
CaseResult CompareWithNew(const OperatorDef& def, const oracle::OperatorCase& call,
                          Instance* reused, bool* refused) {
  Instance fresh(def);
  const std::string want = fresh.RunOn(call);
  const std::string got = reused->RunOn(call);
  *refused = !want.empty();
  if (got.empty() != want.empty()) {
    return CaseResult::Failed("got " + (got.empty() ? "no error" : "\"" + got + "\"") + ", want " +
                              (want.empty() ? "no error" : "\"" + want + "\""));
  }
  if (*refused) return {};
  for (const std::string& name : def.output()) {
    if (reused->Output(name) != fresh.Output(name))
      return CaseResult::Failed("output \"" + name + "\" has another value");
  }
  return {};
}

}  // namespace

CaseResult ReplayAfter(const oracle::OperatorCase& first, const oracle::OperatorCase& second) {
  try {
    OperatorDef def;
    CAFFE_ENFORCE(def.ParseFromString(first.op()), "the case contains no OperatorDef");
    Instance reused(def);
    const std::string before = reused.RunOn(first);
    if (!before.empty()) return CaseResult::NotImplemented(before);
    bool refused = false;
    CaseResult result = CompareWithNew(def, second, &reused, &refused);
    if (result.status != CaseStatus::kPassed || !refused) return result;
    // What was refused must not have changed what the operator knows of the first call.
    result = CompareWithNew(def, first, &reused, &refused);
    if (result.status == CaseStatus::kFailed) result.what = "after a refused call: " + result.what;
    return result;
  } catch (const UnsupportedBlob& blob) {
    return CaseResult::NotImplemented(blob.what());
  } catch (const std::exception&) {
    return CaseResult::Failed(CurrentExceptionMessage());
  }
}

}  // namespace caffe2rt::test
