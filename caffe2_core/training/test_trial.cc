#include "caffe2_core/training/test_trial.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {
namespace {

bool HaveSameRecords(const DataFacts& a, const DataFacts& b) {
  return std::equal(a.tensors.begin(), a.tensors.end(), b.tensors.begin(), b.tensors.end(),
                    [](const TensorFacts& one, const TensorFacts& other) {
                      return one.type == other.type && one.dims == other.dims;
                    });
}

// "BYTE [28, 28, 1], INT32 []".
std::string RecordText(const DataFacts& facts) {
  std::vector<std::string> tensors;
  for (const TensorFacts& tensor : facts.tensors) {
    tensors.push_back(MakeString(TensorProto::DataType_Name(tensor.type), " [",
                                 absl::StrJoin(tensor.dims, ", "), "]"));
  }
  return absl::StrJoin(tensors, ", ");
}

}  // namespace

void TryTest(const TrainingPlan& plan, const TrainingData& data, const FileAccess& access) {
  if (!data.test.has_value() || HaveSameRecords(data.train, *data.test)) return;
  Workspace ws;
  ws.SetFileAccess(access);
  const std::string test = plan.nets.test.name();
  try {
    for (int i = 0; i < plan.plan.network_size(); ++i) {
      const NetDef& net = plan.plan.network(i);
      if (i > 0 && net.name() != test + "_begin" && net.name() != test) continue;  // 0: init
      CAFFE_ENFORCE(ws.RunNetOnce(net), "net \"", net.name(), "\" failed");
    }
  } catch (EnforceNotMet& error) {
    error.AppendMessage(MakeString("the records of the test, \"", data.test->place.path, "\", are ",
                                   RecordText(*data.test), ", those of the training ",
                                   RecordText(data.train)));
    throw;
  }
}

}  // namespace caffe2rt
