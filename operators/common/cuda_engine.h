#pragma once
// Whether an operator on CUDA runs a vendor's library or native kernels, for classes that hold
// both. Such a class is registered under no engine and under "CUDNN", which CUDA's operators prefer
// where their def says nothing; native kernels alone under "NATIVE".

#include <string>
#include <string_view>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cuda/cuda_libraries.h"

namespace caffe2rt {

enum class CudaEngine {
  kAny,        // the library where it takes the arguments, else native kernels
  kOnRequest,  // so when the def names engine CUDNN, else native kernels
  kNative,     // native kernels
};

class CudaEngineChoice {
 public:
  CudaEngineChoice(const OperatorBase& op, CudaEngine engine) : type_(op.type()) {
    if (engine == CudaEngine::kNative) return;
    requested_ = op.debug_def().engine().find("CUDNN") != std::string::npos;
    if (engine == CudaEngine::kOnRequest && !requested_) return;
    may_use_cudnn_ = HasCudnn();
    if (!may_use_cudnn_) Refused(CudnnProblem());
  }

  bool may_use_cudnn() const { return may_use_cudnn_; }
  // cuDNN does not take this shape, and native kernels run: told once, as a warning where the def
  // asks for cuDNN. Later calls cost a look, so that runs may call it.
  void Refused(std::string_view reason) {
    if (told_) return;
    told_ = true;
    if (requested_) {
      LOG(WARNING) << "engine \"CUDNN\" of operator " << type_
                   << " does not take this one: " << reason << "; native kernels run";
    } else {
      VLOG(1) << "operator " << type_ << " runs native CUDA kernels: " << reason;
    }
  }

 private:
  const std::string type_;
  bool requested_ = false, may_use_cudnn_ = false, told_ = false;
};

}  // namespace caffe2rt
