#include "operators/conv/byte_source.h"

#include <algorithm>
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

dnnl::memory::desc DescOfBytes(std::vector<int64_t> dims, const std::optional<ByteFrame>& frame) {
  if (frame) {
    dims[2] = frame->height;
    dims[3] = frame->width;
  }
  return DescIn(OnednnFormat::kNhwc, dims, memory::data_type::u8);
}

}  // namespace

bool ByteSource::Fits(const Tensor& X, const OnednnQuantization& quantization) {
  const OnednnQuantization* const bytes = QuantizationOf(X);
  return X.dim() == 4 && (bytes == nullptr || (*bytes == quantization && IsBytesInNhwc(X)));
}

ByteSource::ByteSource(const Tensor& X, const OnednnQuantization& quantization,
                       const std::optional<ByteFrame>& frame)
    : quantization_(quantization),
      dims_(X.dims()),
      frame_(frame),
      desc_(DescOfBytes(X.dims(), frame)),
      count_(X.numel()) {
  if (frame) {
    // Each run writes the pixels of X only.
    bytes_.Resize(static_cast<int64_t>(desc_.get_size()));
    std::memset(bytes_.mutable_data<uint8_t>(), quantization.zero_point, desc_.get_size());
  }
  if (QuantizationOf(X) != nullptr) return;
  const memory::desc source = DescOf(X);
  const auto is_nhwc = [&](memory::data_type element) {
    return IsSameMemory(source, DescIn(OnednnFormat::kNhwc, X.dims(), element));
  };
  if (!frame) bytes_.Resize(count_);
  elements_ = Elements::kFloats;
  if (is_nhwc(memory::data_type::bf16)) {
    elements_ = Elements::kBfloat16s;
  } else if (!is_nhwc(memory::data_type::f32)) {
    converts_ = true;
    to_nhwc_.Plan(source, DescIn(OnednnFormat::kNhwc, X.dims()));
    nhwc_.Resize(count_);
  }
}

// The elements of X in NHWC.
const void* ByteSource::ReadElements(const Tensor& X) {
  const void* const from = OnednnMemory(X);
  if (!converts_) return from;
  float* const floats = nhwc_.mutable_data<float>();
  to_nhwc_.Run(static_cast<const float*>(from), floats);
  return floats;
}

// Writes the bytes of `count` elements from element `first` on.
void ByteSource::QuantizeSome(const void* from, int64_t first, int64_t count, uint8_t* to) const {
  const float inverse = 1 / quantization_.scale;
  const auto zero_point = static_cast<float>(quantization_.zero_point);
  switch (elements_) {
    case Elements::kBytes:
      std::memcpy(to, static_cast<const uint8_t*>(from) + first, static_cast<size_t>(count));
      return;
    case Elements::kFloats:
      RunSimd(QuantizeToBytes{}, count, static_cast<const float*>(from) + first, inverse,
              zero_point, to);
      return;
    case Elements::kBfloat16s:
      RunSimd(QuantizeToBytes{}, count, static_cast<const uint16_t*>(from) + first, inverse,
              zero_point, to);
  }
}

void ByteSource::QuantizeAll(const void* from, uint8_t* bytes) const {
  ParallelElements(count_, [&](int64_t begin, int64_t end) {
    QuantizeSome(from, begin, end - begin, bytes + begin);
  });
}

// Writes those pixels of X that lie in the frame.
void ByteSource::FillFrame(const void* from, uint8_t* bytes) const {
  const int64_t channels = dims_[1], height = dims_[2], width = dims_[3];
  const int64_t first_row = std::max<int64_t>(frame_->top, 0);
  const int64_t rows = std::min(frame_->top + height, frame_->height) - first_row;
  const int64_t first_column = std::max<int64_t>(frame_->left, 0);
  const int64_t columns = std::min(frame_->left + width, frame_->width) - first_column;
  if (rows <= 0 || columns <= 0) return;
  const int64_t count = columns * channels;
  ParallelRanges(dims_[0] * rows, count, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t image = i / rows, row = first_row + i % rows;
      const int64_t source = (image * height + row - frame_->top) * width;
      const int64_t target = (image * frame_->height + row) * frame_->width + first_column;
      QuantizeSome(from, (source + first_column - frame_->left) * channels, count,
                   bytes + target * channels);
    }
  });
}

const float* ByteSource::Read(const Tensor& X) {
  const void* const from = ReadElements(X);
  if (elements_ == Elements::kBytes && !frame_) return static_cast<const float*>(from);
  uint8_t* const bytes = bytes_.mutable_data<uint8_t>();
  if (frame_) {
    FillFrame(from, bytes);
  } else {
    QuantizeAll(from, bytes);
  }
  return reinterpret_cast<const float*>(bytes);
}

}  // namespace caffe2rt
