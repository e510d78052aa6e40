#pragma once
// Which operators a thread is running, for reports of crashes. An executor costs this two writes to
// memory per run of a net, and nothing per operator.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "caffe2_core/base/language.h"
#include "caffe2_core/base/thread_state.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class OperatorBase;

// While an object exists, its thread runs the net. Objects of a thread are destroyed in reverse
// order of construction.
class RunningNet {
 public:
  // All arguments must outlive the object. `position` is the index in `operators` of the operator
  // that is running, or out of range if none is.
  RunningNet(const std::string& name, const std::vector<OperatorBase*>& operators,
             const size_t& position)
      : name_(name),
        operators_(operators),
        position_(position),
        outer_(t_thread_state.running_net) {
    t_thread_state.running_net = this;
  }
  ~RunningNet() { t_thread_state.running_net = outer_; }
  RunningNet(const RunningNet&) = delete;
  RunningNet& operator=(const RunningNet&) = delete;

  // Calls `write` with one line for each operator that the calling thread is running, innermost
  // first: `while running operator 3 (Conv, output "y") of net "n"`. Long names are shortened, and
  // control characters replaced. A signal handler may call it.
  static void Describe(void (*write)(const char* line));
  // The positions of the operators that the calling thread is running, outermost first.
  static std::vector<size_t> Positions();
  // A number of the operator that the calling thread is running in the innermost net; 0 if none is.
  static uint64_t KeyOfOperator();

 private:
  const std::string& name_;
  const std::vector<OperatorBase*>& operators_;
  const size_t& position_;
  const RunningNet* const outer_;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
