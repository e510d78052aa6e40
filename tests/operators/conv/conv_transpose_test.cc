#include "tests/support/operator_test.h"

namespace caffe2rt::test::conv_transpose_test {

namespace {

TEST(ConvTransposeTest, AddsWindowsAndBias) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1, 1, 2}, {1, 10});
  Feed<float>(&ws, "W", {1, 1, 1, 2}, {1, 2});
  Feed<float>(&ws, "b", {1}, {100});
  RunOp(
      &ws,
      R"(type: "ConvTranspose" input: "X" input: "W" input: "b" output: "Y" arg { name: "kernels" ints: 1 ints: 2 })");
  ExpectTensor<float>(ws, "Y", {1, 1, 1, 3}, {101, 112, 120});
}

TEST(ConvTransposeTest, SpreadsWindowsByTheStrideAndAddsRowsAtTheEnd) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1, 1, 2}, {1, 10});
  Feed<float>(&ws, "W", {1, 1, 1, 1}, {3});
  const char* op =
      R"(type: "ConvTranspose" input: "X" input: "W" output: "Y" arg { name: "kernel" i: 1 }
                      arg { name: "stride" i: 2 } arg { name: "adj" i: 1 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {1, 1, 2, 4}, {3, 0, 30, 0, 0, 0, 0, 0});
  ExpectShapeInferred(&ws, op);
}

// The definition: y[o] is the sum of x[i] * w[k] over all i and k with i * stride + k - pad == o.
std::vector<float> Naive(int64_t batch, int64_t channels, int64_t size, int64_t filters,
                         int64_t kernel, int64_t stride, int64_t pad, int64_t group, bool last,
                         int64_t out, const std::vector<float>& x, const std::vector<float>& w) {
  const int64_t in_group = channels / group, out_group = filters / group;
  const auto at = [last](int64_t n, int64_t c, int64_t h, int64_t v, int64_t channels_of,
                         int64_t size_of) {
    return static_cast<size_t>(last ? ((n * size_of + h) * size_of + v) * channels_of + c
                                    : ((n * channels_of + c) * size_of + h) * size_of + v);
  };
  std::vector<float> y(static_cast<size_t>(batch * filters * out * out), 0.f);
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t m = 0; m < out_group; ++m) {
        for (int64_t pixel = 0; pixel < size * size; ++pixel) {
          for (int64_t tap = 0; tap < kernel * kernel; ++tap) {
            const int64_t h = pixel / size * stride + tap / kernel - pad;
            const int64_t v = pixel % size * stride + tap % kernel - pad;
            if (h < 0 || h >= out || v < 0 || v >= out) continue;
            y[at(n, c / in_group * out_group + m, h, v, filters, out)] +=
                x[at(n, c, pixel / size, pixel % size, channels, size)] *
                w[at(c, m, tap / kernel, tap % kernel, out_group, kernel)];
          }
        }
      }
    }
  }
  return y;
}

class ConvTransposeOrderTest : public testing::TestWithParam<std::tuple<bool, int, int, int>> {};

TEST_P(ConvTransposeOrderTest, GivesTheValuesOfTheDefinition) {
  const auto [last, stride, pad, group] = GetParam();
  const int64_t size = 5, out = (size - 1) * stride + 3 - 2 * pad;
  Workspace ws;
  const std::vector<int64_t> x_dims =
      last ? std::vector<int64_t>{2, size, size, 4} : std::vector<int64_t>{2, 4, size, size};
  const std::vector<int64_t> w_dims =
      last ? std::vector<int64_t>{4, 3, 3, 6 / group} : std::vector<int64_t>{4, 6 / group, 3, 3};
  const std::vector<int64_t> y_dims =
      last ? std::vector<int64_t>{2, out, out, 6} : std::vector<int64_t>{2, 6, out, out};
  FeedRandom(&ws, "X", x_dims);
  FeedRandom(&ws, "W", w_dims, -1, 1, 2);
  const std::string op = MakeString(
      R"(type: "ConvTranspose" input: "X" input: "W" output: "Y" arg { name: "kernel" i: 3 } arg { name: "stride" i: )",
      stride, R"( } arg { name: "pad" i: )", pad, R"( } arg { name: "group" i: )", group,
      R"( } arg { name: "order" s: ")", last ? "NHWC" : "NCHW", R"(" })");
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", y_dims,
                      Naive(2, 4, size, 6, 3, stride, pad, group, last, out, Fetch<float>(ws, "X"),
                            Fetch<float>(ws, "W")),
                      1e-5);
  ExpectShapeInferred(&ws, op);
}

INSTANTIATE_TEST_SUITE_P(Forms, ConvTransposeOrderTest,
                         testing::Combine(testing::Bool(), testing::Values(1, 2, 4),
                                          testing::Values(0, 1), testing::Values(1, 2)));

TEST(ConvTransposeTest, GivesAnEmptyResultForAnEmptyBatch) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 2, 3, 3}, {});
  FeedRandom(&ws, "W", {2, 4, 3, 3});
  RunOp(&ws,
        R"(type: "ConvTranspose" input: "X" input: "W" output: "Y" arg { name: "kernel" i: 3 })");
  ExpectTensor<float>(ws, "Y", {0, 4, 5, 5}, {});
}

TEST(ConvTransposeTest, ReportsIncompatibleShapes) {
  Workspace ws;
  FeedRandom(&ws, "X", {1, 2, 3, 3});
  FeedRandom(&ws, "W", {3, 4, 3, 3});
  const auto run = [&](const char* args) {
    return [&ws, args] {
      RunOp(&ws, std::string(R"(type: "ConvTranspose" input: "X" input: "W" output: "Y" )") + args);
    };
  };
  ExpectThrows(run(R"(arg { name: "kernel" i: 3 })"), "dim 0 of input 1 (filter)");
  FeedRandom(&ws, "W", {2, 4, 3, 3});
  ExpectThrows(run(R"(arg { name: "kernel" i: 2 })"), "want the kernel argument");
  ExpectThrows(run(R"(arg { name: "kernel" i: 3 } arg { name: "adj" i: 2 })"), "adj of axis 0");
  ExpectThrows(run(R"(arg { name: "kernel" i: 3 } arg { name: "pad" i: -1 })"), "pads");
  ExpectThrows(run(R"(arg { name: "kernel" i: 3 } arg { name: "pad" i: 9 })"), "output size");
  ExpectThrows(run(R"(arg { name: "kernel" i: 3 } arg { name: "legacy_pad" i: 3 })"), "legacy_pad");
  ExpectThrows(run(R"(arg { name: "kernels" ints: 3 })"), "kernels");
}

TEST(ConvTransposeTest, DeclaresTheArgumentOfItsGradient) {
  std::vector<std::string> names;
  for (const auto& argument : OpSchemaRegistry::Schema("ConvTranspose")->args()) {
    names.push_back(argument.name);
  }
  EXPECT_THAT(names, testing::Contains("no_bias"));
}

TEST(ConvTransposeTest, ADilationIsAnError) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1, 2, 2}, {1, 2, 3, 4});
  Feed<float>(&ws, "W", {1, 1, 2, 2}, {1, 1, 1, 1});
  const std::string op = R"(type: "ConvTranspose" input: "X" input: "W" output: "Y"
      arg { name: "kernel" i: 2 } )";
  RunOp(&ws, op + R"(arg { name: "dilation" i: 1 })");
  EXPECT_EQ(DimsOf(ws, "Y"), (std::vector<int64_t>{1, 1, 3, 3}));
  ExpectThrows([&] { RunOp(&ws, op + R"(arg { name: "dilation" i: 2 })"); },
               "the dilation of a transposed convolution is 2, want 1");
  // In Conv, 0 reads the same pixel for each tap.
  ExpectThrows([&] { RunOp(&ws, op + R"(arg { name: "dilation" i: 0 })"); },
               "the dilation of a transposed convolution is 0, want 1");
  ExpectThrows(
      [&] {
        RunOp(&ws, op + R"(arg { name: "dilation_h" i: 1 } arg { name: "dilation_w" i: 3 })");
      },
      "the dilation of a transposed convolution is 3, want 1");
}

}  // namespace
}  // namespace caffe2rt::test::conv_transpose_test
