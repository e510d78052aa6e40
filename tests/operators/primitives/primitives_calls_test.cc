// Whole messages, rounding of sizes, and how work is cut into pieces.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "contexts/onednn/onednn_version.h"
#include "operators/primitives/gemm.h"
#include "operators/primitives/onednn_pieces.h"
#include "operators/primitives/packed_gemm.h"
#include "operators/primitives/random.h"
#include "operators/primitives/reduced_gemm.h"
#include "operators/primitives/scratch.h"
#include "operators/primitives/transpose.h"
#include "operators/primitives/wrapping.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::primitives_calls_test {
namespace {

using Element = dnnl::memory::data_type;

TEST(SgemmRefusalsTest, NameSizesAndRowDistances) {
  const auto run = [](bool ta, bool tb, int64_t m, int64_t n, int64_t k, int64_t lda, int64_t ldb,
                      int64_t ldc) {
    static float a[64] = {}, b[64] = {}, c[64] = {};
    Sgemm(ta, tb, m, n, k, 1.f, a, lda, b, ldb, 0.f, c, ldc);
  };
  const auto sizes = [](const char* text) {
    return std::string("matrix multiplication of sizes ") + text + ", want at least 0";
  };
  const auto rows = [](const char* distances) {
    return std::string("matrix multiplication with row distances ") + distances +
           " for sizes 2, 3, 4, want at least a row";
  };
  ExpectRefusals({
      {[&] { run(false, false, -1, 3, 4, 4, 3, 3); }, sizes("-1, 3, 4")},
      {[&] { run(false, false, 2, -1, 4, 4, 3, 3); }, sizes("2, -1, 4")},
      {[&] { run(false, false, 2, 3, -1, 4, 3, 3); }, sizes("2, 3, -1")},
      {[&] { run(false, false, 2, 3, 4, 3, 3, 3); }, rows("3, 3, 3")},
      {[&] { run(true, false, 2, 3, 4, 1, 3, 3); }, rows("1, 3, 3")},
      {[&] { run(false, false, 2, 3, 4, 4, 2, 3); }, rows("4, 2, 3")},
      {[&] { run(false, true, 2, 3, 4, 4, 3, 3); }, rows("4, 3, 3")},
      {[&] { run(false, false, 2, 3, 4, 4, 3, 2); }, rows("4, 3, 2")},
      {[] { ReducedGemm(ReducedKernel::kWordsPlain, 65537, 2); },
       "a matrix of 65537 x 2 cannot be packed as words, want at most 65536 rows of bytes"},
      {[] { ReducedGemm(ReducedKernel::kWordsAvx2, -1, 2); },
       "a matrix of -1 x 2 cannot be packed as words_avx2, want at most 65536 rows of bytes"},
      {[] { ReducedGemm(ReducedKernel::kBf16, 1, -2); },
       "a matrix of 1 x -2 cannot be packed as bf16, want at most 65536 rows of bytes"},
  });
  // The least distances are accepted, and no distance matters where nothing is computed.
  run(true, true, 2, 3, 4, 2, 4, 3);
  run(false, false, 2, 0, 4, 0, 0, 0);
  run(false, false, 0, 3, 4, 0, 0, 0);
  EXPECT_EQ(ReducedGemm(ReducedKernel::kWordsPlain, 65536, 2).k(), 65536);
  EXPECT_EQ(ReducedGemm(ReducedKernel::kWordsPlain, 3, 2).n(), 2);
  EXPECT_EQ(ReducedGemm(ReducedKernel::kWordsPlain, 3, 2).nbytes() % 64, 0u);
  EXPECT_STREQ(ReducedKernelName(ReducedKernel::kVnni), "vnni");
  EXPECT_STREQ(ReducedKernelName(ReducedKernel::kWordsAvx512), "words_avx512");
}

TEST(GemmCallsTest, AddsAndFillsRows) {
  float y[] = {1, 2, 3, 4, 5, 6, 7};
  const float x[] = {10, 20, 30};
  AddRowVector(2, 3, x, y);
  EXPECT_EQ(std::vector<float>(y, y + 7), (std::vector<float>{11, 22, 33, 14, 25, 36, 7}));
  FillRowVector(2, 3, x, y);
  EXPECT_EQ(std::vector<float>(y, y + 7), (std::vector<float>{10, 20, 30, 10, 20, 30, 7}));
  FillRowVector(2, 0, nullptr, nullptr);
  AddRowVector(0, 3, x, y);
  EXPECT_EQ(y[0], 10);
  // alpha 0 does not read A and B.
  const float nan = NAN;
  float c = 3;
  Sgemm(false, false, 1, 1, 1, 0.f, &nan, 1, &nan, 1, 2.f, &c, 1);
  EXPECT_EQ(c, 6);
  PrepareSgemm(1, 9, 9);
  PrepareSgemm(64, 64, 0);
  PrepareSgemm(64, 64, 64);
}

TEST(ScratchCallsTest, RoundsFloatsUpToCacheLines) {
  for (const auto& [count, want] :
       std::vector<std::pair<int64_t, int64_t>>{{0, 0}, {1, 16}, {16, 16}, {17, 32}, {32, 32}}) {
    EXPECT_EQ(AlignedFloats(count), want);
  }
  const auto floats = [](const dnnl::memory::dims& dims, Element element) {
    return FloatsOf(DescIn(OnednnFormat::kNchw, dims, element));
  };
  EXPECT_EQ(floats({1, 3, 1, 1}, Element::f32), 16);
  EXPECT_EQ(floats({1, 64, 1, 1}, Element::u8), 16);
  EXPECT_EQ(floats({1, 65, 1, 1}, Element::u8), 32);
  EXPECT_EQ(floats({1, 33, 1, 1}, Element::bf16), 32);
}

std::vector<std::pair<int64_t, int64_t>> Pairs(const std::vector<IndexRange>& ranges) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (const IndexRange& range : ranges) pairs.emplace_back(range.first, range.last);
  return pairs;
}
using PairList = std::vector<std::pair<int64_t, int64_t>>;

TEST(SplitRangeTest, DividesWholeUnitsEvenly) {
  EXPECT_EQ(Pairs(SplitRange(10, 3)), (PairList{{0, 3}, {3, 6}, {6, 10}}));
  EXPECT_EQ(Pairs(SplitRange(10, 3, 4)), (PairList{{0, 4}, {4, 8}, {8, 10}}));
  EXPECT_EQ(Pairs(SplitRange(40, 2, 16)), (PairList{{0, 16}, {16, 40}}));
  EXPECT_EQ(Pairs(SplitRange(2, 5)), (PairList{{0, 1}, {1, 2}}));
  EXPECT_EQ(Pairs(SplitRange(5, 0)), (PairList{{0, 5}}));
  EXPECT_EQ(Pairs(SplitRange(5, -3)), (PairList{{0, 5}}));
  EXPECT_TRUE(SplitRange(0, 3).empty());
  EXPECT_EQ((IndexRange{3, 7}.size()), 4);
}

TEST(ChooseCutTest, FollowsTheLayoutAndTheNumberOfElements) {
  const auto cut = [](OnednnFormat format, const dnnl::memory::dims& dims, int threads = 2,
                      int64_t least = 16384) {
    return ChooseCut(DescIn(format, dims, Element::f32), threads, least);
  };
  const OnednnFormat nchw = OnednnFormat::kNchw, nhwc = OnednnFormat::kNhwc,
                     blocked = OnednnFormat::kBlocked16;
  EXPECT_EQ(cut(nchw, {1, 16, 32, 32}), OnednnCut::kChannels);
  EXPECT_EQ(cut(nchw, {1, 16, 32, 31}), OnednnCut::kWhole);
  EXPECT_EQ(cut(nchw, {1, 16, 32, 31}, 2, 15872), OnednnCut::kChannels);
  EXPECT_EQ(cut(nchw, {1, 16, 32, 32}, 1), OnednnCut::kWhole);
  EXPECT_EQ(cut(blocked, {1, 32, 32, 32}), OnednnCut::kChannels);
  EXPECT_EQ(cut(nhwc, {1, 16, 32, 32}), OnednnCut::kRows);
  EXPECT_EQ(cut(nhwc, {1, 16, 1, 1024}), OnednnCut::kWhole);
  EXPECT_EQ(cut(nhwc, {2, 16, 1, 1024}), OnednnCut::kImages);
  EXPECT_EQ(cut(blocked, {2, 16, 32, 32}), OnednnCut::kImages);
}

TEST(CutRangesTest, CountsImagesRowsOrChannels) {
  const auto ranges = [](OnednnFormat format, OnednnCut cut) {
    return Pairs(CutRanges(DescIn(format, {5, 40, 6, 7}, Element::f32), cut, 2));
  };
  EXPECT_EQ(ranges(OnednnFormat::kNchw, OnednnCut::kImages), (PairList{{0, 2}, {2, 5}}));
  EXPECT_EQ(ranges(OnednnFormat::kNhwc, OnednnCut::kRows), (PairList{{0, 3}, {3, 6}}));
  EXPECT_EQ(ranges(OnednnFormat::kNchw, OnednnCut::kChannels), (PairList{{0, 20}, {20, 40}}));
  EXPECT_EQ(ranges(OnednnFormat::kBlocked16, OnednnCut::kChannels), (PairList{{0, 16}, {16, 40}}));
  EXPECT_EQ(ranges(OnednnFormat::kNchw, OnednnCut::kWhole), (PairList{{0, 5}}));
}

TEST(PartOfTest, KeepsTheOtherDims) {
  const dnnl::memory::desc nchw = DescIn(OnednnFormat::kNchw, {3, 4, 5, 6}, Element::f32);
  const dnnl::memory::desc one = DescIn(OnednnFormat::kNchw, {1, 4, 5, 6}, Element::f32);
  const dnnl::memory::desc nhwc = DescIn(OnednnFormat::kNhwc, {2, 4, 5, 6}, Element::f32);
  const OnednnPart whole = PartOf(nchw, OnednnCut::kWhole, {1, 2});
  EXPECT_EQ(caffe2rt::DimsOf(whole.desc), (dnnl::memory::dims{3, 4, 5, 6}));
  EXPECT_EQ(whole.offset_bytes, 0u);
  const OnednnPart images = PartOf(nchw, OnednnCut::kImages, {1, 3});
  EXPECT_EQ(caffe2rt::DimsOf(images.desc), (dnnl::memory::dims{2, 4, 5, 6}));
  EXPECT_EQ(images.offset_bytes, 4u * 5 * 6 * 4);
  const OnednnPart channels = PartOf(one, OnednnCut::kChannels, {1, 3});
  EXPECT_EQ(caffe2rt::DimsOf(channels.desc), (dnnl::memory::dims{1, 2, 5, 6}));
  EXPECT_EQ(channels.offset_bytes, 5u * 6 * 4);
  const OnednnPart rows = RowsOf(nhwc, {2, 5}, 1);
  EXPECT_EQ(caffe2rt::DimsOf(rows.desc), (dnnl::memory::dims{1, 4, 3, 6}));
  EXPECT_EQ(rows.offset_bytes, (5u + 2) * 6 * 4 * 4);
  const OnednnPart pixels = PixelsOf(nhwc, {7, 9}, 1);
  EXPECT_EQ(caffe2rt::DimsOf(pixels.desc), (dnnl::memory::dims{1, 4, 1, 2}));
  EXPECT_EQ(pixels.offset_bytes, (5u * 6 + 7) * 4 * 4);
  const dnnl::memory::desc odd({1, 16, 2, 2}, Element::f32, dnnl::memory::format_tag::nChw8c);
  ExpectRefusals({{[&] {
                     ImagesOf(odd, {0, 1});
                   },
                   "only dense tensors can be cut into pieces"},
                  {[&] {
                     ChannelsOf(odd, {0, 1});
                   },
                   "only dense tensors can be cut into pieces"}});
  EXPECT_EQ(ChooseCut(odd, 2, 1), OnednnCut::kWhole);
}

TEST(OnednnNamesTest, TellReferencesAndGemms) {
  EXPECT_TRUE(IsReferenceImplementation("ref:any"));
  EXPECT_TRUE(IsReferenceImplementation("ref"));
  EXPECT_FALSE(IsReferenceImplementation("jit:ref"));
  EXPECT_FALSE(IsReferenceImplementation("re"));
  EXPECT_TRUE(IsGemmImplementation("x64:gemm:jit"));
  EXPECT_TRUE(IsGemmImplementation("gemm:ref"));
  EXPECT_TRUE(IsGemmImplementation("gemm"));
  EXPECT_FALSE(IsGemmImplementation("brgemm:avx512"));
  EXPECT_FALSE(IsGemmImplementation("jit_gemm"));
}

// Compares with the definition: element i of the result is that of the source at the same place.
void ExpectTransposed(const std::vector<int64_t>& dims, const std::vector<int>& order) {
  SCOPED_TRACE(testing::PrintToString(dims) + testing::PrintToString(order));
  const size_t rank = dims.size();
  int64_t size = 1;
  for (const int64_t dim : dims) size *= dim;
  std::vector<int32_t> x(static_cast<size_t>(size)), y(x.size(), -1);
  std::iota(x.begin(), x.end(), 0);
  math::TransposePlan plan;
  math::PlanTranspose(dims, order, &plan);
  for (int run = 0; run < 2; ++run) {  // the plan holds the counters of its loops
    std::fill(y.begin(), y.end(), -1);
    math::Transpose(plan, sizeof(int32_t), x.data(), y.data());
    std::vector<int64_t> at(rank, 0);
    for (int64_t i = 0; i < size; ++i) {
      int64_t from = 0;
      for (size_t axis = 0; axis < rank; ++axis) {
        const auto place = std::find(order.begin(), order.end(), static_cast<int>(axis));
        from = from * dims[axis] + at[static_cast<size_t>(place - order.begin())];
      }
      ASSERT_EQ(y[static_cast<size_t>(i)], x[static_cast<size_t>(from)]) << i;
      for (size_t axis = rank; axis-- > 0;) {
        if (++at[axis] < dims[static_cast<size_t>(order[axis])]) break;
        at[axis] = 0;
      }
    }
  }
}

TEST(TransposeCallsTest, MovesEveryElementToItsPlace) {
  ExpectTransposed({16, 16}, {1, 0});  // one tile
  ExpectTransposed({17, 33}, {1, 0});  // tiles and their rests
  ExpectTransposed({48, 16}, {1, 0});
  ExpectTransposed({2, 3, 4, 5}, {3, 1, 0, 2});
  ExpectTransposed({2, 3, 4, 5}, {3, 2, 1, 0});
  ExpectTransposed({2, 3, 4, 5}, {1, 0, 3, 2});
  ExpectTransposed({3, 4, 5, 3}, {2, 1, 0, 3});  // blocks of three elements, with outer axes
  ExpectTransposed({3, 4, 5, 2}, {1, 0, 2, 3});
  ExpectTransposed({3, 1, 5, 1}, {2, 3, 0, 1});
  ExpectTransposed({1, 1}, {1, 0});
  ExpectTransposed({7}, {0});
  ExpectTransposed({}, {});
  ExpectTransposed({2, 3, 2, 3, 2}, {4, 2, 0, 3, 1});
}

TEST(RandomCallsTest, FollowsItsFormulas) {
  using math::Generator;
  Generator generator(9), same(9);
  // 24 low bits of a draw.
  EXPECT_EQ(math::UniformFloat(generator, 2, 6),
            static_cast<float>(same() & 0xffffff) / 16777216.0f * 4 + 2);
  EXPECT_EQ(math::UniformInt(generator, -3, 7), static_cast<int32_t>(same() % 11) - 3);
  EXPECT_EQ(math::UniformInt(generator, INT32_MIN, INT32_MAX),
            static_cast<int32_t>(int64_t{INT32_MIN} + static_cast<int64_t>(same())));
  EXPECT_EQ(math::UniformInt(generator, 4, 4), 4);
  (void)same();
  EXPECT_EQ(math::UniformBelow(generator, 1000), same() % 1000);
  EXPECT_EQ(math::UniformBelow(generator, 0xffffffffu), same() % 0xffffffffu);  // one draw
  uint64_t wide = static_cast<uint64_t>(same()) << 32;
  wide |= same();
  EXPECT_EQ(math::UniformBelow(generator, 0x100000000u), wide % 0x100000000u);
  EXPECT_EQ(generator, same);
  Generator normal(5), shifted(5);
  float a[2], b[2];
  math::FillNormal(normal, 2, 0, 1, a);
  math::FillNormal(shifted, 2, 10, 3, b);
  for (int i = 0; i < 2; ++i) EXPECT_FLOAT_EQ(b[i], a[i] * 3 + 10);
  math::FillNormal(normal, 0, 0, 1, nullptr);
  EXPECT_EQ(normal, shifted);
  Generator floats(6), again(6);
  float f[2];
  math::FillUniform(floats, 2, -1.f, 1.f, f);
  for (const float value : f) EXPECT_EQ(value, math::UniformFloat(again, -1, 1));
}

TEST(WrappingTest, WrapsIntegersAndKeepsFloats) {
  EXPECT_EQ(math::WrappingAdd<int32_t>(INT32_MAX, 1), INT32_MIN);
  EXPECT_EQ(math::WrappingSubtract<int32_t>(INT32_MIN, 1), INT32_MAX);
  EXPECT_EQ(math::WrappingMultiply<int8_t>(16, 24), -128);
  EXPECT_EQ(math::WrappingNegate<int64_t>(INT64_MIN), INT64_MIN);
  EXPECT_EQ(math::WrappingNegate<int32_t>(5), -5);
  EXPECT_EQ(math::WrappingAdd<uint8_t>(200, 100), 44);
  EXPECT_EQ(math::WrappingMultiply(0.5f, 3.f), 1.5f);
  EXPECT_EQ(math::WrappingNegate(0.5), -0.5);
}

TEST(PackedGemmCallsTest, FillsPanelsWithZeros) {
  const int64_t width = PanelWidth();
  EXPECT_EQ(PackedFloats(3, 1), 3 * width);
  EXPECT_EQ(PackedFloats(3, width), 3 * width);
  EXPECT_EQ(PackedFloats(3, width + 1), 6 * width);
  EXPECT_EQ(PackedFloats(0, 5), 0);
  EXPECT_EQ(PackedFloats(5, 0), 0);
  const float b[] = {1, 2, 3, 4, 5, 6};  // [2, 3]
  std::vector<float> packed(static_cast<size_t>(PackedFloats(2, 3)), NAN);
  PackMatrix(false, 2, 3, b, 3, packed.data());
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t j = 0; j < width; ++j)
      EXPECT_EQ(packed[static_cast<size_t>(i * width + j)], j < 3 ? b[i * 3 + j] : 0);
  }
  float back[8] = {9, 9, 9, 9, 9, 9, 9, 9};
  UnpackMatrix(false, 2, 3, packed.data(), 4, back);
  EXPECT_EQ(std::vector<float>(back, back + 8), (std::vector<float>{1, 2, 3, 9, 4, 5, 6, 9}));
}

}  // namespace
}  // namespace caffe2rt::test::primitives_calls_test
