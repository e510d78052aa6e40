#include "caffe2_core/io/record_order.h"

#include <numeric>
#include <random>
#include <utility>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

std::vector<int64_t> ShuffledOrder(int64_t count, uint32_t seed) {
  CAFFE_ENFORCE(count >= 0 && count <= int64_t{UINT32_MAX}, "cannot shuffle ", count,
                " records, want at most ", UINT32_MAX);
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  // The generator's numbers are fixed by the standard; its distributions are not.
  std::mt19937 generator(seed);
  for (size_t i = order.size(); i > 1; --i) {
    const uint64_t number = generator();
    std::swap(order[i - 1], order[static_cast<size_t>(number * i >> 32)]);
  }
  return order;
}

}  // namespace caffe2rt
