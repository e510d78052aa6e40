#pragma once
// Pools on CUDA: native kernels for any arguments, and cuDNN where it supports them.
//
// AveragePool uses cuDNN where it can. MaxPool does so only if its engine is CUDNN: cuDNN has no
// mode for the NaN behaviour that pool.h describes, and a maximum is limited by memory bandwidth
// either way.

#include <memory>
#include <string>

#include "operators/common/cuda_engine.h"
#include "operators/pool/pool.h"
#include "operators/pool/pool_kernels.h"

namespace caffe2rt {

enum class PoolKind { kMax, kMean };

// The computation of one shape by a library. Used by one thread at a time.
class CudaPoolPlan {
 public:
  virtual ~CudaPoolPlan() = default;
  // Returns false and sets *reason if the library does not support the shape after all.
  virtual bool Run(CUDAContext& context, const float* x, float* y, std::string* reason) = 0;
};

// Returns null and sets *reason if cuDNN does not support the windows. REQUIRES: cuDNN is
// available; Y is not empty.
std::unique_ptr<CudaPoolPlan> NewCudnnPool(PoolKind kind, const WindowGeometry& geometry,
                                           bool include_pad, std::string* reason);

// Runner policy of PoolOp.
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
  std::unique_ptr<CudaPoolPlan> plan_;  // null: native kernels run
};

}  // namespace caffe2rt
