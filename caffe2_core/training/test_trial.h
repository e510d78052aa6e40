#pragma once
// A trial of the test before a training: records that the net does not accept are found before the first epoch
// is trained.

#include "caffe2_core/io/file_access.h"
#include "caffe2_core/training/training_plan.h"

namespace caffe2rt {

// If the records of the test have other types or shapes than those of the training, runs one batch of the test with
// first weights, in a workspace of its own. THROWS what the nets throw, with both shapes. Not for plans of several
// ranks.
void TryTest(const TrainingPlan& plan, const TrainingData& data, const FileAccess& access);

}  // namespace caffe2rt
