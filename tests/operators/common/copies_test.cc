// Copies with strides, by tables and of rows: each element size, empty loops, and work that is divided.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "caffe2_core/base/thread_pool.h"
#include "operators/common/copy_rows.h"
#include "operators/common/strided_copy.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::copies_test {
namespace {

template <class T>
std::vector<T> Count(size_t n, int first = 0) {
  std::vector<T> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = static_cast<T>(first + static_cast<int>(i));
  return values;
}
template <>
std::vector<std::string> Count(size_t n, int first) {
  std::vector<std::string> values;
  for (size_t i = 0; i < n; ++i) values.push_back(std::to_string(first + static_cast<int>(i)));
  return values;
}

template <class T>
class CopiesTest : public testing::Test {};
using Elements = testing::Types<uint8_t, int16_t, float, double, std::string>;
TYPED_TEST_SUITE(CopiesTest, Elements);

// Every other row of [4, 3], backwards.
TYPED_TEST(CopiesTest, FollowStrides) {
  using T = TypeParam;
  const std::vector<T> x = Count<T>(12);
  std::vector<T> y(6);
  StridedCopy rows;
  rows.Add(2, -6, 3);
  rows.Add(3, 1, 1);
  rows.Run(TypeMeta::Make<T>(), x.data() + 9, y.data());
  EXPECT_EQ(y, (std::vector<T>{x[9], x[10], x[11], x[3], x[4], x[5]}));
  StridedCopy columns;  // transposed: no run of neighbours
  columns.Add(3, 1, 4);
  columns.Add(1, 99, 99);
  columns.Add(4, 3, 1);
  std::vector<T> z(12);
  columns.Run(TypeMeta::Make<T>(), x.data(), z.data());
  EXPECT_EQ(z, (std::vector<T>{x[0], x[3], x[6], x[9], x[1], x[4], x[7], x[10], x[2], x[5], x[8],
                               x[11]}));
  StridedCopy repeated;
  repeated.Add(2, 1, 3);
  repeated.Add(3, 0, 1);
  repeated.Run(TypeMeta::Make<T>(), x.data() + 4, y.data());
  EXPECT_EQ(y, (std::vector<T>{x[4], x[4], x[4], x[5], x[5], x[5]}));
  StridedCopy one;
  one.Run(TypeMeta::Make<T>(), x.data() + 7, y.data());
  EXPECT_EQ(y[0], x[7]);
  EXPECT_EQ(y[1], x[4]);
  StridedCopy nothing;
  nothing.Add(3, 1, 1);
  nothing.Add(0, 1, 1);
  nothing.Run(TypeMeta::Make<T>(), nullptr, nullptr);
  StridedCopy empty_rows;  // are not visited one by one
  empty_rows.Add(int64_t{1} << 40, 1, 1);
  empty_rows.Add(0, 1, 1);
  empty_rows.Add(1, 1, 1);
  empty_rows.Run(TypeMeta::Make<T>(), nullptr, nullptr);
}

struct CopiedLoop {
  int64_t size, src, dst;
};

// The loops one in another, from element `from` of x on.
template <class T>
void CopyOneByOne(const std::vector<CopiedLoop>& loops, size_t depth, const T* from, T* to) {
  if (depth == loops.size()) {
    *to = *from;
    return;
  }
  for (int64_t i = 0; i < loops[depth].size; ++i)
    CopyOneByOne(loops, depth + 1, from + i * loops[depth].src, to + i * loops[depth].dst);
}

// Loops that continue each other in one array only, or in both, and those that repeat an element.
TYPED_TEST(CopiesTest, JoinOnlyLoopsThatContinueEachOtherInBothArrays) {
  using T = TypeParam;
  const std::vector<std::vector<CopiedLoop>> nests = {
      {{2, 3, 3}, {3, 1, 1}},
      {{2, 3, 6}, {3, 1, 1}},
      {{2, 6, 3}, {3, 1, 1}},
      {{2, 0, 3}, {3, 0, 1}},
      {{2, 0, 6}, {3, 0, 1}},
      {{2, 0, 3}, {3, 1, 1}},
      {{2, 3, 3}, {3, 0, 1}},
      {{2, -3, 3}, {3, -1, 1}},
      {{2, 3, 3}, {3, -1, 1}},
      {{2, 1, 12}, {3, 0, 4}, {2, 0, 2}},
      {{2, 1, 12}, {3, 0, 4}, {2, 0, 1}},
      {{2, 0, 12}, {3, 0, 4}, {4, 1, 1}},
      {{2, 6, 12}, {3, 2, 4}, {2, 1, 2}},
      {{2, 6, 6}, {1, 5, 7}, {3, 2, 2}, {2, 1, 1}},
      {{2, 6, 8}, {3, 2, 2}, {2, 1, 1}},
      {{3, 4, 8}, {2, 2, 2}, {1, 0, 0}, {2, 1, 1}},
      {{4, 1, 5}},
      {{4, 0, 5}},
      {{4, 5, 1}},
  };
  const std::vector<T> x = Count<T>(40), before = Count<T>(40, 100);
  for (size_t n = 0; n < nests.size(); ++n) {
    SCOPED_TRACE(n);
    StridedCopy copy;
    for (const CopiedLoop& loop : nests[n]) copy.Add(loop.size, loop.src, loop.dst);
    std::vector<T> got = before, want = before;
    copy.Run(TypeMeta::Make<T>(), x.data() + 10, got.data());
    CopyOneByOne(nests[n], 0, x.data() + 10, want.data());
    EXPECT_EQ(got, want);
  }
}

TYPED_TEST(CopiesTest, FollowTables) {
  using T = TypeParam;
  const std::vector<T> x = Count<T>(12);  // [4, 3]
  const std::vector<int64_t> rows = {9, 0, 0}, columns = {2, 0}, all = {0, 1, 2};
  const TypeMeta type = TypeMeta::Make<T>();
  std::vector<T> y(6), z(9);
  const int64_t* const some[] = {rows.data(), columns.data()};
  CopyByTables(type, std::vector<int64_t>{3, 2}, some, x.data(), y.data());
  EXPECT_EQ(y, (std::vector<T>{x[11], x[9], x[2], x[0], x[2], x[0]}));
  const int64_t* const blocks[] = {rows.data(), all.data()};  // whole rows
  CopyByTables(type, std::vector<int64_t>{3, 3}, blocks, x.data(), z.data());
  EXPECT_EQ(z, (std::vector<T>{x[9], x[10], x[11], x[0], x[1], x[2], x[0], x[1], x[2]}));
  const int64_t* const whole[] = {all.data()};  // one block
  CopyByTables(type, std::vector<int64_t>{3}, whole, x.data() + 4, z.data());
  EXPECT_EQ(std::vector<T>(z.begin(), z.begin() + 3), (std::vector<T>{x[4], x[5], x[6]}));
  CopyByTables(type, std::vector<int64_t>{}, nullptr, x.data() + 5, z.data());
  EXPECT_EQ(z[0], x[5]);
  EXPECT_EQ(z[1], x[5]);
  CopyByTables(type, std::vector<int64_t>{3, 0}, some, x.data(), nullptr);
  // Three dimensions, of which the first two have offsets of their own.
  const std::vector<int64_t> outer = {6, 0}, middle = {3, 0};
  const int64_t* const three[] = {outer.data(), middle.data(), all.data()};
  std::vector<T> w(8);
  CopyByTables(type, std::vector<int64_t>{2, 2, 2}, three, x.data(), w.data());
  EXPECT_EQ(w, (std::vector<T>{x[9], x[10], x[6], x[7], x[3], x[4], x[0], x[1]}));
}

TYPED_TEST(CopiesTest, FillWithAnElement) {
  using T = TypeParam;
  const std::vector<T> x = Count<T>(3);
  std::vector<T> y = Count<T>(5, 40);
  FillWith(TypeMeta::Make<T>(), 3, &x[2], y.data() + 1);
  EXPECT_EQ(y, (std::vector<T>{Count<T>(5, 40)[0], x[2], x[2], x[2], Count<T>(5, 40)[4]}));
  FillWith(TypeMeta::Make<T>(), 0, &x[2], nullptr);
}

// Rows of one item, of several, and one row; with gaps in the source, in the result, and without gaps.
TYPED_TEST(CopiesTest, MoveRows) {
  using T = TypeParam;
  CPUContext context;
  const std::vector<T> x = Count<T>(12), blank = Count<T>(8, 50);
  const TypeMeta type = TypeMeta::Make<T>();
  std::vector<T> y = blank;
  CopyRows(context, type, 3, 1, x.data(), 4, y.data(), 2);
  EXPECT_EQ(y,
            (std::vector<T>{x[0], blank[1], x[4], blank[3], x[8], blank[5], blank[6], blank[7]}));
  y = blank;
  CopyRows(context, type, 2, 3, x.data() + 1, 5, y.data(), 4);
  EXPECT_EQ(y, (std::vector<T>{x[1], x[2], x[3], blank[3], x[6], x[7], x[8], blank[7]}));
  y = blank;
  CopyRows(context, type, 2, 3, x.data(), 3, y.data(), 3);
  EXPECT_EQ(y, (std::vector<T>{x[0], x[1], x[2], x[3], x[4], x[5], blank[6], blank[7]}));
  y = blank;
  CopyRows(context, type, 1, 3, x.data(), 9, y.data(), 7);
  EXPECT_EQ(y,
            (std::vector<T>{x[0], x[1], x[2], blank[3], blank[4], blank[5], blank[6], blank[7]}));
  CopyRows(context, type, 0, 3, nullptr, 3, nullptr, 3);
  CopyRows(context, type, 3, 0, nullptr, 3, nullptr, 3);
  y = blank;
  CopyRow(context, type, 2, x.data() + 3, y.data() + 1);
  EXPECT_EQ(y[0], blank[0]);
  EXPECT_EQ(y[1], x[3]);
  EXPECT_EQ(y[2], x[4]);
  EXPECT_EQ(y[3], blank[3]);
  EXPECT_EQ(ItemAt(x.data(), type, 5), static_cast<const void*>(x.data() + 5));
  EXPECT_EQ(ItemAt(x.data(), type, 0), static_cast<const void*>(x.data()));
}

// Sizes that are no multiple of a word, divided among threads.
TEST(CopiesThreadTest, MoveLongRowsOnThreads) {
  CPUContext context;
  for (const int threads : {1, 3}) {
    SetNumThreads(threads);
    for (const int64_t bytes : {int64_t{3}, int64_t{200003}}) {
      std::vector<uint8_t> x(static_cast<size_t>(2 * bytes + 7)), y(x.size() + 1, 255);
      for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i % 251);
      CopyRows(context, TypeMeta::Make<uint8_t>(), 1, bytes, x.data(), bytes + 1, y.data(),
               bytes + 2);
      EXPECT_TRUE(std::equal(y.begin(), y.begin() + bytes, x.begin()));
      EXPECT_EQ(y[static_cast<size_t>(bytes)], 255);
      CopyRows(context, TypeMeta::Make<uint8_t>(), 2, bytes, x.data(), bytes + 1, y.data(),
               bytes + 2);
      EXPECT_TRUE(std::equal(y.begin(), y.begin() + bytes, x.begin()));
      EXPECT_TRUE(
          std::equal(y.begin() + bytes + 2, y.begin() + 2 * bytes + 2, x.begin() + bytes + 1));
      EXPECT_EQ(y[static_cast<size_t>(bytes)], 255);
      FillZeros(context, static_cast<size_t>(bytes), y.data());
      EXPECT_EQ(y[0], 0);
      EXPECT_EQ(y[static_cast<size_t>(bytes - 1)], 0);
      EXPECT_EQ(y[static_cast<size_t>(bytes)], 255);
    }
    StridedCopy transposed;  // [401, 203]
    transposed.Add(203, 1, 401);
    transposed.Add(401, 203, 1);
    std::vector<int32_t> a(401 * 203), b(a.size());
    std::iota(a.begin(), a.end(), 0);
    transposed.Run(TypeMeta::Make<int32_t>(), a.data(), b.data());
    for (size_t i = 0; i < b.size(); ++i)
      ASSERT_EQ(b[i], static_cast<int32_t>(i % 401 * 203 + i / 401)) << i;
  }
  SetNumThreads(1);
  FillZeros(context, 0, nullptr);
}

TEST(CopyReshapedTest, ChangesTheShapeAloneInPlace) {
  CPUContext context;
  Tensor x(CPU), y(CPU);
  x.Resize(2, 3);
  for (int i = 0; i < 6; ++i) x.mutable_data<int32_t>()[i] = i;
  CopyReshaped(context, x, std::vector<int64_t>{3, 2}, &y);
  EXPECT_EQ(y.dims(), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(y.data<int32_t>()[5], 5);
  EXPECT_NE(y.raw_data(), x.raw_data());
  const void* const memory = x.raw_data();
  CopyReshaped(context, x, std::vector<int64_t>{6}, &x);
  EXPECT_EQ(x.dims(), std::vector<int64_t>{6});
  EXPECT_EQ(x.raw_data(), memory);
  Tensor none(CPU);
  none.Resize(0, 2);
  EXPECT_EQ(OutputMemory(&none, TypeMeta()), nullptr);
}

struct Wide {
  double parts[2];
};

TEST(CopiesRejectionTest, NamesElementsThatItDoesNotMove) {
  ExpectRefusals({
      {[] {
         const Wide x = {{1, 2}};
         Wide y;
         FillWith(TypeMeta::Make<Wide>(), 1, &x, &y);
       },
       "the tensor has elements of type " + std::string(TypeMeta::Make<Wide>().name()) +
           ", which this operator does not support"},
      {[] {
         StridedCopy copy;
         for (int i = 0; i < 65; ++i) copy.Add(2, 3, 3);
       },
       "loops of a copy: got 64, want less than 64"},
  });
}

TEST(ForEachRowOfTest, BeginsAtAnyRow) {
  const std::vector<int64_t> sizes = {2, 3, 2};
  std::vector<std::vector<int64_t>> seen;
  ForEachRowOf(sizes, 4, 8, [&](int64_t row, const int64_t* index) {
    seen.push_back({row, index[0], index[1], index[2]});
  });
  EXPECT_EQ(seen, (std::vector<std::vector<int64_t>>{
                      {4, 0, 2, 0}, {5, 0, 2, 1}, {6, 1, 0, 0}, {7, 1, 0, 1}}));
  int calls = 0;
  ForEachRowOf(std::vector<int64_t>{}, 0, 1, [&](int64_t, const int64_t*) { ++calls; });
  ForEachRowOf(sizes, 5, 5, [&](int64_t, const int64_t*) { ++calls; });
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace caffe2rt::test::copies_test
