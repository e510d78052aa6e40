#pragma once
// Weights that a packed model (packed_model.h) stores with fewer bits: as float16, or as int8 with a
// scale for each output channel. They are floats again when the model is loaded, the same on every
// machine.
//
//   const std::optional<ReducedWeights> reduced = ReduceWeights(filter, WeightStorage::kInt8);
//   if (reduced.has_value()) std::cout << reduced->snr_db;

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "caffe2_core/tensor/tensor.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

enum class WeightStorage {
  kFull,     // as they are
  kFloat16,  // IEEE half precision, rounded to nearest even
  kInt8,     // round(w / scale) with scale = max|w| / 127 for each index of the first dimension
};

struct ReducedWeights {
  std::string bytes = {};              // the elements, in row-major order
  std::vector<float> row_scales = {};  // of kInt8
  double snr_db =
      0;  // the signal-to-noise ratio of the widened weights; infinity if they are equal
};

// The blobs that the net reads as weights of convolutions and matrix multiplications, and in no
// other way: inputs after the first of operators whose multiply-adds are counted. Biases are among
// them.
std::set<std::string> WeightBlobsOf(const NetDef& net);

// Returns nothing for a tensor that would lose its meaning: other types than float, less than two
// dimensions, no elements, values that are not finite, or beyond the range of float16. REQUIRES:
// `to` is not kFull, and the tensor is on the CPU.
std::optional<ReducedWeights> ReduceWeights(const Tensor& weights, WeightStorage to);

// Writes `count` floats.
void WidenFloat16(const void* elements, int64_t count, float* y);
// The same for [rows, count / rows] elements of int8. REQUIRES: `rows` divides `count`.
void WidenInt8(const void* elements, const void* row_scales, int64_t rows, int64_t count, float* y);

}  // namespace caffe2rt
#pragma GCC visibility pop
