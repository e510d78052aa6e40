#pragma once
// Which kernel an operator runs, and why, for reports.
//
//   if (const std::optional<KernelChoice> choice = KernelOf(*op)) {
//     choice->taken().algorithm;   // "winograd"
//     choice->taken().reason;      // "model"
//   }

#include <optional>
#include <string>
#include <vector>

#include "caffe2_core/runtime/operator.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct KernelCandidate {
  std::string algorithm = {};
  std::string implementation = {};           // "built-in", "engine", or the name of a library
  std::string x_layout = {}, y_layout = {};  // of the tensors that it reads and writes
  // Why the candidate has its place in the order, or why it is excluded.
  std::string reason = {};
  bool excluded = false;
  std::optional<double> model_us = {};  // estimated
  std::optional<double> table_us = {};  // of the same shape in a table of timings
};

struct KernelChoice {
  // The best first; those that are excluded last.
  std::vector<KernelCandidate> candidates = {};
  size_t position = 0;  // of the one that runs: the first that supports the shape on this machine

  const KernelCandidate& taken() const { return candidates[position]; }
};

// A second base class of operators that choose among kernels.
class ChoosesKernel {
 public:
  virtual ~ChoosesKernel() = default;
  // Empty before the first run.
  virtual std::optional<KernelChoice> Kernel() const = 0;
};

// The kernel of an operator that chooses one, or the engine that runs the operator if its device has
// several. Empty for other operators, and before the first run.
std::optional<KernelChoice> KernelOf(const OperatorBase& op);

}  // namespace caffe2rt
#pragma GCC visibility pop
