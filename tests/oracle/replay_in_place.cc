// Replays one operator with an output in place of an input.
#include <algorithm>
#include <exception>
#include <string>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/original_faults.h"
#include "tests/oracle/replay.h"

namespace caffe2rt::test {
namespace {

template <class Names>
int64_t CountOf(const Names& names, const std::string& name) {
  return std::count(names.begin(), names.end(), name);
}

// Whether the recorded call has these operands, under names of their own, and the schema lets them share a blob.
bool MayShare(const oracle::OperatorCase& recorded, const OperatorDef& def, int input, int output) {
  if (recorded.throws() || recorded.stochastic() || recorded.output_before_size() > 0) return false;
  if (input >= def.input_size() || output >= def.output_size()) return false;
  const OpSchema* const schema = OpSchemaRegistry::Schema(def.type());
  return schema != nullptr && schema->inplace_allowed(input, output) &&
         CountOf(def.input(), def.input(input)) == 1 &&
         CountOf(def.output(), def.input(input)) == 0 &&
         CountOf(def.output(), def.output(output)) == 1 &&
         CountOf(def.input(), def.output(output)) == 0;
}

}  // namespace

CaseResult ReplayInPlace(const oracle::OperatorCase& recorded, int input, int output) {
  try {
    OperatorDef def;
    CAFFE_ENFORCE(def.ParseFromString(recorded.op()), "the case contains no OperatorDef");
    if (!HasOperator(CPU, def.type()) || !MayShare(recorded, def, input, output))
      return CaseResult::NotImplemented("the operands may not share a blob");
    Workspace ws;
    for (const oracle::Blob& blob : recorded.input()) MakeBlob(blob, &ws);
    const std::string plain = def.output(output);
    def.set_output(output, def.input(input));
    try {
      if (!ws.RunOperatorOnce(def)) return CaseResult::Failed("the run returned false");
    } catch (const EnforceNotMet& error) {
      return CaseResult::NotImplemented(error.message());  // these shapes or types do not allow it
    }
    CompareRules rules;
    rules.rtol = recorded.rtol();
    for (oracle::Blob blob : recorded.output()) {
      if (blob.name() == plain) blob.set_name(def.output(output));
      const std::string difference = CompareBlob(blob, ws, rules);
      if (!difference.empty() && FaultOfRecord(recorded, def).empty())
        return CaseResult::Failed(difference);
    }
    return {};
  } catch (const UnsupportedBlob& blob) {
    return CaseResult::NotImplemented(blob.what());
  } catch (const std::exception&) {
    return CaseResult::Failed(CurrentExceptionMessage());
  }
}

}  // namespace caffe2rt::test
