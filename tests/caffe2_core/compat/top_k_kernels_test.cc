// The kernels of top_k_heap_selection.cuh and top_k_radix_selection.cuh, compiled as C++. The
// expected values come from std::partial_sort.
#include <gtest/gtest.h>
#include <ucontext.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "caffe2/core/context_gpu.h"

// What nvcc would provide to the kernels. The threads of a block are contexts of one host thread, each
// with its own stack. A context that reaches a barrier lets the next one run.
namespace {

constexpr int kThreads = 64;  // of each block: two warps

struct Index {
  unsigned x = 0, y = 0;
};

struct BlockOfThreads {
  std::function<void()> kernel;
  ucontext_t caller;
  std::vector<ucontext_t> contexts = std::vector<ucontext_t>(kThreads);
  std::vector<std::vector<char>> stacks =
      std::vector<std::vector<char>>(kThreads, std::vector<char>(1 << 16));
  bool finished[kThreads] = {};
  bool votes[kThreads] = {};
  Index grid, block, thread;
};
BlockOfThreads* running = nullptr;

void SyncThreads() { swapcontext(&running->contexts[running->thread.x], &running->caller); }

// REQUIRES: all threads of the block call it.
unsigned Ballot(bool vote) {
  running->votes[running->thread.x] = vote;
  SyncThreads();
  unsigned votes = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (running->votes[running->thread.x / 32 * 32 + lane]) votes |= 1u << lane;
  }
  SyncThreads();
  return votes;
}

void RunThread() {
  running->kernel();
  running->finished[running->thread.x] = true;
}

// Runs the kernel in `blocks` blocks, one after the other.
void Launch(int blocks, std::function<void()> kernel) {
  for (int index = 0; index < blocks; ++index) {
    BlockOfThreads block;
    block.kernel = kernel;
    block.grid = {static_cast<unsigned>(blocks), 1};
    block.block = {static_cast<unsigned>(index), 0};
    running = &block;
    for (int i = 0; i < kThreads; ++i) {
      getcontext(&block.contexts[i]);
      block.contexts[i].uc_stack.ss_sp = block.stacks[i].data();
      block.contexts[i].uc_stack.ss_size = block.stacks[i].size();
      block.contexts[i].uc_link = &block.caller;
      makecontext(&block.contexts[i], &RunThread, 0);
    }
    // Each round runs every thread up to its next barrier.
    while (std::count(block.finished, block.finished + kThreads, false) > 0) {
      for (int i = 0; i < kThreads; ++i) {
        if (block.finished[i]) continue;
        block.thread.x = i;
        swapcontext(&block.caller, &block.contexts[i]);
      }
    }
    running = nullptr;
  }
}

}  // namespace

#undef __global__
#undef __device__
#undef __shared__
#define __global__
#define __device__
#define __shared__ static
#define threadIdx (running->thread)
#define blockIdx (running->block)
#define gridDim (running->grid)
#define blockDim (Index{kThreads, 1})
#define __syncthreads SyncThreads
#define __ballot_sync(mask, vote) Ballot(vote)
#define __popc(bits) std::popcount(static_cast<unsigned>(bits))
#define __float_as_uint(value) std::bit_cast<uint32_t>(value)
#define __double_as_longlong(value) std::bit_cast<int64_t>(value)
#define atomicAdd(address, value) __atomic_fetch_add(address, value, __ATOMIC_RELAXED)
#include "caffe2/operators/top_k_heap_selection.cuh"
#include "caffe2/operators/top_k_radix_selection.cuh"

namespace {

template <class T>
struct Selection {
  std::vector<T> values;
  std::vector<int64_t> indices;
  bool operator==(const Selection&) const = default;
};

// The k greatest (or least) elements of a row, best first; of equal ones, the first comes first.
template <class T>
Selection<T> SortedTopK(const std::vector<T>& row, int k, bool greatest) {
  std::vector<int64_t> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t a, int64_t b) {
    if (row[a] != row[b]) return greatest ? row[a] > row[b] : row[a] < row[b];
    return a < b;
  });
  order.resize(k);
  Selection<T> result{{}, order};
  for (const int64_t i : order) result.values.push_back(row[i]);
  return result;
}

// The same elements in the order of gatherTopK: those that equal the last one come after the others, and
// both groups are in the order of the row.
template <class T>
Selection<T> UnsortedTopK(const std::vector<T>& row, int k, bool greatest) {
  Selection<T> result = SortedTopK(row, k, greatest);
  const T last = result.values.back();
  std::sort(result.indices.begin(), result.indices.end(), [&](int64_t a, int64_t b) {
    return std::pair(row[a] == last, a) < std::pair(row[b] == last, b);
  });
  for (int i = 0; i < k; ++i) result.values[i] = row[result.indices[i]];
  return result;
}

template <class T>
std::vector<T> RandomRow(int size, int64_t least, int64_t greatest, std::mt19937* random) {
  std::uniform_int_distribution<int64_t> numbers(least, greatest);
  std::vector<T> row(size);
  for (T& x : row) x = static_cast<T>(numbers(*random)) / (std::is_integral_v<T> ? 1 : 4);
  return row;
}

template <class T>
Selection<T> Part(const std::vector<T>& values, const std::vector<int64_t>& indices, int row,
                  int k) {
  return {{values.begin() + row * k, values.begin() + (row + 1) * k},
          {indices.begin() + row * k, indices.begin() + (row + 1) * k}};
}

template <class T>
class TopKKernelsTest : public testing::Test {
 protected:
  // Two rows of `size` elements from [least, greatest].
  void FillRows(int size, int64_t least, int64_t greatest) {
    std::mt19937 random(7);
    rows_ = {RandomRow<T>(size, least, greatest, &random),
             RandomRow<T>(size, least, greatest, &random)};
    input_ = rows_[0];
    input_.insert(input_.end(), rows_[1].begin(), rows_[1].end());
  }

  template <bool kGreatest>
  void ExpectRadix(int k) {
    std::vector<T> values(2 * k);
    std::vector<int64_t> indices(2 * k, -1);
    const int64_t size = static_cast<int64_t>(rows_[0].size());
    Launch(2, [&] {
      caffe2::gatherTopK<T, kGreatest, int64_t>(input_.data(), size, k, 2, values.data(),
                                                indices.data());
    });
    for (int row = 0; row < 2; ++row) {
      EXPECT_EQ(Part(values, indices, row, k), UnsortedTopK(rows_[row], k, kGreatest))
          << "k = " << k << ", row " << row;
    }
  }
  template <bool kGreatest>
  void ExpectHeap(int k) {
    std::vector<T> values(2 * k);
    std::vector<int64_t> indices(2 * k, -1);
    const int size = static_cast<int>(rows_[0].size());
    Launch(2, [&] {
      caffe2::selectRowsViaHeap<T, int64_t, int64_t, kThreads, 16, kGreatest>(
          input_.data(), values.data(), indices.data(), T(0), -1, 2, size, k);
    });
    for (int row = 0; row < 2; ++row) {
      EXPECT_EQ(Part(values, indices, row, k), SortedTopK(rows_[row], k, kGreatest))
          << "k = " << k << ", row " << row;
    }
  }

  std::vector<std::vector<T>> rows_;
  std::vector<T> input_;
};

using Types = testing::Types<float, double, int, int64_t, uint8_t, int8_t>;
TYPED_TEST_SUITE(TopKKernelsTest, Types);

constexpr int64_t Least(bool is_signed) { return is_signed ? -100 : 0; }

TYPED_TEST(TopKKernelsTest, SelectsTheGreatestAndTheLeastOfRows) {
  this->FillRows(150, Least(std::is_signed_v<TypeParam>), 120);
  for (const int k : {1, 5, 150}) {
    this->template ExpectRadix<true>(k);
    this->template ExpectRadix<false>(k);
  }
  for (const int k : {1, 5}) {
    this->template ExpectHeap<true>(k);
    this->template ExpectHeap<false>(k);
  }
}

TYPED_TEST(TopKKernelsTest, SelectsTheFirstOfEqualElements) {
  this->FillRows(90, std::is_signed_v<TypeParam> ? -1 : 0, 1);
  this->template ExpectRadix<true>(40);
  this->template ExpectRadix<false>(40);
  this->template ExpectHeap<true>(7);
  this->template ExpectHeap<false>(7);
}

TEST(TopKKernelTest, FillsUpRowsOfFewerElements) {
  const std::vector<float> input = {2, 5, 3};
  std::vector<float> values(5);
  std::vector<int> indices(5);
  Launch(1, [&] {
    caffe2::selectRowsViaHeap<float, int, int, kThreads, 16, true>(
        input.data(), values.data(), indices.data(), -9.f, -1, 1, 3, 5);
  });
  EXPECT_EQ(values, (std::vector<float>{5, 3, 2, -9, -9}));
  EXPECT_EQ(indices, (std::vector<int>{1, 2, 0, -1, -1}));
}

TEST(TopKKernelTest, OrdersExtremeNumbers) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> input = {0.f, -infinity, 1e-40f, infinity, -1e30f, 3.f};
  std::vector<float> values(3);
  std::vector<int64_t> indices(3);
  Launch(1, [&] {
    caffe2::gatherTopK<float, false, int64_t>(input.data(), 6, 3, 1, values.data(), indices.data());
  });
  EXPECT_EQ(indices, (std::vector<int64_t>{1, 4, 0}));  // 0 is the third and comes last
}

}  // namespace
