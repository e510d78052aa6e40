#pragma once
// Precision: in which element type operators may compute. The default is float everywhere; anything
// else must be asked for.
//
//   PrepareNet(net, {.precision = ParsePrecision("bf16")}, &ws);

#include <array>
#include <cstdint>
#include <string>

#pragma GCC visibility push(default)
namespace caffe2rt {

enum class Precision : uint8_t {
  kFloat32,
  // Convolutions round X and the filter to bfloat16 (8 bits of fraction) where the machine multiplies
  // bfloat16 and that is estimated to be faster. They add in float. So do fully connected layers, FC and
  // MatMul with constant weights.
  kBfloat16,
  // Convolutions for whose inputs the net states ranges (arguments input_min and input_max, which
  // caffe2 quantize measures) multiply bytes where that is estimated to be faster. The others are
  // computed as with kBfloat16, or in float where the machine does not multiply bfloat16. Fully connected
  // layers quantize each row of X when they multiply it, and need no ranges.
  kInt8,
  // The lowest of the others in which the outputs are good enough, by what caffe2 quantize measured on its
  // examples and stated in the net. The preparation of a net replaces it by that.
  kAuto,
};

// Arguments of a net: the ratio of signal to noise of its outputs in dB with each precision, and with
// filters for machines without VNNI.
inline constexpr char kInt8SnrArgument[] = "snr_int8";
inline constexpr char kPairLimitedSnrArgument[] = "snr_int8_pair_limited";
inline constexpr char kBf16SnrArgument[] = "snr_bf16";

// "f32", "bf16", "int8" or "auto".
const char* PrecisionName(Precision precision);
inline constexpr std::array kPrecisions = {Precision::kFloat32, Precision::kBfloat16,
                                           Precision::kInt8, Precision::kAuto};
// The reverse. THROWS for other names.
Precision ParsePrecision(const std::string& name);

}  // namespace caffe2rt
#pragma GCC visibility pop
