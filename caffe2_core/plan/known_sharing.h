#pragma once
// Which names denote tensors in one memory after a part of a plan, whatever the workspace holds at
// its begin. Only plan_check.cc includes this header.

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "caffe2_core/plan/plan_uses.h"

namespace caffe2rt {

// Follows the steps of a plan in order. Two names share memory if an operator whose schema says so
// (OpSchema::OutputSharesInput) has run for certain, and nothing may have written either name since.
// Nothing is known behind kMostKnownUses operators and names, which protects against hostile plans.
// Not thread safe.
inline constexpr size_t kMostKnownUses = 1 << 19;
class KnownSharing {
 public:
  // Adds a step after all that was added. A step that may run not at all, more than once, in a
  // workspace of its own or at the same time as others only ends what its nets may write.
  void AddStep(const ExecutionStep& step, PlanUses* uses);

  // The identity of the memory, or null if the name is not known to share any.
  const void* MemoryOf(const std::string& name) const;

 private:
  void AddNet(const NetUses& net);
  void EndAllOf(const NetUses& net);

  // By name. What shares a memory has the same pointer.
  std::map<std::string, std::shared_ptr<const char>> memory_;
  size_t work_ = 0;  // operators and names visited
};

}  // namespace caffe2rt
