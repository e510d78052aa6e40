#include "operators/elementwise/cast_wide.h"

#include <cstdint>
#include <limits>
#include <type_traits>

#include "caffe2_core/base/bfloat16.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/float16.h"
#include "caffe2_core/tensor/data_type.h"
#include "caffe2_core/tensor/number_types.h"

namespace caffe2rt {
namespace {

template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
template <class T>
inline constexpr bool kIsWide =
    std::is_same_v<T, uint32_t> || std::is_same_v<T, uint64_t> || std::is_same_v<T, bfloat16>;

int64_t WholeOf(double x) {
  constexpr double kBound = 0x1p63;
  return x >= -kBound && x < kBound ? static_cast<int64_t>(x) : std::numeric_limits<int64_t>::min();
}

uint64_t UnsignedOf(double x) {
  if (!(x < 0x1p64) || x < -0x1p63) return 0;
  return x < 0x1p63 ? static_cast<uint64_t>(static_cast<int64_t>(x)) : static_cast<uint64_t>(x);
}

template <class To, class From>
To Converted(From x) {
  if constexpr (kIsHalf<From>) {
    return Converted<To>(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (kIsHalf<To>) {
    return To(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, uint64_t> && std::is_floating_point_v<From>) {
    return UnsignedOf(x);
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    return static_cast<To>(WholeOf(x));
  } else {
    return static_cast<To>(x);
  }
}

template <class To, class From>
void Convert(const Tensor& X, Tensor* Y) {
  const From* x = X.data<From>();
  To* y = Y->mutable_data<To>();
  const int64_t n = X.numel();
  for (int64_t i = 0; i < n; ++i) y[i] = Converted<To>(x[i]);
}

}  // namespace

bool CastWide(const Tensor& X, TensorProto_DataType to, Tensor* Y) {
  const TypeMeta target = DataTypeToTypeMeta(to);
  bool converted = false;
  const bool is_number = WithNumberType(X.dtype(), [&]<class From>(std::type_identity<From>) {
    WithNumberType(target, [&]<class To>(std::type_identity<To>) {
      if constexpr (kIsWide<From> || kIsWide<To>) {
        Convert<To, From>(X, Y);
        converted = true;
      }
    });
  });
  CAFFE_ENFORCE(is_number || !IsWideCastType(to), "input 0 (X) is of type ",
                DataTypeName(X.dtype()), ", want numbers or bools");
  return converted;
}

}  // namespace caffe2rt
