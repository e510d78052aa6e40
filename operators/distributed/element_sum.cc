#include "operators/distributed/element_sum.h"

#include <cstdint>

#include "caffe2_core/base/bfloat16.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/float16.h"

namespace caffe2rt {
namespace {

// `Wide` is the type in which the sum is computed: unsigned for integers, which wrap around.
template <class T, class Wide>
void AddElements(void* to, const void* a, const void* b, size_t count) {
  T* const sums = static_cast<T*>(to);
  const T* const left = static_cast<const T*>(a);
  const T* const right = static_cast<const T*>(b);
  for (size_t i = 0; i < count; ++i) {
    sums[i] =
        static_cast<T>(static_cast<Wide>(static_cast<Wide>(left[i]) + static_cast<Wide>(right[i])));
  }
}

template <class T, class Wide = T>
ElementSum Row() {
  return {TypeMeta::Make<T>(), sizeof(T), &AddElements<T, Wide>};
}

}  // namespace

const ElementSum& ElementSumOf(TypeMeta type) {
  static const ElementSum rows[] = {
      Row<float>(),
      Row<double>(),
      Row<float16, float>(),
      Row<bfloat16, float>(),
      Row<int8_t, uint8_t>(),
      Row<uint8_t>(),
      Row<int16_t, uint16_t>(),
      Row<uint16_t>(),
      Row<int32_t, uint32_t>(),
      Row<uint32_t>(),
      Row<int64_t, uint64_t>(),
      Row<uint64_t>(),
  };
  for (const ElementSum& row : rows) {
    if (row.type == type) return row;
  }
  CAFFE_THROW(
      "elements of type ", type.name(),
      " cannot be added, want float, double, float16, bfloat16, or integers of 8 to 64 bits");
}

}  // namespace caffe2rt
