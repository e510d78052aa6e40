#pragma once
// A small training, and what its plans are searched for, for the tests of plans.

#include <string>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/training/data_facts.h"
#include "caffe2_core/training/model_builder.h"
#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/train.pb.h"

namespace caffe2rt::test {

// A database of images of 4 x 4 grey pixels with their labels.
inline DataFacts Pixels(int64_t records) {
  return {.place = {"minidb", "pixels.minidb"},
          .records = records,
          .tensors = {{TensorProto::BYTE, {4, 4, 1}}, {TensorProto::INT32, {1}}}};
}

// A net with running means and moments; batches of 8, three epochs.
inline RunDef SmallRun() {
  ModelBuilder model("net");
  const std::string x = model.SpatialBN(model.Conv("data", "conv", 1, 2, {.kernel = 4}), "bn", 2);
  model.SoftmaxLoss(model.FC(x, "fc", 2, 3), "label");
  model.Input().set_batch_size(8);
  model.Optimizer().set_momentum(0.9f);
  RunDef run;
  *run.mutable_train() = model.def();
  run.set_epochs(3);
  return run;
}

// THROWS if the plan has no such net.
inline const NetDef& NetNamed(const PlanDef& plan, const std::string& name) {
  for (const NetDef& net : plan.network()) {
    if (net.name() == name) return net;
  }
  CAFFE_THROW("no net ", name);
}

}  // namespace caffe2rt::test
