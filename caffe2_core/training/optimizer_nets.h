#pragma once
// Adds the operators that update parameters to a training net.
//
//   AddOptimizer(def, {{.name = "w", .gradient = gradients.at("w"), .decays = true}}, &init, &train);
//
// The operators, in this order: Iter counts the steps, LearningRate computes the rate of the step (the
// first step is number 1), weight decay adds weight_decay * w to the gradient of w, clipping scales all
// gradients, and the optimizer's operator updates each parameter with its state.

#include <string>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/train.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Blobs of every training net: the number of steps that are done, int64 [1], and the rate of the last
// step, whose sign may be negative.
inline constexpr char kIterationBlob[] = "optimizer_iteration";
inline constexpr char kLearningRateBlob[] = "learning_rate";

struct TrainedParameter {
  std::string name;
  GradientWrapper gradient;  // dense, or rows with their indices
  bool decays = false;       // whether OptimizerDef::weight_decay applies
};

// The names of OptimizerDef::type, sorted.
std::vector<std::string> OptimizerNames();

// Appends the operators to `train`, and those that fill their state to `init`. THROWS if the type is
// not known, if a number is out of range, if a field does not apply to the type, or if the type has no
// operator for a gradient of rows.
void AddOptimizer(const OptimizerDef& def, const std::vector<TrainedParameter>& parameters,
                  NetDef* init, NetDef* train);

}  // namespace caffe2rt
#pragma GCC visibility pop
