#pragma once
// Pools on CUDA: native kernels for any arguments, and cuDNN where it supports them.
//
// AveragePool uses cuDNN where it can. MaxPool does so only if its engine is CUDNN: cuDNN has no
// mode for the NaN behaviour that pool.h describes, and it gives the gradient of a maximum to one of
// several equal elements. A maximum is limited by memory bandwidth either way.

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
  virtual bool RunGradient(CUDAContext& context, const PoolGradientData& data,
                           std::string* reason) = 0;
};

// Returns null and sets *reason if cuDNN does not support the windows. REQUIRES: cuDNN is
// available; Y is not empty.
std::unique_ptr<CudaPoolPlan> NewCudnnPool(PoolKind kind, const WindowGeometry& geometry,
                                           bool include_pad, std::string* reason);

// The plan of cuDNN, if it is used, and that of the native kernels.
template <PoolKind kKind, CudaEngine kEngine>
class CudaPoolPlans {
 public:
  explicit CudaPoolPlans(OperatorBase& op) : choice_(op, kEngine) {}

  void Make(const WindowGeometry& geometry, bool global, bool include_pad) {
    native_ = MakePoolPlan(geometry, global, include_pad);
    plan_ = nullptr;
    const bool empty = geometry.batch == 0 || geometry.out_size() == 0;
    if (!choice_.may_use_cudnn() || empty) return;
    std::string reason;
    plan_ = NewCudnnPool(kKind, geometry, include_pad, &reason);
    if (plan_ == nullptr) choice_.Refused(reason);
  }
  // Calls run(plan of cuDNN, &reason). Returns false if native kernels must run instead.
  template <class F>
  bool RunCudnn(F run) {
    if (plan_ == nullptr) return false;
    std::string reason;
    if (run(*plan_, &reason)) return true;
    choice_.Refused(reason);
    plan_ = nullptr;
    return false;
  }
  const PoolPlan& native() const { return native_; }

 private:
  CudaEngineChoice choice_;
  PoolPlan native_;
  std::unique_ptr<CudaPoolPlan> plan_;  // null: native kernels run
};

// Runner policy of PoolOp.
template <PoolKind kKind, CudaEngine kEngine>
class PoolOnCuda {
 public:
  explicit PoolOnCuda(OperatorBase& op) : plans_(op) {}

  void Plan(const WindowGeometry& geometry, bool global, bool include_pad) {
    plans_.Make(geometry, global, include_pad);
  }
  void Run(CUDAContext& context, const float* x, float* y) {
    const bool done = plans_.RunCudnn(
        [&](CudaPoolPlan& plan, std::string* reason) { return plan.Run(context, x, y, reason); });
    if (done) return;
    if constexpr (kKind == PoolKind::kMax) {
      RunMaxPool(context, plans_.native(), x, y);
    } else {
      RunMeanPool(context, plans_.native(), x, y);
    }
  }

 private:
  CudaPoolPlans<kKind, kEngine> plans_;
};

// Runner policy of PoolGradientOp.
template <PoolKind kKind, CudaEngine kEngine>
class PoolGradientOnCuda {
 public:
  explicit PoolGradientOnCuda(OperatorBase& op) : plans_(op) {}

  void Plan(const WindowGeometry& geometry, bool global, bool include_pad) {
    plans_.Make(geometry, global, include_pad);
  }
  void Run(CUDAContext& context, const PoolGradientData& data) {
    const bool done = plans_.RunCudnn([&](CudaPoolPlan& plan, std::string* reason) {
      return plan.RunGradient(context, data, reason);
    });
    if (done) return;
    if constexpr (kKind == PoolKind::kMax) {
      RunMaxPoolGradient(context, plans_.native(), data);
    } else {
      RunMeanPoolGradient(context, plans_.native(), data);
    }
  }

 private:
  CudaPoolPlans<kKind, kEngine> plans_;
};

}  // namespace caffe2rt
