#pragma once
// TopK: the k largest elements along one dimension, in descending order, equal ones by index.
//   X float, k (argument, or int64 input 1)  ->  values, indices int64, (optional) indices into the
//   flat X, int64 vector
//
// Where the dimension is shorter than k, values are filled up with 0 and indices with -1. Elements
// are compared with <, so a NaN that stands among the first k is not pushed out and one that comes
// later does not get in.

#include <algorithm>
#include <utility>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/runtime/operator.h"
#include "operators/select/axis_span.h"

namespace caffe2rt {

template <class Context>
class TopKOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  TopKOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        k_(this->template GetSingleArgument<int>("k", -1)),
        axis_(this->template GetSingleArgument<int>("axis", -1)) {
    CAFFE_ENFORCE(InputSize() == 2 || k_ >= 1, "argument k is ", k_, ", want at least 1");
    CAFFE_ENFORCE(this->OutputBlob(0) != this->OutputBlob(1) &&
                      (OutputSize() < 3 || (this->OutputBlob(0) != this->OutputBlob(2) &&
                                            this->OutputBlob(1) != this->OutputBlob(2))),
                  "two outputs have one name");
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const int64_t k = Count();
    const AxisSpan span = SpanOfAxis(X.sizes(), axis_);
    const float* x = X.template data<float>();
    dims_.assign(X.dims().begin(), X.dims().end());
    dims_[static_cast<size_t>(span.axis)] = k;
    float* values = this->template OutputData<float>(0, dims_);
    int64_t* indices = this->template OutputData<int64_t>(1, dims_);
    const int64_t total = Output(1)->numel();
    int64_t* flat = OutputSize() > 2 ? this->template OutputData<int64_t>(2, {total}) : nullptr;
    if (k > span.size) {
      std::fill(values, values + total, 0.0f);
      std::fill(indices, indices + total, -1);
      if (flat != nullptr) std::fill(flat, flat + total, -1);
    }
    if (X.numel() == 0) return true;
    for (int64_t i = 0; i < span.outer; ++i) {
      for (int64_t j = 0; j < span.inner; ++j) {
        const int64_t source = i * span.size * span.inner + j;
        const int64_t target = i * k * span.inner + j;
        Select(x + source, span, k);
        for (size_t rank = 0; rank < heap_.size(); ++rank) {
          const int64_t place = target + static_cast<int64_t>(rank) * span.inner;
          values[place] = heap_[rank].first;
          indices[place] = heap_[rank].second;
          if (flat != nullptr) flat[place] = source + heap_[rank].second * span.inner;
        }
      }
    }
    return true;
  }

 private:
  using Entry = std::pair<float, int64_t>;

  // Before: larger, or as large and earlier. A heap of this order has the weakest entry on top.
  static bool Before(const Entry& a, const Entry& b) {
    return a.first > b.first || (a.first == b.first && a.second < b.second);
  }

  int64_t Count() const {
    int64_t k = k_;
    if (k == -1 && InputSize() == 2) {
      const Tensor& wanted = Input(1);
      CAFFE_ENFORCE_GE(wanted.numel(), 1, "elements of input 1 (k)");
      k = *wanted.template data<int64_t>();
    }
    CAFFE_ENFORCE_GE(k, 1, "k");
    return k;
  }

  // Leaves the k best of `size` elements, `inner` apart, in heap_, best first.
  void Select(const float* x, const AxisSpan& span, int64_t k) {
    const int64_t first = std::min(k, span.size);
    heap_.clear();
    for (int64_t i = 0; i < first; ++i) heap_.emplace_back(x[i * span.inner], i);
    std::make_heap(heap_.begin(), heap_.end(), Before);
    float weakest = heap_.empty() ? 0.0f : heap_.front().first;
    for (int64_t i = first; i < span.size; ++i) {
      const float value = x[i * span.inner];
      if (!(weakest < value)) continue;
      std::pop_heap(heap_.begin(), heap_.end(), Before);
      heap_.back() = {value, i};
      std::push_heap(heap_.begin(), heap_.end(), Before);
      weakest = heap_.front().first;
    }
    // Popping one by one gives the order also where NaN leaves none; std::sort_heap does exactly
    // that.
    std::sort_heap(heap_.begin(), heap_.end(), Before);
  }

  const int k_;
  const int axis_;
  std::vector<int64_t> dims_;
  std::vector<Entry> heap_;
};

}  // namespace caffe2rt
