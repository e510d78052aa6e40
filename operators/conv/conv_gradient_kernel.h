#pragma once
// Algorithms for the gradients of a convolution on the CPU.
//
//   std::unique_ptr<ConvGradientKernel> kernel = NewConvGradientKernel(
//       ConvGradientAlgorithm::kOnednn, shape, {.filter = true, .x = true});
//   kernel->Run(x, filter, dy, dfilter, dx, scratch.Floats(kernel->ScratchSize()));
//
// A kernel is created for one shape and used by one thread at a time. It keeps nothing of the
// filter between runs, because a training step changes the filter.

#include <memory>

#include "operators/conv/conv_shape.h"

namespace caffe2rt {

enum class ConvGradientAlgorithm {
  kIm2Col,    // any shape: im2col, GEMM and the reverse of im2col
  kTurned,    // NCHW: kIm2Col on copies with channels last
  kGemm,      // pointwise shapes: GEMM on the data in place
  kOnednn,    // oneDNN direct, in layouts chosen by oneDNN
  kWinograd,  // 3 x 3 windows with stride 1 and multiples of 16 channels: Winograd F(4 x 4, 3 x 3)
};
inline constexpr ConvGradientAlgorithm kAllConvGradientAlgorithms[] = {
    ConvGradientAlgorithm::kIm2Col, ConvGradientAlgorithm::kTurned, ConvGradientAlgorithm::kGemm,
    ConvGradientAlgorithm::kOnednn, ConvGradientAlgorithm::kWinograd};

// The gradients that a kernel computes.
struct ConvGradientParts {
  bool filter = false;
  bool x = false;
};

class ConvGradientKernel {
 public:
  virtual ~ConvGradientKernel() = default;
  // The scratch memory of Run in floats.
  virtual int64_t ScratchSize() const { return 0; }
  // Writes the gradients that the kernel was created for; `dfilter` or `dx` may be null if it was
  // not created for them.
  virtual void Run(const float* x, const float* filter, const float* dy, float* dfilter, float* dx,
                   float* scratch) = 0;
};

// Returns null if the algorithm does not support the shape on this machine. REQUIRES: no dimension
// of the shape is 0.
std::unique_ptr<ConvGradientKernel> NewConvGradientKernel(ConvGradientAlgorithm algorithm,
                                                          const ConvShape& shape,
                                                          ConvGradientParts parts);

// The factory of kOnednn. It returns null also if oneDNN has no optimized implementation.
std::unique_ptr<ConvGradientKernel> NewOnednnConvGradient(const ConvShape& shape,
                                                          ConvGradientParts parts);

// The factory of kWinograd.
std::unique_ptr<ConvGradientKernel> NewWinogradConvGradient(const ConvShape& shape,
                                                            ConvGradientParts parts);

}  // namespace caffe2rt
