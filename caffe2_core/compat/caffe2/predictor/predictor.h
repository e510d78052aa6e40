#pragma once
// Predictor, with the constructors of Caffe2.
#include <memory>
#include <string>
#include <unordered_map>

#include "caffe2/core/net.h"
#include "caffe2/core/tensor.h"
#include "caffe2/core/workspace.h"
#include "caffe2/predictor/predictor_config.h"
#include "caffe2_core/runtime/predictor.h"

namespace caffe2 {

// As in Caffe2, nets may open any file by default. With a parent workspace, its file access policy
// applies, which permits every file unless the program sets another one. Without a parent, every
// file is permitted unless the options set another policy.
class Predictor : public ::caffe2rt::Predictor {
 public:
  using Options = ::caffe2rt::PredictorOptions;

  Predictor(const NetDef& init_net, const NetDef& run_net, Workspace* parent = nullptr,
            bool run_init = true, int /*optimization*/ = 1)
      : Predictor(init_net, run_net, parent, Options{.run_init = run_init}) {}
  Predictor(const NetDef& init_net, const NetDef& run_net, Workspace* parent,
            const Options& options)
      : ::caffe2rt::Predictor(init_net, run_net, parent, WithFiles(options, parent)) {}
  explicit Predictor(const MetaNetDef& net, Workspace* parent = nullptr,
                     const Options& options = {})
      : ::caffe2rt::Predictor(net, parent, WithFiles(options, parent)) {}
  Predictor(const MetaNetDef& net, std::shared_ptr<Workspace> parent, const Options& options)
      : ::caffe2rt::Predictor(net, parent, WithFiles(options, parent.get())) {}
  explicit Predictor(const PredictorConfig& config) : ::caffe2rt::Predictor(config) {}

 private:
  static Options WithFiles(Options options, const Workspace* parent) {
    if (!options.file_access.has_value() && parent == nullptr) {
      options.file_access = ::caffe2rt::FileAccess::Free();
    }
    return options;
  }
};

}  // namespace caffe2
