// Values of layers, sums and regions, by independent formulas, over many sizes, scales and threads.
#include <array>
#include <cmath>

#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/graph/memory_traits.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/shape_inference.h"
#include "tests/operators/int8/int8_blobs.h"

namespace caffe2rt::int8_sizes_test {
namespace {

using namespace test;  // used throughout this file

// Rows of 1 to 17, more than one block of outputs, and rows whose sums of bytes exceed 16 bits.
TEST(Int8SizesTest, LayersAgreeWithTheDefinitionForAllThreads) {
  struct Sizes {
    int64_t rows, n, k;
  };
  for (const Sizes& s : {Sizes{1, 33, 5}, Sizes{1, 49, 70}, Sizes{2, 65, 400}, Sizes{7, 17, 130},
                         Sizes{8, 16, 64}, Sizes{9, 100, 31}, Sizes{17, 1, 500}}) {
    for (const int w_zero : {0, 77, 255}) {
      SCOPED_TRACE(MakeString(s.rows, " ", s.n, " ", s.k, " ", w_zero));
      std::vector<uint8_t> x = RandomBytes(s.rows * s.k, 1);
      for (uint8_t& element : x) element |= 0xC8;  // at least 200
      const std::vector<uint8_t> w = RandomBytes(s.n * s.k, 2);
      const std::vector<int32_t> bias = RandomBiases(s.n, 3000, 3);
      // The sums are up to 255 * 255 * k, the steps up to about 100.
      const float y_scale = 400.0f * static_cast<float>(s.k);
      Workspace ws;
      FeedInt8(&ws, "X", {s.rows, s.k}, x, 1, 3);
      FeedInt8(&ws, "W", {s.n, s.k}, w, 1, w_zero);
      FeedInt8<int32_t>(&ws, "b", {s.n}, bias, 1, 0);
      std::vector<uint8_t> want;
      for (int64_t r = 0; r < s.rows; ++r) {
        for (int64_t n = 0; n < s.n; ++n) {
          int64_t sum = bias[static_cast<size_t>(n)];
          for (int64_t k = 0; k < s.k; ++k) {
            sum += (x[static_cast<size_t>(r * s.k + k)] - 3) *
                   (w[static_cast<size_t>(n * s.k + k)] - w_zero);
          }
          want.push_back(ExpectedElement(sum, 1 / y_scale, 110));
        }
      }
      for (const int threads : {1, 2, 3, 5}) {
        SetNumThreads(threads);
        FeedInt8(&ws, "Y", {s.rows, s.n}, std::vector<uint8_t>(want.size(), 1), 1, 0);
        RunOp(&ws, Int8Op("Int8FC", "X W b", "Y", y_scale, 110));
        ExpectInt8(ws, "Y", {s.rows, s.n}, want, y_scale, 110);
      }
      SetNumThreads(1);
    }
  }
}

// The factors of both inputs have 21 bits behind the first one of the larger ratio; their sums are
// rounded to nearest, halves away from zero.
TEST(Int8SizesTest, SumsAgreeWithIntegerArithmetic) {
  std::vector<uint8_t> a = RandomBytes(500, 1), b = RandomBytes(500, 2);
  for (const uint8_t end : {0, 255}) {
    a.push_back(end);
    b.push_back(end);
  }
  const float ratios[][2] = {{0.001f, 0.001f},    {0.0019f, 0.0019f}, {0.0015f, 0.0001f},
                             {0.00098f, 0.0019f}, {0.002f, 0.5f},     {1, 1},
                             {3.7f, 0.01f},       {0.3f, 40},         {255.5f, 130},
                             {0.0009f, 0.0009f},  {0.24f, 0.26f}};
  for (const auto& [a_ratio, b_ratio] : ratios) {
    SCOPED_TRACE(MakeString(a_ratio, " ", b_ratio));
    Workspace ws;
    FeedInt8(&ws, "A", {502}, a, a_ratio, 3);
    FeedInt8(&ws, "B", {502}, b, b_ratio, 90);
    RunOp(&ws, Int8Op("Int8Add", "A B", "Y", 1, 100));
    const int shift = 21 - static_cast<int>(std::floor(std::log2(std::max(a_ratio, b_ratio))));
    const double a_factor = std::nearbyint(std::ldexp(double{a_ratio}, shift));
    const double b_factor = std::nearbyint(std::ldexp(double{b_ratio}, shift));
    std::vector<uint8_t> want;
    for (size_t i = 0; i < a.size(); ++i) {
      const double sum = (a[i] - 3) * a_factor + (b[i] - 90) * b_factor;
      const double rounded = std::round(std::ldexp(sum, -shift));
      want.push_back(static_cast<uint8_t>(std::clamp(rounded + 100, 0.0, 255.0)));
    }
    ExpectInt8(ws, "Y", {502}, want, 1, 100);
  }
}

// The mean of the samples, in real numbers. Each weight is rounded to 255ths, which changes the
// result by up to two steps.
TEST(Int8SizesTest, RegionsAgreeWithRealArithmetic) {
  constexpr int64_t kHeight = 6, kWidth = 9, kChannels = 3;
  const std::vector<uint8_t> x = RandomBytes(2 * kHeight * kWidth * kChannels, 5);
  const std::vector<std::array<float, 5>> boxes = {{0, 0, 0, 8, 4},      {1, 3, 1, 17, 11},
                                                   {1, -2, -3, 5, 2.5f}, {0, 10, 7, 30, 20},
                                                   {1, 4, 4, 4.5f, 4},   {0, 1, 2, 3, 12}};
  Workspace ws;
  FeedInt8(&ws, "X", {2, kHeight, kWidth, kChannels}, x, 0.5f, 30);
  std::vector<float> rois;
  for (const auto& box : boxes) rois.insert(rois.end(), box.begin(), box.end());
  Feed<float>(&ws, "R", {static_cast<int64_t>(boxes.size()), 5}, rois);
  const auto at = [&](int64_t image, double row, double column, int64_t c) -> double {
    if (row < -1 || row > kHeight || column < -1 || column > kWidth) return 0;
    row = std::clamp(row, 0.0, kHeight - 1.0);
    column = std::clamp(column, 0.0, kWidth - 1.0);
    double sum = 0;
    for (int64_t i = 0; i < kHeight; ++i) {
      for (int64_t j = 0; j < kWidth; ++j) {
        const double weight = std::max(0.0, 1 - std::abs(row - static_cast<double>(i))) *
                              std::max(0.0, 1 - std::abs(column - static_cast<double>(j)));
        sum +=
            weight * x[static_cast<size_t>(((image * kHeight + i) * kWidth + j) * kChannels + c)];
      }
    }
    return sum;
  };
  for (const int sampling : {0, 3}) {
    RunOp(&ws, Int8Op("Int8RoIAlign", "X R", "Y", 0.5f, 20,
                      IntArg("pooled_h", 2) + IntArg("pooled_w", 4) +
                          FloatArg("spatial_scale", 0.5f) + IntArg("sampling_ratio", sampling)));
    const std::vector<uint8_t> y = FetchInt8(ws, "Y");
    ASSERT_EQ(y.size(), boxes.size() * 2 * 4 * kChannels);
    for (size_t k = 0; k < y.size(); ++k) {
      const auto c = static_cast<int64_t>(k % kChannels);
      const auto& box = boxes[k / kChannels / 8];
      const double bin_row = static_cast<double>(k / kChannels / 4 % 2);
      const double bin_column = static_cast<double>(k / kChannels % 4);
      const double left = box[1] * 0.5, top = box[2] * 0.5;
      const double width = std::max(box[3] * 0.5 - left, 1.0) / 4;
      const double height = std::max(box[4] * 0.5 - top, 1.0) / 2;
      const double rows = sampling > 0 ? sampling : std::ceil(height);
      const double columns = sampling > 0 ? sampling : std::ceil(width);
      double sum = 0;
      for (int r = 0; r < rows; ++r) {
        for (int s = 0; s < columns; ++s) {
          sum += at(static_cast<int64_t>(box[0]), top + (bin_row + (r + 0.5) / rows) * height,
                    left + (bin_column + (s + 0.5) / columns) * width, c);
        }
      }
      const double want = std::clamp(sum / (rows * columns) - 30 + 20, 0.0, 255.0);
      EXPECT_NEAR(y[k], want, 2) << k << " with " << sampling;
    }
  }
}

// Reports state how much memory the weights take once they are prepared, or that it is not known.
TEST(Int8SizesTest, LayersWithFiltersHavePreparedWeightsOfUnknownSize) {
  const auto shape = [](const std::vector<int64_t>& dims) {
    return CreateTensorShape(dims, TensorProto::UINT8);
  };
  const std::vector<TensorShape> in = {shape({1, 4, 4, 6}), shape({6, 3, 3, 6}), shape({6})};
  for (const char* type : {"Int8Conv", "Int8ConvRelu", "Int8ConvTranspose"}) {
    const MemoryTraits::Extra extra =
        ExtraMemoryOf(ParseOp(Int8Op(type, "X W b", "Y", 1, 0)), in, {shape({1, 4, 4, 6})});
    EXPECT_TRUE(extra.prepared_unknown) << type;
    EXPECT_EQ(extra.prepared_bytes, 0) << type;
  }
  for (const char* type : {"Int8AveragePool", "Int8Relu", "Int8Quantize", "Int8Concat"}) {
    const MemoryTraits::Extra extra =
        ExtraMemoryOf(ParseOp(Int8Op(type, "X", "Y", 1, 0)), {in[0]}, {in[0]});
    EXPECT_FALSE(extra.prepared_unknown) << type;
  }
}

// What the schemas state: outputs in place of inputs, quantized outputs and counted products.
TEST(Int8SizesTest, SchemasStateTheirFacts) {
  struct Fact {
    const char* type;
    bool first_in_place, second_in_place;
    MultiplyAddCount count;
  };
  using enum MultiplyAddCount;
  for (const Fact& fact :
       {Fact{"Int8Add", true, true, kNotCounted}, Fact{"Int8SumRelu", true, true, kNotCounted},
        Fact{"Int8Relu", true, false, kNotCounted}, Fact{"Int8LeakyRelu", true, false, kNotCounted},
        Fact{"Int8Reshape", true, false, kNotCounted},
        Fact{"Int8Sigmoid", false, false, kNotCounted},
        Fact{"Int8Softmax", false, false, kNotCounted},
        Fact{"Int8Transpose", false, false, kNotCounted},
        Fact{"Int8Concat", false, false, kNotCounted}, Fact{"Int8Slice", false, false, kNotCounted},
        Fact{"Int8MaxPool", false, false, kNotCounted},
        Fact{"Int8Quantize", false, false, kNotCounted}, Fact{"Int8FC", false, false, kFC},
        Fact{"Int8Conv", false, false, kConv}, Fact{"Int8ConvRelu", false, false, kConv},
        Fact{"Int8ConvTranspose", false, false, kConvTranspose}}) {
    SCOPED_TRACE(fact.type);
    const OpSchema* const schema = OpSchemaRegistry::Schema(fact.type);
    ASSERT_NE(schema, nullptr);
    EXPECT_EQ(schema->inplace_allowed(0, 0), fact.first_in_place);
    EXPECT_EQ(schema->inplace_allowed(1, 0), fact.second_in_place);
    EXPECT_TRUE(schema->memory().quantized_outputs);
    EXPECT_EQ(schema->traits().multiply_adds, fact.count);
  }
}

}  // namespace
}  // namespace caffe2rt::int8_sizes_test
