#include "operators/common/onednn_argument.h"

#include "caffe2_core/device/device_type.h"
#include "caffe2_core/graph/device_inference.h"

namespace caffe2rt {

OpSchema::DeviceInference OnednnWeightsOnCpu(std::set<int> inputs) {
  return [inputs = std::move(inputs)](const OperatorDef& def) {
    const bool onednn = def.device_option().device_type() == IDEEP;
    return OnCPU(onednn ? inputs : std::set<int>(), {})(def);
  };
}

}  // namespace caffe2rt
