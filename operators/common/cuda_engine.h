#pragma once
// Which code an operator on CUDA may run, for classes that hold a vendor's library and native
// kernels. Such a class is registered three times: under no engine, "CUDNN" and "NATIVE".

#include <string>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cuda/cuda_libraries.h"

namespace caffe2rt {

enum class CudaEngine {
  kAny,     // the library where it takes the arguments, else native kernels
  kCudnn,   // the library; an operator whose def asks for it fails where the library refuses
  kNative,  // native kernels
};

// What becomes of an operator whose arguments or shapes the library refuses.
class CudaEngineChoice {
 public:
  // THROWS UnsupportedOperatorFeature, so that the next engine is tried, where cuDNN is asked for
  // and is not here.
  CudaEngineChoice(const OperatorBase& op, CudaEngine engine)
      : type_(op.type()),
        forced_(engine == CudaEngine::kCudnn &&
                op.debug_def().engine().find("CUDNN") != std::string::npos),
        may_use_cudnn_(engine != CudaEngine::kNative && HasCudnn()) {
    OPERATOR_NEEDS_FEATURE(engine != CudaEngine::kCudnn || HasCudnn(), CudnnProblem());
    if (engine == CudaEngine::kAny && !HasCudnn()) Tell(CudnnProblem());
  }

  bool may_use_cudnn() const { return may_use_cudnn_; }
  // THROWS when the def asked for cuDNN; else says once in the log that native kernels run.
  void Refused(const std::string& reason) {
    CAFFE_ENFORCE(!forced_, "engine CUDNN cannot do this: ", reason,
                  "; without an engine the operator runs native kernels");
    Tell(reason);
  }

 private:
  void Tell(const std::string& reason) {
    if (!told_) VLOG(1) << "operator " << type_ << " runs native CUDA kernels: " << reason;
    told_ = true;
  }

  const std::string type_;
  const bool forced_, may_use_cudnn_;
  bool told_ = false;
};

}  // namespace caffe2rt
