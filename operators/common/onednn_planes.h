#pragma once
// IDEEP tensors for kernels over channel planes (channel_planes.h).
//
//   PlanesInput input_;                                           // members
//   std::shared_ptr<const OnednnLayout> layout_;
//
//   if (!input_.Matches(X)) {                                     // in RunOnDevice
//     input_.Plan(0, X);
//     out_ = ...;                                                 // the planes of Y
//     layout_ = LayoutOf(out_);
//   }
//   const float* x = input_.Read(X);
//   float* y = PrepareOutput(Y, dims_, layout_);
//
// Used by one thread at a time. In the steady state nothing is allocated.

#include <memory>
#include <optional>

#include "contexts/onednn/onednn_tensor.h"
#include "operators/common/channel_planes.h"
#include "operators/primitives/onednn_reorder.h"

namespace caffe2rt {

// The planes of an image tensor in nhwc or nChw16c, or in row-major order if that is the same as
// nhwc because an image has one pixel or one channel. Empty for all other tensors.
std::optional<ChannelPlanes> PlanesOf(const Tensor& x);
// The planes of a tensor with these dims (N, C, H, W).
ChannelPlanes PlanesIn(OnednnFormat format, const std::vector<int64_t>& dims);

// [N, C, H, W].
std::vector<int64_t> DimsOf(const ChannelPlanes& planes);
dnnl::memory::desc DescOf(const ChannelPlanes& planes);
// Null if the planes are in row-major order.
std::shared_ptr<const OnednnLayout> LayoutOf(const ChannelPlanes& planes);

// The shared layout of an IDEEP tensor, or null if it is in row-major order. THROWS if the tensor
// was reshaped after it was written.
std::shared_ptr<const OnednnLayout> SharedLayout(const Tensor& x);
// The floats that an IDEEP tensor occupies, with the padding of its layout.
int64_t FloatsOf(const Tensor& x);

// Whether an image is of bytes with a scale, densely in nhwc.
bool IsBytesInNhwc(const Tensor& x);
// The planes of an image of elements of that type, bf16 or u8, densely in nhwc, or of bf16 in nChw16c. Empty
// for all other tensors.
std::optional<ChannelPlanes> ReducedPlanesOf(const Tensor& x, dnnl::memory::data_type element);

// The memory of an IDEEP tensor, for reorders from its descriptor, which does not know the scale of
// integers. The elements are floats or bf16. THROWS for tensors with a scale.
const float* SourceOfReorder(const Tensor& x);

// An image that is read as channel planes. Images in other layouts than nhwc and nChw16c are
// converted.
class PlanesInput {
 public:
  // Whether `x` has the shape and the layout that were planned.
  bool Matches(const Tensor& x) const { return input_.Matches(x); }
  void Forget() { input_.Forget(); }
  // Plans to read `x`, which is input `i`, in its layout if it has planes, otherwise in nhwc.
  // THROWS if it is not of rank 4 with float elements.
  void Plan(int i, const Tensor& x);
  // Plans nothing, but Matches(x) from now on: for callers that read `x` as it is.
  void Remember(const Tensor& x) { input_.Remember(x); }
  // Plans to read `x` in a given layout.
  void PlanIn(const ChannelPlanes& planes, const Tensor& x);

  const ChannelPlanes& planes() const { return planes_; }
  bool converts() const { return converts_; }
  // REQUIRES: Matches(x).
  const float* Read(const Tensor& x);
  // Converts `x` to memory of the caller. REQUIRES: Matches(x), converts().
  void ConvertTo(const Tensor& x, float* to);

 private:
  // X in bytes, which reorders cannot read, as floats in row-major order.
  const float* Widen(const Tensor& x);

  OnednnInput input_;
  ChannelPlanes planes_;
  bool converts_ = false;
  OnednnReorder reorder_;
  Tensor converted_{CPU}, widened_{CPU};
};

// A float tensor of any rank that is read in row-major order.
class RowMajorInput {
 public:
  // The elements of `x`, valid until the next call. Converts them if necessary.
  const float* Read(const Tensor& x);

 private:
  OnednnInput input_;
  OnednnReorder reorder_;
  Tensor converted_{CPU};
};

// Keeps the memory of X while an operator that runs in place replaces it. Tensors replace memory
// that is read-only.
class InplaceInput {
 public:
  InplaceInput(const Tensor& X, const Tensor* Y) {
    if (Y == &X && X.storage() != nullptr && X.storage()->read_only()) kept_ = X.storage();
  }

 private:
  std::shared_ptr<Storage> kept_;
};

}  // namespace caffe2rt
