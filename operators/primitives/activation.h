#pragma once
// Activation functions that fused operators apply to their results, on the calling thread.
//
//   const Activation gelu = {.kind = Activation::Parse("Gelu")};   // in the constructor
//   FinishRows(bias, gelu, m, n, y, n);                            // y = gelu(y + bias)
//
// The formulas are those of the operators of the same names (operators/elementwise).

#include <cstdint>
#include <string>

#pragma GCC visibility push(default)
namespace caffe2rt {

struct Activation {
  enum class Kind {
    kNone,
    kRelu,
    kClip,
    kLeakyRelu,
    kElu,
    kSigmoid,
    kTanh,
    kSwish,
    kGelu,
    kFastGelu
  };
  Kind kind = Kind::kNone;
  float alpha = 0;         // kLeakyRelu: the slope for negative values; kElu: their factor
  float min = 0, max = 0;  // kClip

  // Accepts the operator types "Relu", "Clip", "LeakyRelu", "Elu", "Sigmoid", "Tanh", "Swish" and
  // "Gelu", "FastGelu" for the approximation by tanh, and "" for none. THROWS for any other name.
  static Kind Parse(const std::string& name);
  // Whether Parse accepts the name.
  static bool IsName(const std::string& name);

  // Sets the bounds of the results and returns true if they are all that the activation does:
  // y = min(max(y, lowest), highest) for none, Relu and Clip.
  bool FindBounds(float* lowest, float* highest) const;
};
// The names that Parse accepts, for error messages.
inline constexpr char kActivationNames[] =
    "\"\", Relu, Clip, LeakyRelu, Elu, Sigmoid, Tanh, Swish, Gelu or FastGelu";

// y [m, n] = activation(y + bias), where the rows of y are `ldy` elements apart and `bias` has n
// elements, or is null. A value does not depend on its position or on the sizes.
void FinishRows(const float* bias, const Activation& activation, int64_t m, int64_t n, float* y,
                int64_t ldy);

}  // namespace caffe2rt
#pragma GCC visibility pop
