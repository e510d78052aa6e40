#pragma once
// Indices of GatherElements, ScatterElements, GatherND and ScatterND, and the reductions of the two
// that scatter.

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/runtime/dispatch.h"
#include "operators/common/strided_copy.h"

namespace caffe2rt {

enum class ScatterReduction : uint8_t { kNone, kAdd, kMul, kMax, kMin };

inline constexpr ArgumentSpec<std::string> kScatterReduction{
    "reduction",
    "none",
    "how an update is combined with the element: none (replaces it), add, mul, max or min",
    {[](const std::string& name) {
       return name == "none" || name == "add" || name == "mul" || name == "max" || name == "min";
     },
     "none, add, mul, max or min"}};
ScatterReduction ReadScatterReduction(const ArgumentHelper& args);

// THROWS unless all `count` indices are at least -size and below size.
template <class Index>
void CheckIndices(const Index* indices, int64_t count, int64_t size, const char* subject) {
  for (int64_t i = 0; i < count; ++i) {
    CAFFE_ENFORCE(indices[i] >= -size && indices[i] < size, "element ", i, " of ", subject, " is ",
                  indices[i], ", want at least ", -size, " and below ", size);
  }
}

// The element `old` combined with an update. NaN wins in max and min. Elements of type float16 are
// computed in float; addition of bool is or, multiplication is and.
template <ScatterReduction kReduction, class T>
T Combined(T old, T update) {
  using enum ScatterReduction;
  if constexpr (kReduction == kNone) {
    return update;
  } else if constexpr (kReduction == kMax) {
    return old < update || update != update ? update : old;
  } else if constexpr (kReduction == kMin) {
    return update < old || update != update ? update : old;
  } else if constexpr (std::is_same_v<T, bool>) {
    return kReduction == kAdd ? old || update : old && update;
  } else if constexpr (std::is_same_v<T, float16>) {
    const float a = old, b = update;
    return float16(kReduction == kAdd ? a + b : a * b);
  } else if constexpr (std::is_integral_v<T>) {
    // The product of two uint16_t would be a signed int, which overflows.
    using Wide = std::conditional_t<(sizeof(T) < 8), uint32_t, uint64_t>;
    const Wide a = static_cast<Wide>(old), b = static_cast<Wide>(update);
    return static_cast<T>(kReduction == kAdd ? a + b : a * b);
  } else {
    return kReduction == kAdd ? old + update : old * update;
  }
}

// Calls function(T(), reduction), where `reduction` is a std::integral_constant. Without a reduction,
// T only has the size of the elements.
template <class F>
void DispatchScatter(TypeMeta type, ScatterReduction reduction, const F& function) {
  using enum ScatterReduction;
  if (reduction == kNone) {
    DispatchBySize(type, "input 0 (data)", [&](auto element) {
      function(element, std::integral_constant<ScatterReduction, kNone>());
    });
    return;
  }
  DispatchByType<float, double, float16, int32_t, int64_t, uint8_t, int8_t, uint16_t, int16_t,
                 bool>(type, "input 0 (data)", [&](auto element) {
    switch (reduction) {
      case kAdd:
        return function(element, std::integral_constant<ScatterReduction, kAdd>());
      case kMul:
        return function(element, std::integral_constant<ScatterReduction, kMul>());
      case kMax:
        return function(element, std::integral_constant<ScatterReduction, kMax>());
      default:
        return function(element, std::integral_constant<ScatterReduction, kMin>());
    }
  });
}

}  // namespace caffe2rt
