#pragma once
// The policies of LearningRate: how a learning rate depends on the iteration.

#include <cfloat>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"

#pragma GCC visibility push(default)  // for libcaffe2_cuda
namespace caffe2rt {

// The arguments of one policy.
struct LearningRateArguments;

// A policy, or for "composite" a sequence of policies. Immutable.
class LearningRatePolicy {
 public:
  // Reads the policy of an operator. THROWS if an argument is missing or invalid.
  explicit LearningRatePolicy(const ArgumentHelper& args);
  ~LearningRatePolicy();
  LearningRatePolicy(const LearningRatePolicy&) = delete;
  LearningRatePolicy& operator=(const LearningRatePolicy&) = delete;

  // The learning rate of an iteration; the first one is 0.
  float At(int64_t iteration) const;

 private:
  struct Part;
  float base_lr_ = 0;
  std::vector<Part> parts_;  // in the order of the iterations
};

// Adds the arguments of all policies to a schema.
void DeclareLearningRateArguments(OpSchema& schema);

}  // namespace caffe2rt
#pragma GCC visibility pop
