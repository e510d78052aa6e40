#include "tests/oracle/run_operator.h"

#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/device_run.h"

namespace caffe2rt::test {

std::string MissingFor(const ReplayTarget& target, const std::string& type) {
  if (!HasOperator(target.device, type)) return "operator " + type;
  const OperatorRegistry* const registry = OperatorRegistryOf(target.device);
  if (!target.engine.empty() && !registry->Has(OpRegistryKey(type, target.engine))) {
    return MakeString("engine ", target.engine, " of operator ", type);
  }
  return "";
}

RunOutcome RunOnTarget(const ReplayTarget& target, OperatorDef def, Workspace* ws) {
  try {
    if (!target.engine.empty()) def.set_engine(target.engine);
    if (target.native) def.set_engine("NATIVE");
    const bool success =
        target.device == CPU ? ws->RunOperatorOnce(def) : RunOperatorOn(target.device, def, ws);
    return {success ? "" : "the run returned false"};
  } catch (const ElementsStay& thrown) {
    return {thrown.message(), CaseStatus::kNotImplemented};
  } catch (const EnforceNotMet& thrown) {
    const std::string text = thrown.message();
    // The fake CUDA's error for a kernel without a host twin.
    if (text.find("cudaErrorInvalidDeviceFunction") != std::string::npos) {
      return {text, CaseStatus::kNeedsHardware};
    }
    // Strings are created on the CPU, in the original too.
    if (target.device != CPU &&
        (text.find("are supported only on the CPU") != std::string::npos ||
         text.find("strings are supported on the CPU only") != std::string::npos)) {
      return {text, CaseStatus::kNotImplemented};
    }
    const bool refused =
        !target.engine.empty() &&
        text.find("engine " + target.engine + " cannot do this") != std::string::npos;
    return {text, refused ? CaseStatus::kNotImplemented : CaseStatus::kPassed};
  }
}

}  // namespace caffe2rt::test
