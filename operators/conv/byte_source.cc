#include "operators/conv/byte_source.h"

#include <cmath>
#include <cstring>

#include "caffe2_core/base/simd.h"
#include "contexts/onednn/onednn_version.h"
#include "operators/common/onednn_planes.h"
#include "operators/primitives/parallel_ranges.h"

namespace caffe2rt {

namespace {

using dnnl::memory;

const OnednnQuantization* QuantizationOf(const Tensor& X) {
  if (!IsQuantized(X)) return nullptr;
  return &static_cast<const OnednnLayout&>(*X.opaque_layout()).quantization();
}

CAFFE2RT_SIMD_INLINE inline float AsFloat(float x) { return x; }
CAFFE2RT_SIMD_INLINE inline float AsFloat(uint16_t bfloat16) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(bfloat16) << 16);
}

struct QuantizeToBytes {
  template <class T>
  CAFFE2RT_SIMD_INLINE void operator()(int64_t n, const T* x, float inverse, float zero_point,
                                       uint8_t* y) const {
    const float low = -zero_point, high = 255 - zero_point;
    CAFFE2RT_SIMD_LOOP
    for (int64_t i = 0; i < n; ++i) {
      float rounded = std::nearbyint(AsFloat(x[i]) * inverse);
      rounded = rounded >= low ? rounded : low;  // NaN becomes the smallest number
      rounded = rounded <= high ? rounded : high;
      y[i] = static_cast<uint8_t>(static_cast<int32_t>(rounded + zero_point));
    }
  }
};

template <class T>
void Quantize(const T* x, int64_t count, const OnednnQuantization& quantization, uint8_t* y) {
  const float inverse = 1 / quantization.scale;
  const auto zero_point = static_cast<float>(quantization.zero_point);
  ParallelElements(count, [&](int64_t begin, int64_t end) {
    RunSimd(QuantizeToBytes{}, end - begin, x + begin, inverse, zero_point, y + begin);
  });
}

}  // namespace

bool ByteSource::Fits(const Tensor& X, const OnednnQuantization& quantization) {
  const OnednnQuantization* const bytes = QuantizationOf(X);
  return X.dim() == 4 && (bytes == nullptr || (*bytes == quantization && IsBytesInNhwc(X)));
}

ByteSource::ByteSource(const Tensor& X, const OnednnQuantization& quantization)
    : quantization_(quantization),
      desc_(DescIn(OnednnFormat::kNhwc, X.dims(), memory::data_type::u8)),
      count_(X.numel()) {
  if (QuantizationOf(X) != nullptr) return;
  const memory::desc source = DescOf(X);
  const auto is_nhwc = [&](memory::data_type element) {
    return IsSameMemory(source, DescIn(OnednnFormat::kNhwc, X.dims(), element));
  };
  bytes_.Resize(count_);
  elements_ = Elements::kFloats;
  if (is_nhwc(memory::data_type::bf16)) {
    elements_ = Elements::kBfloat16s;
  } else if (!is_nhwc(memory::data_type::f32)) {
    converts_ = true;
    to_nhwc_.Plan(source, DescIn(OnednnFormat::kNhwc, X.dims()));
    nhwc_.Resize(count_);
  }
}

const float* ByteSource::Read(const Tensor& X) {
  const void* from = OnednnMemory(X);
  if (elements_ == Elements::kBytes) return static_cast<const float*>(from);
  if (converts_) {
    float* const floats = nhwc_.mutable_data<float>();
    to_nhwc_.Run(static_cast<const float*>(from), floats);
    from = floats;
  }
  uint8_t* const bytes = bytes_.mutable_data<uint8_t>();
  if (elements_ == Elements::kFloats) {
    Quantize(static_cast<const float*>(from), count_, quantization_, bytes);
  } else {
    Quantize(static_cast<const uint16_t*>(from), count_, quantization_, bytes);
  }
  return reinterpret_cast<const float*>(bytes);
}

}  // namespace caffe2rt
