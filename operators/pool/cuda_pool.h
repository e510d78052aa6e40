#pragma once
// Pools on CUDA: native kernels for any arguments, and cuDNN where it takes them.
//
// AveragePool takes cuDNN where it can. MaxPool does so only when its engine says CUDNN: cuDNN has
// no word for what this runtime does with NaN (pool.h), and a maximum is bound by memory either
// way.

#include <memory>
#include <string>

#include "operators/common/cuda_engine.h"
#include "operators/pool/pool.h"
#include "operators/pool/pool_kernels.h"

namespace caffe2rt {

enum class PoolKind { kMax, kMean };

// A library's way to compute one shape. Used by one thread at a time.
class CudaPoolPlan {
 public:
  virtual ~CudaPoolPlan() = default;
  // False, with the reason, when the library does not support the shape after all.
  virtual bool Run(CUDAContext& context, const float* x, float* y, std::string* reason) = 0;
};

// Null when cuDNN does not take the windows, with the reason. REQUIRES: cuDNN is here; Y is not
// empty.
std::unique_ptr<CudaPoolPlan> NewCudnnPool(PoolKind kind, const WindowGeometry& geometry,
                                           bool include_pad, std::string* reason);

// The runner of PoolOp.
template <PoolKind kKind, CudaEngine kEngine>
class PoolOnCuda {
 public:
  explicit PoolOnCuda(const OperatorBase& op) : choice_(op, kEngine) {}

  void Plan(const WindowGeometry& geometry, bool global, bool include_pad) {
    native_ = MakePoolPlan(geometry, global, include_pad);
    plan_ = nullptr;
    const bool empty = geometry.batch == 0 || geometry.out_size() == 0;
    if (!choice_.may_use_cudnn() || empty) return;
    std::string reason;
    plan_ = NewCudnnPool(kKind, geometry, include_pad, &reason);
    if (plan_ == nullptr) choice_.Refused(reason);
  }
  void Run(CUDAContext& context, const float* x, float* y) {
    if (plan_ != nullptr) {
      std::string reason;
      if (plan_->Run(context, x, y, &reason)) return;
      choice_.Refused(reason);
      plan_ = nullptr;
    }
    if constexpr (kKind == PoolKind::kMax) {
      RunMaxPool(context, native_, x, y);
    } else {
      RunMeanPool(context, native_, x, y);
    }
  }

 private:
  CudaEngineChoice choice_;
  PoolPlan native_;
  std::unique_ptr<CudaPoolPlan> plan_;  // null: native
};

}  // namespace caffe2rt
