#include "operators/select/top_k.h"

#include <algorithm>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

using Entry = std::pair<float, int64_t>;

// Whether a ranks before b: it is larger, or equal with a lower index. A heap of this order has the
// weakest entry at the top.
bool Before(const Entry& a, const Entry& b) {
  return a.first > b.first || (a.first == b.first && a.second < b.second);
}

// Stores the k best of `size` elements, which are `inner` apart, in the heap, best first. The heap
// holds the best elements so far; an element enters only if it is larger than the weakest one, at
// the top. Costs O(size * log k) comparisons at most.
void SelectBest(const float* x, const AxisSpan& span, int64_t k, std::vector<Entry>* heap) {
  const int64_t first = std::min(k, span.size);
  heap->clear();
  for (int64_t i = 0; i < first; ++i) heap->emplace_back(x[i * span.inner], i);
  std::make_heap(heap->begin(), heap->end(), Before);
  float weakest = heap->empty() ? 0.0f : heap->front().first;
  for (int64_t i = first; i < span.size; ++i) {
    const float value = x[i * span.inner];
    if (!(weakest < value)) continue;
    std::pop_heap(heap->begin(), heap->end(), Before);
    heap->back() = {value, i};
    std::push_heap(heap->begin(), heap->end(), Before);
    weakest = heap->front().first;
  }
  // std::sort_heap pops one entry at a time, which defines the order also where NaN makes entries
  // incomparable.
  std::sort_heap(heap->begin(), heap->end(), Before);
}

std::vector<TensorShape> InferTopK(const OperatorDef& def, const std::vector<TensorShape>& in) {
  const ArgumentHelper args(def);
  const int k = args.Read(kTopK);
  // Without the argument, k is only known in a run.
  if (!AreKnown(in, 1) || (k == -1 && def.input_size() > 1)) return UnknownOutputs(def);
  CAFFE_ENFORCE_GE(k, 1, "argument k");
  std::vector<int64_t> dims = GetDimsVector(in[0]);
  const AxisSpan span = SpanOfAxis(dims, args.Read(kSelectAxis));
  dims[static_cast<size_t>(span.axis)] = k;
  std::vector<TensorShape> shapes = {CreateTensorShape(dims, in[0].data_type()),
                                     CreateTensorShape(dims, TensorProto_DataType_INT64)};
  if (def.output_size() > 2) {
    const std::vector<int64_t> flat = {CheckedProduct(dims)};
    shapes.push_back(CreateTensorShape(flat, TensorProto_DataType_INT64));
  }
  return shapes;
}

class GetTopKGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("TopKGradient", "", {GO(0), O(1), I(0)}, {GI(0)});
  }
};

}  // namespace

void FindTop(CPUContext&, const TopKTask& task, TopKScratch<CPUContext>* scratch) {
  const auto& [span, k, x, values, indices, flat] = task;
  const int64_t rows = span.outer * span.inner;
  if (k > span.size) {
    std::fill_n(values, rows * k, 0.0f);
    std::fill_n(indices, rows * k, -1);
    if (flat != nullptr) std::fill_n(flat, rows * k, -1);
  }
  if (rows * span.size == 0) return;
  std::vector<Entry>& heap = scratch->heap;
  for (int64_t i = 0; i < span.outer; ++i) {
    for (int64_t j = 0; j < span.inner; ++j) {
      const int64_t source = i * span.size * span.inner + j;
      const int64_t target = i * k * span.inner + j;
      SelectBest(x + source, span, k, &heap);
      for (size_t rank = 0; rank < heap.size(); ++rank) {
        const int64_t place = target + static_cast<int64_t>(rank) * span.inner;
        values[place] = heap[rank].first;
        indices[place] = heap[rank].second;
        if (flat != nullptr) flat[place] = source + heap[rank].second * span.inner;
      }
    }
  }
}

void ScatterTop(CPUContext&, const TopKGradientTask& task) {
  const auto& [span, k, dy, indices, dx] = task;
  int64_t place = 0;
  for (int64_t i = 0; i < span.outer; ++i) {
    for (int64_t rank = 0; rank < k; ++rank) {
      for (int64_t j = 0; j < span.inner; ++j, ++place) {
        const int64_t index = indices[place];
        if (index < 0) continue;
        CAFFE_ENFORCE_LT(index, span.size, "element ", place, " of input 1 (Indices)");
        dx[(i * span.size + index) * span.inner + j] = dy[place];
      }
    }
  }
}

void RegisterTopK() {
  RegisterSchema("TopK", __FILE__)
      .NumInputs(1, 2)
      .NumOutputs(2, 3)
      .Args(kTopK, kSelectAxis)
      .Input(0, "X", "float tensor of rank 1 or more")
      .Input(1, "k", "(optional) int64: the number of elements, used if the argument k is not set")
      .Output(
          0, "Values",
          "the largest elements in descending order: the shape of X with size k in the dimension")
      .Output(1, "Indices", "int64: their indices in the dimension")
      .Output(2, "Flattened indices", "(optional) int64 vector: their indices in the flattened X")
      .TensorInferenceFunction(InferTopK)
      .Traits({.family = OperatorFamily::kShape})
      .SetDoc(
          "Computes the k largest elements along a dimension, in descending order. Among equal "
          "elements, those with lower indices come first.");
  RegisterCpuOperator<TopKOp<CPUContext>>("TopK", __FILE__);
  RegisterGradient<GetTopKGradient>("TopK", __FILE__);

  RegisterSchema("TopKGradient", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Arg(kSelectAxis)
      .Input(0, "dY", "the gradient of the values")
      .Input(1, "Indices", "output 1 of TopK; negative indices are skipped")
      .Input(2, "X", "the input of TopK, for its shape")
      .Output(0, "dX", "the gradients of the values at their indices, 0 elsewhere")
      .TensorInferenceFunction(InferShapeAndType(2, 0))
      .SetDoc("Computes the gradient of TopK.");
  RegisterCpuOperator<TopKGradientOp<CPUContext>>("TopKGradient", __FILE__);
}

}  // namespace caffe2rt
