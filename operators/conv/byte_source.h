#pragma once
// ByteSource: an image on IDEEP as bytes (u8) in NHWC with a given quantization.
//
//   ByteSource source(X, quantization);          // when the shape or layout of X changes
//   plan.RunOn(source.Read(X), ...);             // in each run
//
// X that has these bytes is read where it is. Otherwise it is quantized: clamp(round(x / scale) + zero
// point, 0, 255), where halves are rounded to even and a NaN becomes 0. With a frame, the bytes are copied
// into a larger image whose other bytes are the zero point, so that padding stands for 0. Results are the same on all
// machines and for every number of threads. Used by one thread at a time. In the steady state Read
// allocates nothing, except inside oneDNN.

#include <cstdint>
#include <dnnl.hpp>
#include <optional>
#include <vector>

#include "contexts/onednn/onednn_tensor.h"
#include "operators/primitives/onednn_reorder.h"

namespace caffe2rt {

// The image that surrounds X: pixel (0, 0) of X is its pixel (top, left). What lies outside is cropped.
struct ByteFrame {
  int64_t top = 0, left = 0;  // may be negative
  int64_t height = 0, width = 0;
};

class ByteSource {
 public:
  // REQUIRES: X has rank 4 and is not of bytes with another quantization.
  ByteSource(const Tensor& X, const OnednnQuantization& quantization,
             const std::optional<ByteFrame>& frame = {});

  // Of the bytes.
  const dnnl::memory::desc& desc() const { return desc_; }
  // REQUIRES: X has the shape and layout of the constructor's. The memory is of oneDNN's argument type.
  const float* Read(const Tensor& X);

  // Whether the tensor can be read.
  static bool Fits(const Tensor& X, const OnednnQuantization& quantization);

 private:
  enum class Elements { kBytes, kFloats, kBfloat16s };

  const void* ReadElements(const Tensor& X);
  void QuantizeAll(const void* from, uint8_t* bytes) const;
  void FillFrame(const void* from, uint8_t* bytes) const;
  void QuantizeSome(const void* from, int64_t first, int64_t count, uint8_t* to) const;

  const OnednnQuantization quantization_;
  const std::vector<int64_t> dims_;  // of X
  const std::optional<ByteFrame> frame_;
  const dnnl::memory::desc desc_;
  const int64_t count_;                   // of X
  Elements elements_ = Elements::kBytes;  // in NHWC
  bool converts_ = false;                 // first to floats in NHWC
  OnednnReorder to_nhwc_;
  Tensor nhwc_{CPU}, bytes_{CPU};
};

}  // namespace caffe2rt
