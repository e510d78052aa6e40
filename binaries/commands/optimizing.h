#pragma once
// Shared by `run`, `bench` and `optimize`: applies graph passes to a model.

#include <set>
#include <string>
#include <vector>

#include "binaries/command_line.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/optimizer.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {

// --no-optimize, --without-pass, --deterministic, --winograd-memory
const std::vector<Option>& OptimizeOptions();

// Prints the names and descriptions of the passes.
void ListPasses();

// Optimizes model->predict_net according to OptimizeOptions; returns what was done. Its constants
// are in `ws`, from which constants that are no longer needed are removed. `fed` are blobs that
// were fed besides the model's inputs; `kept` are blobs that are read after the run besides its
// outputs. THROWS UsageError if they name an unknown pass.
OptimizedNet OptimizeModel(const CommandLine& line, const std::set<std::string>& fed,
                           const std::set<std::string>& kept, Workspace* ws, Model* model);

}  // namespace caffe2rt
