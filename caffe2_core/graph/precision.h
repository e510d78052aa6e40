#pragma once
// Precision: in which element type operators may compute. The default is float everywhere; anything
// else must be asked for.
//
//   PrepareNet(net, {.precision = ParsePrecision("bf16")}, &ws);

#include <cstdint>
#include <string>

#pragma GCC visibility push(default)
namespace caffe2rt {

enum class Precision : uint8_t {
  kFloat32,
  // Convolutions round X and the filter to bfloat16 (8 bits of fraction) where the machine multiplies
  // bfloat16 and that is estimated to be faster. They add in float.
  kBfloat16,
};

// "f32" or "bf16".
const char* PrecisionName(Precision precision);
// The reverse. THROWS for other names.
Precision ParsePrecision(const std::string& name);

}  // namespace caffe2rt
#pragma GCC visibility pop
