#pragma once
// Predictor, with the constructors and the containers of Caffe2.
#include <concepts>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "caffe2/core/net.h"
#include "caffe2/core/tensor.h"
#include "caffe2/core/workspace.h"
#include "caffe2/predictor/predictor_config.h"
#include "caffe2_core/compat/caffe2rt_templated/generation.h"
#include "caffe2_core/model/predictor.h"
#if CAFFE2RT_TEMPLATED_TENSOR
#include "caffe2_core/compat/caffe2rt_templated/pointer_predictor.h"
#else
#include "caffe2_core/compat/caffe2rt_templated/tensor_map.h"
#endif

namespace caffe2 {
#if CAFFE2RT_TEMPLATED_TENSOR
inline namespace templated {
#endif

// As in Caffe2, nets may open any file by default. With a parent workspace, its file access policy
// applies, which permits every file unless the program sets another one. Without a parent, every
// file is permitted unless the options set another policy.
class Predictor : public predictor_calls::Base {
 public:
  using Options = ::caffe2rt::PredictorOptions;

  Predictor(const NetDef& init_net, const NetDef& run_net, Workspace* parent = nullptr,
            bool run_init = true, int /*optimization*/ = 1)
      : Predictor(init_net, run_net, parent, Options{.run_init = run_init}) {}
  Predictor(const NetDef& init_net, const NetDef& run_net, Workspace* parent,
            const Options& options)
      : predictor_calls::Base(init_net, run_net, parent, WithFiles(options, parent)) {}
  explicit Predictor(const MetaNetDef& net, Workspace* parent = nullptr,
                     const Options& options = {})
      : predictor_calls::Base(net, parent, WithFiles(options, parent)) {}
  // A template, so that `{}` means Options.
  template <std::same_as<bool> Flag>
  Predictor(const MetaNetDef& net, Workspace* parent, Flag run_init, int /*optimization*/ = 1)
      : Predictor(net, parent, Options{.run_init = run_init}) {}
  Predictor(const MetaNetDef& net, std::shared_ptr<Workspace> parent, const Options& options)
      : predictor_calls::Base(net, parent, WithFiles(options, parent.get())) {}
  explicit Predictor(const PredictorConfig& config) : predictor_calls::Base(config) {}

 private:
  static Options WithFiles(Options options, const Workspace* parent) {
    if (!options.file_access.has_value() && parent == nullptr) {
      options.file_access = ::caffe2rt::FileAccess::Free();
    }
    return options;
  }
};

#if CAFFE2RT_TEMPLATED_TENSOR
}  // namespace templated
#endif
}  // namespace caffe2
