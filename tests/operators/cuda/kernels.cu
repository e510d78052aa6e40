#include <cmath>

#include "contexts/cuda/cuda_kernel.cuh"
#include "tests/operators/cuda/kernels.h"

namespace caffe2rt::test {
namespace {

struct IndexWriter {
  int64_t first;
  int64_t* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const { y[i - first] = i; }
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    int64_t* const to = y + (row.index() - first);
    const int64_t index = row.index();
    row.Once([=] { *to = index; });
  }
};

struct OneWriter {
  int64_t* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const { y[0] = i; }
};

struct FactFinder {
  int64_t cols;
  const float* x;
  RowFacts* y;
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const float* const in = x + row.index() * cols;
    RowFacts* const to = y + row.index();
    const auto value = [=](int64_t i) { return in[i]; };
    const float sum = row.Reduce(cols, 0.f, Plus(), value);
    const float largest = row.Reduce(cols, -INFINITY, Maximum(), value);
    const float smallest = row.Reduce(cols, INFINITY, Minimum(), value);
    row.Once([=] { *to = {sum, largest, smallest, to->once + 1}; });
  }
};

struct Place {
  double value;  // wider than the index's neighbours: 16 bytes move between lanes
  int64_t index;
};
struct FirstLargest {
  CAFFE2RT_HOST_DEVICE Place operator()(const Place& a, const Place& b) const {
    if (b.index < 0) return a;
    if (a.index < 0) return b;
    if (a.value != b.value) return a.value < b.value ? b : a;
    return b.index < a.index ? b : a;
  }
};
struct LargestFinder {
  int64_t cols;
  const float* x;
  int64_t* y;
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const float* const in = x + row.index() * cols;
    int64_t* const to = y + row.index();
    const Place largest = row.Reduce(cols, Place{0, -1}, FirstLargest(), [=](int64_t i) {
      return Place{in[i], i};
    });
    row.Once([=] { *to = largest.index; });
  }
};

struct RowReverser {
  int64_t cols;
  float* x;
  float* scratch;
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    float* const in = x + row.index() * cols;
    float* const copy = scratch + row.index() * cols;
    const int64_t last = cols - 1;
    row.ForEach(cols, [=](int64_t i) { copy[i] = in[i]; });
    row.Sync();
    row.ForEach(cols, [=](int64_t i) { in[i] = copy[last - i]; });
  }
};

template <class F>
void Launch(CUDAContext& context, bool warps, int64_t rows, int64_t cols, const F& f,
            const char* name) {
  if (warps) {
    ForEachRowOf(context, cols, rows, f, name);
  } else {
    ForEachRow(context, rows, f, name);
  }
}

}  // namespace

void WriteIndices(CUDAContext& context, int64_t first, int64_t n, int64_t* y) {
  ForEach(context, n, IndexWriter{first, y}, "WriteIndices", first);
}
void WriteToOne(CUDAContext& context, int64_t n, int64_t* y) {
  ForEach(context, n, OneWriter{y}, "WriteToOne");
}
void WriteRows(CUDAContext& context, int64_t first, int64_t rows, int64_t* y) {
  ForEachRow(context, rows, IndexWriter{first, y}, "WriteRows", first);
}
void FindRowFacts(CUDAContext& context, bool warps, int64_t rows, int64_t cols, const float* x,
                  RowFacts* y) {
  Launch(context, warps, rows, cols, FactFinder{cols, x, y}, "FindRowFacts");
}
void FindLargest(CUDAContext& context, bool warps, int64_t rows, int64_t cols, const float* x,
                 int64_t* y) {
  Launch(context, warps, rows, cols, LargestFinder{cols, x, y}, "FindLargest");
}
void ReverseRows(CUDAContext& context, bool warps, int64_t rows, int64_t cols, float* x,
                 float* scratch) {
  Launch(context, warps, rows, cols, RowReverser{cols, x, scratch}, "ReverseRows");
}

}  // namespace caffe2rt::test
