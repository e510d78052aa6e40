#include "caffe2_core/model/packed_weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/float16.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/tensor/tensor_difference.h"

namespace caffe2rt {
namespace {

constexpr float kLargestFloat16 = 65504, kLargestInt8 = 127;

float LargestOf(const float* x, int64_t n) {
  float largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (!std::isfinite(x[i])) return x[i] * 0;  // NaN
    largest = std::max(largest, std::abs(x[i]));
  }
  return largest;
}

void Narrow(const float* x, int64_t n, std::string* bytes) {
  bytes->resize(static_cast<size_t>(n) * sizeof(float16));
  for (int64_t i = 0; i < n; ++i) {
    const float16 half(x[i]);
    std::memcpy(bytes->data() + static_cast<size_t>(i) * sizeof(half), &half, sizeof(half));
  }
}

// An element that is a multiple of the scale is exact. A scale that is no normal number would lose bits, so such a row
// becomes zeros.
void Quantize(const float* x, int64_t rows, int64_t n, ReducedWeights* to) {
  to->bytes.resize(static_cast<size_t>(n));
  const int64_t width = n / rows;
  for (int64_t r = 0; r < rows; ++r) {
    const float scale = LargestOf(x + r * width, width) / kLargestInt8;
    const bool usable = std::isnormal(scale);
    to->row_scales.push_back(usable ? scale : 0.0f);
    for (int64_t i = r * width; i < (r + 1) * width; ++i) {
      const float level = usable ? std::nearbyint(x[i] / scale) : 0.0f;
      to->bytes[static_cast<size_t>(i)] =
          static_cast<char>(std::clamp(level, -kLargestInt8, kLargestInt8));
    }
  }
}

}  // namespace

std::set<std::string> WeightBlobsOf(const NetDef& net) {
  std::set<std::string> weights, others;
  for (const OperatorDef& op : net.op()) {
    const OpSchema* const schema = OpSchemaRegistry::Schema(op.type());
    const bool counted =
        schema != nullptr && schema->traits().multiply_adds != MultiplyAddCount::kNotCounted;
    for (int i = 0; i < op.input_size(); ++i)
      (counted && i > 0 ? weights : others).insert(op.input(i));
    for (const std::string& output : op.output()) others.insert(output);
  }
  for (const std::string& name : others) weights.erase(name);
  for (const std::string& name : net.external_output()) weights.erase(name);
  return weights;
}

std::optional<ReducedWeights> ReduceWeights(const Tensor& weights, WeightStorage to) {
  CAFFE_ENFORCE(to != WeightStorage::kFull,
                "argument to of ReduceWeights is kFull, want fewer bits");
  if (!weights.IsType<float>() || weights.dim() < 2 || weights.numel() == 0) return std::nullopt;
  const float* const x = weights.data<float>();
  const int64_t n = weights.numel();
  const float largest = LargestOf(x, n);
  if (std::isnan(largest)) return std::nullopt;
  if (to == WeightStorage::kFloat16 && largest > kLargestFloat16) return std::nullopt;
  ReducedWeights reduced;
  Tensor widened(weights.sizes(), CPU);
  float* const y = widened.mutable_data<float>();
  if (to == WeightStorage::kFloat16) {
    Narrow(x, n, &reduced.bytes);
    WidenFloat16(reduced.bytes.data(), n, y);
  } else {
    Quantize(x, weights.dim(0), n, &reduced);
    WidenInt8(reduced.bytes.data(), reduced.row_scales.data(), weights.dim(0), n, y);
  }
  reduced.snr_db = CompareTensors(widened, weights, {}).SnrDb();
  return reduced;
}

void WidenFloat16(const void* elements, int64_t count, float* y) {
  const auto* const bytes = static_cast<const char*>(elements);
  for (int64_t i = 0; i < count; ++i) {
    uint16_t bits;
    std::memcpy(&bits, bytes + static_cast<size_t>(i) * sizeof(bits), sizeof(bits));
    y[i] = float16::FromBits(bits);
  }
}

void WidenInt8(const void* elements, const void* row_scales, int64_t rows, int64_t count,
               float* y) {
  if (count == 0) return;
  const auto* x = static_cast<const int8_t*>(elements);
  const int64_t width = count / rows;
  for (int64_t r = 0; r < rows; ++r, x += width, y += width) {
    float scale;
    std::memcpy(&scale,
                static_cast<const char*>(row_scales) + static_cast<size_t>(r) * sizeof(scale),
                sizeof(scale));
    for (int64_t i = 0; i < width; ++i) y[i] = static_cast<float>(x[i]) * scale;
  }
}

}  // namespace caffe2rt
