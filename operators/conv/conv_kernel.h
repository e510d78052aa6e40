#pragma once
// The ways to compute a convolution on the CPU.
//
//   std::unique_ptr<ConvKernel> kernel = NewConvKernel(ConvAlgorithm::kPixels, shape);
//   std::shared_ptr<const void> prepared = kernel->PrepareFilter(filter);  // once for a filter
//   kernel->Run(x, prepared.get(), bias, y);
//
// A kernel is made for one shape and is used by one thread at a time; prepared filters are shared
// freely.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "operators/conv/conv_shape.h"

namespace caffe2rt {

// Names in tuning tables are those that ConvAlgorithmName gives.
enum class ConvAlgorithm {
  kIm2Col,          // any shape: columns and a matrix product
  kGemm,            // pointwise shapes: a matrix product on the data as it lies
  kPixels,          // own kernel, vectors of neighbouring pixels (NCHW)
  kChannels,        // own kernel, vectors of output channels (NCHW)
  kOnednnPlain,     // oneDNN direct on the data as it lies
  kOnednnAny,       // oneDNN direct, layouts of its choice, reorders at the borders
  kOnednnBlocked,   // oneDNN direct on blocks of 16 channels
  kOnednnLast,      // oneDNN direct on channels-last data
  kOnednnMixed,     // oneDNN direct, source as it lies, result in blocks of 16 channels
  kOnednnWinograd,  // oneDNN Winograd
};
inline constexpr ConvAlgorithm kAllConvAlgorithms[] = {
    ConvAlgorithm::kIm2Col,        ConvAlgorithm::kGemm,        ConvAlgorithm::kPixels,
    ConvAlgorithm::kChannels,      ConvAlgorithm::kOnednnPlain, ConvAlgorithm::kOnednnAny,
    ConvAlgorithm::kOnednnBlocked, ConvAlgorithm::kOnednnLast,  ConvAlgorithm::kOnednnMixed,
    ConvAlgorithm::kOnednnWinograd};
const char* ConvAlgorithmName(ConvAlgorithm algorithm);
// False when there is no algorithm of that name.
bool ParseConvAlgorithm(std::string_view name, ConvAlgorithm* algorithm);

class ConvKernel {
 public:
  virtual ~ConvKernel() = default;
  // Names the form of the filter that Run takes; empty: the filter as it is.
  virtual std::string FilterForm() const { return {}; }
  virtual std::shared_ptr<const void> PrepareFilter(const float* filter) const {
    (void)filter;
    return nullptr;
  }
  // `filter` is the prepared one, or the filter itself when it has no form. `bias` is read when the
  // shape has one.
  virtual void Run(const float* x, const void* filter, const float* bias, float* y) = 0;
};

// Null when the algorithm cannot do the shape on this machine. REQUIRES: no dimension of the shape
// is 0.
std::unique_ptr<ConvKernel> NewConvKernel(ConvAlgorithm algorithm, const ConvShape& shape);

// Memory for `count` floats from the CPU context, freed with the last owner.
std::shared_ptr<float> NewFilterMemory(int64_t count);

// One file each.
std::unique_ptr<ConvKernel> NewIm2ColConv(const ConvShape& shape);
std::unique_ptr<ConvKernel> NewGemmConv(const ConvShape& shape);
std::unique_ptr<ConvKernel> NewPixelsConv(const ConvShape& shape);
std::unique_ptr<ConvKernel> NewChannelsConv(const ConvShape& shape);
std::unique_ptr<ConvKernel> NewOnednnConv(ConvAlgorithm algorithm, const ConvShape& shape);

}  // namespace caffe2rt
