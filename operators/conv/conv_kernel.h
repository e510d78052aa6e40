#pragma once
// Algorithms for convolution on the CPU.
//
//   std::unique_ptr<ConvKernel> kernel = NewConvKernel(ConvAlgorithm::kPixels, shape);
//   std::shared_ptr<const void> prepared = kernel->PrepareFilter(filter);  // once for each filter
//   kernel->Run(x, prepared.get(), bias, y,
//               scratch.ForPieces(kernel->ScratchParts(), kernel->ScratchSize()));
//
// A kernel is created for one shape and used by one thread at a time. Prepared filters are
// immutable and may be shared between threads.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "operators/conv/conv_shape.h"
#include "operators/primitives/scratch.h"

namespace caffe2rt {

// Tuning tables and reports use the names that ConvAlgorithmName returns.
enum class ConvAlgorithm {
  // On row-major tensors: kernels in this file.
  kIm2Col,          // any shape: im2col and GEMM
  kGemm,            // pointwise shapes: GEMM on the data in place
  kPixels,          // built-in kernel, vectors of neighbouring pixels (NCHW)
  kChannels,        // built-in kernel, vectors of output channels (NCHW)
  kOnednnPlain,     // oneDNN direct, in the layout of the tensors
  kOnednnAny,       // oneDNN direct, layouts chosen by oneDNN; X and Y are reordered
  kOnednnBlocked,   // oneDNN direct, channels in blocks of 16
  kOnednnLast,      // oneDNN direct, channels last
  kOnednnMixed,     // oneDNN direct, X as it is, Y in blocks of 16 channels
  kOnednnWinograd,  // oneDNN Winograd
  kCopiesWinograd,  // built-in Winograd on copies in blocks of 16 channels (NCHW)
  // On IDEEP, in NHWC or in blocks of 16 channels (ideep_conv.h).
  kDepthwise,     // built-in kernel for depthwise convolutions
  kPointwise,     // built-in: multiplications by packed matrices (NHWC)
  kWinograd,      // built-in Winograd
  kOnednnDirect,  // oneDNN direct, cut into pieces
};
inline constexpr ConvAlgorithm kPlainConvAlgorithms[] = {
    ConvAlgorithm::kIm2Col,         ConvAlgorithm::kGemm,          ConvAlgorithm::kPixels,
    ConvAlgorithm::kChannels,       ConvAlgorithm::kOnednnPlain,   ConvAlgorithm::kOnednnAny,
    ConvAlgorithm::kOnednnBlocked,  ConvAlgorithm::kOnednnLast,    ConvAlgorithm::kOnednnMixed,
    ConvAlgorithm::kOnednnWinograd, ConvAlgorithm::kCopiesWinograd};
inline constexpr ConvAlgorithm kIdeepConvAlgorithms[] = {
    ConvAlgorithm::kDepthwise, ConvAlgorithm::kPointwise, ConvAlgorithm::kWinograd,
    ConvAlgorithm::kOnednnDirect};
// Whether the algorithm is one of kIdeepConvAlgorithms.
bool IsOnIdeep(ConvAlgorithm algorithm);
#pragma GCC visibility push(default)  // for the program caffe2
const char* ConvAlgorithmName(ConvAlgorithm algorithm);
#pragma GCC visibility pop
// Returns false if no algorithm has this name.
bool ParseConvAlgorithm(std::string_view name, ConvAlgorithm* algorithm);

class ConvKernel {
 public:
  virtual ~ConvKernel() = default;
  // Identifies the layout that Run expects of the filter; empty if Run reads the filter as it is.
  // Kernels with the same string can share a prepared filter.
  virtual std::string FilterForm() const { return {}; }
  // The prepared filter, in new memory. REQUIRES: FilterForm is not empty.
  std::shared_ptr<const void> PrepareFilter(const float* filter);
  // The size of a prepared filter in floats.
  virtual int64_t PreparedSize() const { return 0; }
  // The scratch memory of PrepareFilterIn in floats.
  virtual int64_t PreparationSize() const { return 0; }
  // Writes the prepared filter to `prepared`. In the steady state it allocates nothing, except inside
  // oneDNN.
  virtual void PrepareFilterIn(const float* filter, float* prepared) {
    (void)filter;
    (void)prepared;
  }
  // The scratch memory of each thread during Run, in floats.
  virtual int64_t ScratchSize() const { return 0; }
  // The number of threads that Run starts.
  virtual int ScratchParts() const { return 1; }
  // `filter` is the prepared filter, or the filter itself if FilterForm is empty. `bias` is read if
  // the shape has a bias. `scratch` has ScratchParts parts.
  virtual void Run(const float* x, const void* filter, const float* bias, float* y,
                   PieceScratch scratch) = 0;
};

// Returns null if the algorithm does not support the shape on this machine. REQUIRES: the algorithm
// is one of kPlainConvAlgorithms, and no dimension of the shape is 0.
std::unique_ptr<ConvKernel> NewConvKernel(ConvAlgorithm algorithm, const ConvShape& shape);

// Allocates memory for `count` floats from the CPU context. It is freed with its last owner.
std::shared_ptr<float> NewFilterMemory(int64_t count);

// The factories of the algorithms, one source file each. They return null for a shape that the
// algorithm does not support.
std::unique_ptr<ConvKernel> NewIm2ColConv(const ConvShape& shape);
std::unique_ptr<ConvKernel> NewGemmConv(const ConvShape& shape);
std::unique_ptr<ConvKernel> NewPixelsConv(const ConvShape& shape);
std::unique_ptr<ConvKernel> NewChannelsConv(const ConvShape& shape);
std::unique_ptr<ConvKernel> NewCopyingWinogradConv(const ConvShape& shape);
std::unique_ptr<ConvKernel> NewOnednnConv(ConvAlgorithm algorithm, const ConvShape& shape);

}  // namespace caffe2rt
