#pragma once
// Decides which layers of a net are translated, and how the blobs of the net are named.

#include <map>
#include <string>
#include <vector>

#include "caffe2_core/import/caffe/upgrade.h"

namespace caffe2rt {

struct CaffeNetInput {
  std::string name;
  const CaffeLayer* layer = nullptr;  // that has it as a top
  size_t top = 0;
};

// A layer to translate, with the blobs that it reads and writes. Layers in place write a blob of
// another name than they read: `conv1/1`, `conv1/2`, and `conv1` for the last.
struct CaffeStep {
  const CaffeLayer* layer = nullptr;
  std::vector<std::string> bottoms = {}, tops = {};
};

struct CaffePlan {
  std::vector<CaffeNetInput> inputs;  // those that a step reads
  std::vector<CaffeStep> steps;
  std::vector<std::string> outputs;  // blobs that no step reads
  std::map<std::string, std::string> layer_blobs;
  std::vector<std::string> notes;
};

// THROWS one error that lists all layers that are not supported, and for a bottom that nothing
// writes. The net must outlive the plan.
CaffePlan PlanCaffeNet(const CaffeNet& net);

}  // namespace caffe2rt
