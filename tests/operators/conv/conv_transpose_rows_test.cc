// Transposed convolutions whose two axes differ in everything, and images whose columns are
// computed in several parts of rows, against the definition.
#include <gtest/gtest.h>

#include "caffe2_core/runtime/operator_registry.h"
#include "operators/conv/conv_shape.h"
#include "tests/operators/common/run_rows.h"

namespace caffe2rt::test::conv_transpose_rows_test {
namespace {

struct TransposedAxis {
  int64_t in, kernel, stride, head, tail, adj;
  int64_t out() const { return (in - 1) * stride + kernel + adj - head - tail; }
};

struct TransposedImage {
  const char* name;
  int64_t batch, channels, filters, group;
  TransposedAxis h, w;
  bool bias;
};

constexpr TransposedImage kTransposedImages[] = {
    {"KernelsAndStridesDiffer", 1, 2, 3, 1, {4, 3, 1, 0, 0, 0}, {3, 2, 3, 0, 0, 0}, true},
    {"PadsDifferOnAllSides", 2, 2, 4, 2, {5, 4, 2, 1, 3, 0}, {4, 5, 2, 2, 0, 0}, true},
    {"OneAxisIsAdjusted", 1, 3, 2, 1, {3, 2, 3, 0, 1, 2}, {4, 1, 2, 0, 0, 1}, false},
    {"StrideExceedsTheKernel", 2, 4, 4, 4, {3, 1, 3, 0, 0, 0}, {2, 2, 4, 1, 0, 3}, true},
    {"PadsHideWholeInputs", 1, 1, 2, 1, {4, 3, 1, 2, 2, 0}, {6, 3, 1, 2, 1, 0}, false},
    // 64 * 16 * 33 = 33,792 floats of columns for each row of X: 7 rows fit, of 16.
    {"RowsInSeveralParts", 2, 1, 64, 1, {16, 4, 2, 1, 0, 1}, {33, 4, 1, 0, 2, 0}, true},
    // Each row alone exceeds the budget: 128 * 9 * 230 = 264,960.
    {"EveryRowAlone", 1, 2, 128, 1, {3, 3, 1, 1, 1, 0}, {230, 3, 1, 1, 1, 0}, true},
};

class ConvTransposeRowsTest : public testing::TestWithParam<std::tuple<bool, TransposedImage>> {};

std::vector<float> ByDefinition(const TransposedImage& p, bool last, const std::vector<float>& x,
                                const std::vector<float>& filter, const std::vector<float>& bias) {
  const int64_t in_group = p.channels / p.group, out_group = p.filters / p.group;
  const int64_t out_h = p.h.out(), out_w = p.w.out();
  const auto at = [last](int64_t n, int64_t channels, int64_t c, int64_t height, int64_t row,
                         int64_t width, int64_t column) {
    return static_cast<size_t>(last ? ((n * height + row) * width + column) * channels + c
                                    : ((n * channels + c) * height + row) * width + column);
  };
  std::vector<float> y(static_cast<size_t>(p.batch * p.filters * out_h * out_w));
  for (int64_t n = 0; n < p.batch; ++n) {
    for (int64_t m = 0; m < p.filters; ++m) {
      for (int64_t r = 0; r < out_h * out_w; ++r) {
        y[at(n, p.filters, m, out_h, r / out_w, out_w, r % out_w)] =
            p.bias ? bias[static_cast<size_t>(m)] : 0.f;
      }
      const int64_t g = m / out_group;
      for (int64_t c = g * in_group; c < (g + 1) * in_group; ++c) {
        for (int64_t i = 0; i < p.h.in; ++i) {
          for (int64_t j = 0; j < p.w.in; ++j) {
            const float value = x[at(n, p.channels, c, p.h.in, i, p.w.in, j)];
            for (int64_t u = 0; u < p.h.kernel; ++u) {
              const int64_t row = i * p.h.stride + u - p.h.head;
              if (row < 0 || row >= out_h) continue;
              for (int64_t v = 0; v < p.w.kernel; ++v) {
                const int64_t column = j * p.w.stride + v - p.w.head;
                if (column < 0 || column >= out_w) continue;
                y[at(n, p.filters, m, out_h, row, out_w, column)] +=
                    value *
                    filter[at(c, out_group, m - g * out_group, p.h.kernel, u, p.w.kernel, v)];
              }
            }
          }
        }
      }
    }
  }
  return y;
}

TEST_P(ConvTransposeRowsTest, AgreesWithTheDefinitionAndItsMemoryIsKnown) {
  const auto& [last, p] = GetParam();
  const auto dims = [last = last](int64_t n, int64_t c, int64_t h, int64_t w) {
    return last ? std::vector<int64_t>{n, h, w, c} : std::vector<int64_t>{n, c, h, w};
  };
  const int64_t out_group = p.filters / p.group;
  Workspace ws;
  FeedRandom(&ws, "X", dims(p.batch, p.channels, p.h.in, p.w.in), -1, 1, 1);
  FeedRandom(&ws, "w", dims(p.channels, out_group, p.h.kernel, p.w.kernel), -1, 1, 2);
  FeedRandom(&ws, "b", {p.filters}, -1, 1, 3);
  const std::string text =
      MakeString("ConvTranspose X w ", p.bias ? "b " : "", "-> Y kernels=", p.h.kernel, ",",
                 p.w.kernel, " strides=", p.h.stride, ",", p.w.stride, " pads=", p.h.head, ",",
                 p.w.head, ",", p.h.tail, ",", p.w.tail, " adjs=", p.h.adj, ",", p.w.adj,
                 " group=", p.group, " order=", last ? "NHWC" : "NCHW");
  const OperatorDef def = OperatorsOf({text.c_str(), ""})[0];
  ASSERT_TRUE(ws.RunOperatorOnce(def));
  const Tensor& y = ws.GetBlob("Y")->Get<Tensor>();
  ASSERT_EQ(y.dims(), dims(p.batch, p.filters, p.h.out(), p.w.out()));
  const std::vector<float> want =
      ByDefinition(p, last, Fetch<float>(ws, "X"), Fetch<float>(ws, "w"), Fetch<float>(ws, "b"));
  for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(y.data<float>()[i], want[i], 1e-5) << i;

  // The columns of as many rows as fit 2^18 floats, at least one.
  const int64_t row = out_group * p.h.kernel * p.w.kernel * p.w.in;
  int64_t rows = 1;
  while (rows < p.h.in && row * (rows + 1) <= (int64_t{1} << 18)) ++rows;
  std::vector<TensorShape> in = {
      CreateTensorShape(dims(p.batch, p.channels, p.h.in, p.w.in), TensorProto::FLOAT),
      CreateTensorShape(dims(p.channels, out_group, p.h.kernel, p.w.kernel), TensorProto::FLOAT)};
  if (p.bias) in.push_back(CreateTensorShape(std::vector<int64_t>{p.filters}, TensorProto::FLOAT));
  const MemoryTraits::Extra extra =
      ExtraMemoryOf(def, in, {CreateTensorShape(y.dims(), TensorProto::FLOAT)});
  EXPECT_EQ(extra.scratch_bytes, 4 * row * rows);
  EXPECT_EQ(extra.prepared_bytes, 0);
}

INSTANTIATE_TEST_SUITE_P(Images, ConvTransposeRowsTest,
                         testing::Combine(testing::Bool(), testing::ValuesIn(kTransposedImages)),
                         [](const auto& info) {
                           return std::string(std::get<1>(info.param).name) +
                                  (std::get<0>(info.param) ? "Nhwc" : "Nchw");
                         });

TEST(ConvTransposeRunsTest, FollowTheirInputsAndRecoverFromErrors) {
  const char* const two = "X f 1,1,1,2 = 1,2; w f 1,2,1,2 = 3,4,5,6; b f 2 = 10,20";
  ExpectRuns("ConvTranspose X w b -> Y kernel_h=1 kernel_w=2",
             {{"X f 1,1,1,2 = 1,2; w f 1,1,1,2 = 3,4; b f 1 = 10", "Y f 1,1,1,3 = 13,20,18"},
              {two, "Y f 1,2,1,3 = 13,20,18,25,36,32"},
              {"b f 1", "", "input 2 (bias) has shape [1], want [2]"},
              {"b f 2; w f 2,2,1,2", "", "dim 0 of input 1 (filter)"},
              {two, "Y f 1,2,1,3 = 13,20,18,25,36,32"},
              {"X f 2,1,1,1 = 1,2", "Y f 2,2,1,2 = 13,14,25,26,16,18,30,32"},
              {"X f 0,1,1,1", "Y f 0,2,1,2"},
              {"X f 1,1,1,1 = 1", "Y f 1,2,1,2 = 13,14,25,26"},
              {"w f 1,2,1,2 = 1,0,0,1; b f 2 = 1,2", "Y f 1,2,1,2 = 2,1,2,3"}});
}

}  // namespace
}  // namespace caffe2rt::test::conv_transpose_rows_test
