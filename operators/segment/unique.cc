#include "operators/segment/unique.h"

#include <algorithm>
#include <numeric>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

// The positions of the numbers, in ascending order of the numbers.
template <class T>
int64_t SortUnique(CPUContext&, int64_t n, const T* x, UniqueScratch<CPUContext>* scratch) {
  scratch->places.Resize(n);
  int32_t* const places = scratch->places.mutable_data<int32_t>();
  std::iota(places, places + n, 0);
  std::sort(places, places + n, [x](int32_t a, int32_t b) { return x[a] < x[b]; });
  int64_t count = 1;
  for (int64_t i = 1; i < n; ++i) count += x[places[i]] != x[places[i - 1]];
  return count;
}

template <class T>
void WriteUnique(CPUContext&, int64_t n, const T* x, UniqueScratch<CPUContext>* scratch, T* unique,
                 int32_t* remapping) {
  const int32_t* const places = scratch->places.data<int32_t>();
  int32_t rank = -1;
  for (int64_t i = 0; i < n; ++i) {
    const T value = x[places[i]];
    if (i == 0 || unique[rank] != value) unique[++rank] = value;
    if (remapping != nullptr) remapping[places[i]] = rank;
  }
}

namespace {

// The count is known for a vector of at most one number.
std::vector<TensorShape> InferUnique(const OperatorDef& def, const std::vector<TensorShape>& in) {
  std::vector<TensorShape> out = UnknownOutputs(def);
  if (!AreKnown(in, 1) || in[0].dims_size() != 1) return out;
  if (in[0].dims(0) <= 1) out[0] = in[0];
  if (out.size() > 1) out[1] = CreateTensorShape(GetDimsVector(in[0]), TensorProto::INT32);
  return out;
}

}  // namespace

void RegisterUnique() {
  RegisterSchema("Unique", __FILE__)
      .NumInputs(1)
      .NumOutputs(1, 2)
      .Input(0, "indices", "[n] int32 or int64")
      .Output(0, "unique_indices", "[k]: the distinct numbers in ascending order")
      .Output(1, "remapping", "(optional) [n] int32: the position of each number in unique_indices")
      .TensorInferenceFunction(InferUnique)
      .SetDoc("Finds the distinct numbers of a vector. On CUDA the host waits for their count.");
  RegisterCpuOperator<UniqueOp<CPUContext>>("Unique", __FILE__);
  // The input holds integers.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("Unique", __FILE__);
}

}  // namespace caffe2rt
