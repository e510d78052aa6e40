// TopK on CUDA: top_k_cuda.cc chooses between search and sort. Rows with NaN use a heap, so that
// the result is the same as on the CPU.

#include "contexts/cuda/cuda_kernel.cuh"
#include "contexts/cuda/cuda_report.h"
#include "operators/select/top_heap.h"
#include "operators/select/top_k_kernels.h"

namespace caffe2rt {

namespace {

// Returns the better of two entries; index -1 means none.
struct BetterEntry {
  CAFFE2RT_HOST_DEVICE TopEntry operator()(const TopEntry& a, const TopEntry& b) const {
    if (a.index < 0) return b;
    if (b.index < 0) return a;
    return StandsBefore(b, a) ? b : a;
  }
};

// One row of a task on the device: its input and its outputs.
struct TopRow {
  TopKTask task;
  int64_t source, target;  // offsets of the first element and the first result

  CAFFE2RT_HOST_DEVICE TopRow(const TopKTask& t, int64_t row) : task(t) {
    const int64_t outer = row / task.span.inner, inner = row % task.span.inner;
    source = outer * task.span.size * task.span.inner + inner;
    target = outer * task.k * task.span.inner + inner;
  }
  CAFFE2RT_HOST_DEVICE float At(int64_t i) const { return task.x[source + i * task.span.inner]; }
  CAFFE2RT_HOST_DEVICE void Write(int64_t rank, float value, int64_t index) const {
    const int64_t place = target + rank * task.span.inner;
    task.values[place] = value;
    task.indices[place] = index;
    if (task.flat != nullptr) task.flat[place] = index < 0 ? -1 : source + index * task.span.inner;
  }
  // Called by one thread.
  CAFFE2RT_HOST_DEVICE void SelectByHeap() const {
    const int64_t inner = task.span.inner;
    const TopHeap heap{task.values + target, task.indices + target, inner};
    heap.Select(task.x + source, task.span.size, inner, task.k);
    if (task.flat == nullptr) return;
    for (int64_t rank = 0; rank < task.k && rank < task.span.size; ++rank) {
      task.flat[target + rank * inner] = source + heap.Get(rank).index * inner;
    }
  }
  CAFFE2RT_HOST_DEVICE bool HasNaN(const Row& row) const {
    return row.Reduce(task.span.size, 0, Maximum(), [=, this](int64_t i) {
      const float value = At(i);
      return value == value ? 0 : 1;
    }) != 0;
  }
};

// Fills the results after the last element of the row.
CAFFE2RT_HOST_DEVICE void FillUp(const Row& row, const TopRow& top) {
  const int64_t found = top.task.span.size;
  row.ForEach(top.task.k - found, [=](int64_t i) { top.Write(found + i, 0.0f, -1); });
}

struct FindOneByOne {
  TopKTask task;
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const TopRow top(task, row.index());
    if (top.HasNaN(row)) {
      row.Once([=] { top.SelectByHeap(); });
    } else {
      TopEntry previous{0.0f, -1};
      for (int64_t rank = 0; rank < task.k && rank < task.span.size; ++rank) {
        previous = row.Reduce(task.span.size, TopEntry{0.0f, -1}, BetterEntry(), [=](int64_t i) {
          const TopEntry entry{top.At(i), i};
          return previous.index < 0 || StandsBefore(previous, entry) ? entry : TopEntry{0.0f, -1};
        });
        row.Once([=] { top.Write(rank, previous.value, previous.index); });
      }
    }
    FillUp(row, top);
  }
};

// Writes the rows one after the other, with the index of each element in its row, ready to be
// sorted.
struct MakeKeys {
  TopKTask task;
  float* keys;
  int32_t* places;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t size = task.span.size;
    const int64_t place = i % size;
    const float value = TopRow(task, i / size).At(place);
    // The keys of rows with NaN are not used. -0 becomes 0.
    keys[i] = value == value ? value + 0.0f : 0.0f;
    places[i] = static_cast<int32_t>(place);
  }
};

struct TakeSorted {
  TopKTask task;
  const int32_t* places;
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const TopRow top(task, row.index());
    const int64_t size = task.span.size;
    if (top.HasNaN(row)) {
      row.Once([=] { top.SelectByHeap(); });
    } else {
      row.ForEach(task.k < size ? task.k : size, [=, this](int64_t rank) {
        const int64_t index = places[row.index() * size + rank];
        top.Write(rank, top.At(index), index);
      });
    }
    FillUp(row, top);
  }
};

// A thread writes one value.
struct ScatterValues {
  TopKGradientTask task;
  KernelReport* report;
  ReportText text;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t inner = task.span.inner, size = task.span.size;
    const int64_t index = task.indices[i];
    if (index < 0) return;
    if (index >= size) {
      report->Raise(text, index, size);
      return;
    }
    const int64_t outer = i / inner / task.k;
    task.dx[(outer * size + index) * inner + i % inner] = task.dy[i];
  }
};

}  // namespace

void FindTopOneByOne(CUDAContext& context, const TopKTask& task) {
  ForEachRow(context, task.span.outer * task.span.inner, FindOneByOne{task}, "TopK");
}

void MakeTopKeys(CUDAContext& context, const TopKTask& task, float* keys, int32_t* places) {
  const int64_t n = task.span.outer * task.span.inner * task.span.size;
  ForEach(context, n, MakeKeys{task, keys, places}, "TopK");
}

void TakeSortedTop(CUDAContext& context, const TopKTask& task, const int32_t* places) {
  ForEachRow(context, task.span.outer * task.span.inner, TakeSorted{task, places}, "TopK");
}

void ScatterTop(CUDAContext& context, const TopKGradientTask& task) {
  const ScatterValues scatter{task, ReportOf(context),
                              "an element of input 1 (Indices) is %, want less than %"};
  ForEach(context, task.span.outer * task.k * task.span.inner, scatter, "TopKGradient");
}

}  // namespace caffe2rt
