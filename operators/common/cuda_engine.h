#pragma once
// Selects a vendor library or native kernels for a CUDA operator whose class implements both. Such
// a class is registered for the default engine and for engine "CUDNN", which CUDA operators prefer
// if their OperatorDef names no engine. The native kernels alone are registered for engine
// "NATIVE".
//
// OperatorBase::engine() names the one that ran last, once the operator has run: "CUDNN" or "NATIVE".

#include <string>
#include <string_view>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cuda/cuda_libraries.h"

namespace caffe2rt {

enum class CudaEngine {
  kAny,        // the library if it supports the arguments, else native kernels
  kOnRequest,  // as kAny if the def names engine CUDNN, else native kernels
  kNative,     // native kernels
};

class CudaEngineChoice {
 public:
  // `op` must outlive this object.
  CudaEngineChoice(OperatorBase& op, CudaEngine engine) : op_(op), type_(op.type()) {
    if (engine == CudaEngine::kNative) return;
    requested_ = op.debug_def().engine().find("CUDNN") != std::string::npos;
    if (engine == CudaEngine::kOnRequest && !requested_) return;
    may_use_cudnn_ = HasCudnn();
    if (!may_use_cudnn_) {
      // One warning for the process is enough: no operator can use the library.
      requested_ = requested_ && ShouldReportCudnnProblem();
      Refused(CudnnProblem());
    }
  }

  // To be called whenever the choice is made. Names cuDNN as the engine if it may be used.
  bool may_use_cudnn() {
    op_.annotate_engine(may_use_cudnn_ ? "CUDNN" : "NATIVE");
    return may_use_cudnn_;
  }
  // Reports that cuDNN does not support this operator, so that native kernels run. The first call
  // logs the reason, as a warning if the def names engine CUDNN. Later calls only name the engine,
  // so it may be called on every run.
  void Refused(std::string_view reason) {
    op_.annotate_engine("NATIVE");
    if (told_) return;
    told_ = true;
    if (requested_) {
      LOG(WARNING) << "engine \"CUDNN\" of operator " << type_ << " is not used: " << reason
                   << "; native kernels run";
    } else {
      VLOG(1) << "operator " << type_ << " runs native CUDA kernels: " << reason;
    }
  }

 private:
  OperatorBase& op_;
  const std::string type_;
  bool requested_ = false, may_use_cudnn_ = false, told_ = false;
};

}  // namespace caffe2rt
