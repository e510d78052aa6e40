#include "caffe2_core/model/net_report.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/isa.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/device/device_type.h"
#include "caffe2_core/runtime/kernel_choice.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/tensor/int8_tensor.h"

namespace caffe2rt {
namespace {

using Json = nlohmann::ordered_json;

std::string DeviceText(const DeviceOption& device) {
  const std::string type = DeviceTypeName(device.device_type());
  return device.device_id() > 0 ? MakeString(type, ":", device.device_id()) : type;
}

OperatorReport ReportOperator(const OperatorBase& op) {
  OperatorReport report{.type = op.type(),
                        .output = op.debug_def().output_size() > 0 ? op.debug_def().output(0) : "",
                        .device = DeviceText(op.device_option())};
  if (const std::optional<KernelChoice> choice = KernelOf(op)) {
    const KernelCandidate& kernel = choice->taken();
    report.kernel = kernel.algorithm;
    report.implementation = kernel.implementation;
    report.x_layout = kernel.x_layout;
    report.y_layout = kernel.y_layout;
    report.reason = kernel.reason;
  }
  return report;
}

Json JsonOf(const OperatorReport& op) {
  Json json = {{"type", op.type}, {"output", op.output}, {"device", op.device}};
  for (const auto& [name, text] : {std::pair("kernel", &op.kernel),
                                   {"implementation", &op.implementation},
                                   {"x_layout", &op.x_layout},
                                   {"y_layout", &op.y_layout},
                                   {"reason", &op.reason}}) {
    if (!text->empty()) json[name] = *text;
  }
  return json;
}

}  // namespace

NetReport ReportNet(const Preparation& preparation, const NetBase* net) {
  CAFFE_ENFORCE(net != nullptr, "argument net of ReportNet is null, want a net that was created");
  NetReport report{
      .net = net->Name(),
      .passes = preparation.passes,
      .new_constants = preparation.new_constants,
      .freed_constants = preparation.freed_constants,
      .instruction_set = IsaName(CpuIsa()),
      .threads = preparation.options.threads > 0 ? preparation.options.threads : GetNumThreads(),
      .deterministic = preparation.options.deterministic};
  for (const OperatorBase* op : net->GetOperators())
    report.operators.push_back(ReportOperator(*op));
  return report;
}

int64_t PreparedBytesOf(const NetBase& net) {
  std::set<const Storage*> seen;
  int64_t bytes = 0;
  for (const OperatorBase* op : net.GetOperators()) {
    for (const Blob* blob : op->Inputs()) {
      const Tensor* const tensor = FindTensor(*blob);
      Storage* const storage = tensor == nullptr ? nullptr : tensor->storage().get();
      if (storage == nullptr || !seen.insert(storage).second) continue;
      for (const auto& [key, form] : storage->forms().List())
        bytes += static_cast<int64_t>(form.nbytes);
    }
  }
  return bytes;
}

std::string NetReportAsJson(const NetReport& report) {
  Json json = {{"net", report.net},
               {"passes", report.passes},
               {"new_constants", report.new_constants},
               {"freed_constants", report.freed_constants},
               {"instruction_set", report.instruction_set},
               {"threads", report.threads},
               {"deterministic", report.deterministic}};
  Json& operators = json["operators"] = Json::array();
  for (const OperatorReport& op : report.operators) operators.push_back(JsonOf(op));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace caffe2rt
