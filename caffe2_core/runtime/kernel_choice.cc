#include "caffe2_core/runtime/kernel_choice.h"

namespace caffe2rt {

std::optional<KernelChoice> KernelOf(const OperatorBase& op) {
  if (const auto* const chooser = dynamic_cast<const ChoosesKernel*>(&op)) {
    if (std::optional<KernelChoice> choice = chooser->Kernel()) return choice;
  }
  if (op.engine().empty()) return std::nullopt;
  const bool named = op.debug_def().engine().find(op.engine()) != std::string::npos;
  return KernelChoice{.candidates = {{.algorithm = op.engine(),
                                      .implementation = "engine",
                                      .reason = named ? "engine named by the net" : "rule"}}};
}

}  // namespace caffe2rt
