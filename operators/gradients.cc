// Built-in operators that have no gradient, and why; the makers of the others stand beside their
// operators.

#include "caffe2_core/graph/gradient.h"

namespace caffe2rt {
namespace {

// Their outputs do not depend smoothly on any input.
constexpr const char* kNothingToDerive[] = {"Accuracy", "And",  "ArgMax", "ArgMin", "EQ",  "GE",
                                            "GT",       "LE",   "LT",     "NE",     "Not", "Or",
                                            "Shape",    "Sign", "Where",  "Xor"};

// They make constants: the backward pass ends there.
constexpr const char* kConstants[] = {"ConstantFill",
                                      "DiagonalFill",
                                      "GaussianFill",
                                      "GivenTensorBoolFill",
                                      "GivenTensorByteStringToUInt8Fill",
                                      "GivenTensorDoubleFill",
                                      "GivenTensorFill",
                                      "GivenTensorInt16Fill",
                                      "GivenTensorInt64Fill",
                                      "GivenTensorIntFill",
                                      "GivenTensorStringFill",
                                      "MSRAFill",
                                      "RangeFill",
                                      "UniformFill",
                                      "UniformIntFill",
                                      "UniqueUniformFill",
                                      "XavierFill"};

// Caffe2 has none either.
constexpr const char* kNotWritten[] = {"Ceil", "Floor"};

}  // namespace

void RegisterBuiltinGradients(GradientRegistryType* registry) {
  for (const char* type : kNothingToDerive) {
    RegisterGradient<ThrowInTheTowelIfGradientIsCalled>(type, __FILE__, registry);
  }
  for (const char* type : kConstants) RegisterGradient<NoGradient>(type, __FILE__, registry);
  for (const char* type : kNotWritten) {
    RegisterGradient<GradientNotImplementedYet>(type, __FILE__, registry);
  }
}

}  // namespace caffe2rt
