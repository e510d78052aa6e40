#pragma once
// SpatialNarrowAs: removes rows at the bottom and columns at the right of A, so that its images
// have the size of those of B.
//   A [N, C, H0, W0] or [N, H0, W0], float or int32; B [N, *, H, W] or [N, H, W], with H <= H0 and
//   W <= W0  ->  C [N, C, H, W] or [N, H, W]
//
// SpatialNarrowAsGradient: A, B, dC  ->  dA, with zeros in the removed rows and columns

#include <vector>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "operators/detectron/detectron_kernels.h"

namespace caffe2rt {

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Sets *dims to the shape of the result. THROWS if the shapes do not match.
void NarrowedDims(IntArrayRef a, IntArrayRef b, std::vector<int64_t>* dims);
// REQUIRES: `c` is the shape of the result.
NarrowedImages NarrowedImagesOf(IntArrayRef a, IntArrayRef c);
void CheckNarrowedGradient(const Tensor& dC, const std::vector<int64_t>& dims);
#pragma GCC visibility pop

template <class Context>
class SpatialNarrowAsOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SpatialNarrowAsOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    return DispatchByType<float, int32_t>(Input(0).dtype(), "input 0 (A)", [&](auto element) {
      return RunWith<decltype(element)>();
    });
  }

 private:
  template <class T>
  bool RunWith() {
    static_assert(sizeof(T) == sizeof(uint32_t));
    const Tensor& A = Input(0);
    NarrowedDims(A.sizes(), Input(1).sizes(), &dims_);
    const T* const a = A.template data<T>();
    T* const c = this->template OutputData<T>(0, dims_);
    if (Output(0)->numel() == 0) return true;
    NarrowImages(context_, NarrowedImagesOf(A.sizes(), dims_), reinterpret_cast<const uint32_t*>(a),
                 reinterpret_cast<uint32_t*>(c));
    return true;
  }

  std::vector<int64_t> dims_;
};

template <class Context>
class SpatialNarrowAsGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SpatialNarrowAsGradientOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    return DispatchByType<float, int32_t>(Input(2).dtype(), "input 2 (dC)", [&](auto element) {
      return RunWith<decltype(element)>();
    });
  }

 private:
  template <class T>
  bool RunWith() {
    const Tensor& A = Input(0);
    const Tensor& dC = Input(2);
    NarrowedDims(A.sizes(), Input(1).sizes(), &dims_);
    CheckNarrowedGradient(dC, dims_);
    const T* const dc = dC.template data<T>();
    T* const da = this->template OutputData<T>(0, A.sizes());
    if (A.numel() == 0) return true;
    WidenImages(context_, NarrowedImagesOf(A.sizes(), dims_), reinterpret_cast<const uint32_t*>(dc),
                reinterpret_cast<uint32_t*>(da));
    return true;
  }

  std::vector<int64_t> dims_;
};

}  // namespace caffe2rt
