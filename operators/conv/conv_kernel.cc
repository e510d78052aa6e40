#include "operators/conv/conv_kernel.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "caffe2_core/base/checked_math.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

namespace {

constexpr std::pair<ConvAlgorithm, const char*> kNames[] = {
    {ConvAlgorithm::kIm2Col, "im2col"},
    {ConvAlgorithm::kGemm, "gemm"},
    {ConvAlgorithm::kPixels, "pixels"},
    {ConvAlgorithm::kChannels, "channels"},
    {ConvAlgorithm::kOnednnPlain, "onednn_plain"},
    {ConvAlgorithm::kOnednnAny, "onednn_any"},
    {ConvAlgorithm::kOnednnBlocked, "onednn_blocked"},
    {ConvAlgorithm::kOnednnLast, "onednn_last"},
    {ConvAlgorithm::kOnednnMixed, "onednn_mixed"},
    {ConvAlgorithm::kOnednnWinograd, "onednn_winograd"},
    {ConvAlgorithm::kCopiesWinograd, "winograd_copies"},
    {ConvAlgorithm::kDepthwise, "depthwise"},
    {ConvAlgorithm::kPointwise, "pointwise"},
    {ConvAlgorithm::kWinograd, "winograd"},
    {ConvAlgorithm::kOnednnDirect, "onednn_direct"},
};

}  // namespace

const char* ConvAlgorithmName(ConvAlgorithm algorithm) {
  for (const auto& [known, name] : kNames) {
    if (known == algorithm) return name;
  }
  return "unknown";
}

bool ParseConvAlgorithm(std::string_view name, ConvAlgorithm* algorithm) {
  for (const auto& [known, known_name] : kNames) {
    if (name == known_name) {
      *algorithm = known;
      return true;
    }
  }
  return false;
}

bool IsOnIdeep(ConvAlgorithm algorithm) {
  return std::find(std::begin(kIdeepConvAlgorithms), std::end(kIdeepConvAlgorithms), algorithm) !=
         std::end(kIdeepConvAlgorithms);
}

std::shared_ptr<const void> ConvKernel::PrepareFilter(const float* filter) {
  std::shared_ptr<float> prepared = NewFilterMemory(PreparedSize());
  PrepareFilterIn(filter, prepared.get());
  return prepared;
}

std::unique_ptr<ConvKernel> NewConvKernel(ConvAlgorithm algorithm, const ConvShape& shape) {
  switch (algorithm) {
    case ConvAlgorithm::kIm2Col:
      return NewIm2ColConv(shape);
    case ConvAlgorithm::kGemm:
      return NewGemmConv(shape);
    case ConvAlgorithm::kPixels:
      return NewPixelsConv(shape);
    case ConvAlgorithm::kChannels:
      return NewChannelsConv(shape);
    case ConvAlgorithm::kCopiesWinograd:
      return NewCopyingWinogradConv(shape);
    default:
      return NewOnednnConv(algorithm, shape);
  }
}

std::shared_ptr<float> NewFilterMemory(int64_t count) {
  const size_t bytes = static_cast<size_t>(CheckedMultiply<int64_t>(count, sizeof(float)));
  auto [data, deleter] = CPUContext::New(bytes);
  return std::shared_ptr<float>(static_cast<float*>(data),
                                [deleter = deleter](float* pointer) { deleter(pointer); });
}

}  // namespace caffe2rt
