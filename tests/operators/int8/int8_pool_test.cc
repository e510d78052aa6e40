// Int8MaxPool, Int8MaxPoolRelu, Int8AveragePool, Int8AveragePoolRelu.
#include <cmath>

#include "caffe2_core/base/thread_pool.h"
#include "tests/operators/int8/int8_blobs.h"

namespace caffe2rt::int8_pool_test {
namespace {

using namespace test;  // used throughout this file

const std::string kNhwc = StringArg("order", "NHWC");

TEST(Int8MaxPoolTest, ReturnsTheLargestElementOfEachWindow) {
  Workspace ws;
  FeedInt8(&ws, "X", {1, 2, 3, 2}, {1, 9, 2, 8, 3, 7, 4, 6, 5, 5, 6, 4}, 0.5f, 5);
  const std::string window = kNhwc + IntArg("kernel", 2);
  RunOp(&ws, Int8Op("Int8MaxPool", "X", "Y", 0.5f, 5, window));
  ExpectInt8(ws, "Y", {1, 1, 2, 2}, {5, 9, 6, 8}, 0.5f, 5);
  RunOp(&ws,
        Int8Op("Int8MaxPool", "X", "Y", 0.5f, 5, window + IntArg("pad", 1) + IntArg("stride", 2)));
  ExpectInt8(ws, "Y", {1, 2, 2, 2}, {1, 9, 3, 8, 4, 6, 6, 5}, 0.5f, 5);
  RunOp(&ws, Int8Op("Int8MaxPoolRelu", "X", "Y", 0.5f, 5,
                    window + IntArg("pad", 1) + IntArg("stride", 2)));
  ExpectInt8(ws, "Y", {1, 2, 2, 2}, {5, 9, 5, 8, 5, 6, 6, 5}, 0.5f, 5);
  RunOp(&ws, Int8Op("Int8MaxPool", "X", "Y", 0.5f, 5, kNhwc + IntArg("global_pooling", 1)));
  ExpectInt8(ws, "Y", {1, 1, 1, 2}, {6, 9}, 0.5f, 5);
}

TEST(Int8AveragePoolTest, RoundsMeansAndCountsPaddingAsZeros) {
  Workspace ws;
  FeedInt8(&ws, "X", {1, 2, 2, 1}, {101, 102, 99, 104}, 1, 100);  // 1, 2, -1, 4
  const std::string window = kNhwc + IntArg("kernel", 2);
  RunOp(&ws, Int8Op("Int8AveragePool", "X", "Y", 1, 50, window));
  ExpectInt8(ws, "Y", {1, 1, 1, 1}, {52}, 1, 50);  // 6 / 4 = 1.5
  RunOp(&ws, Int8Op("Int8AveragePool", "X", "Y", 0.25f, 50, window + IntArg("pad", 1)));
  // Sums of the corner windows: 1, 3, 2; 0, 6, 6; -1, 3, 4.
  ExpectInt8(ws, "Y", {1, 3, 3, 1}, {51, 53, 52, 50, 56, 56, 49, 53, 54}, 0.25f, 50);
  RunOp(&ws, Int8Op("Int8AveragePoolRelu", "X", "Y", 0.25f, 50, window + IntArg("pad", 1)));
  ExpectInt8(ws, "Y", {1, 3, 3, 1}, {51, 53, 52, 50, 56, 56, 50, 53, 54}, 0.25f, 50);
}

TEST(Int8AveragePoolTest, RoundsHalvesAwayFromZero) {
  Workspace ws;
  FeedInt8(&ws, "X", {1, 1, 2, 2}, {101, 99, 100, 100}, 1, 100);
  RunOp(&ws, Int8Op("Int8AveragePool", "X", "Y", 1, 50, kNhwc + IntArg("global_pooling", 1)));
  ExpectInt8(ws, "Y", {1, 1, 1, 2}, {51, 49}, 1, 50);  // 0.5 and -0.5
}

TEST(Int8AveragePoolTest, AgreesWithRealArithmetic) {
  Workspace ws;
  const std::vector<uint8_t> x = RandomBytes(2 * 7 * 6 * 20, 1);
  FeedInt8(&ws, "X", {2, 7, 6, 20}, x, 0.05f, 90);
  const std::string op = Int8Op("Int8AveragePool", "X", "Y", 0.03f, 40,
                                kNhwc + IntsArg("kernels", {3, 2}) + IntsArg("strides", {2, 3}));
  for (const int threads : {1, 3}) {
    SetNumThreads(threads);
    RunOp(&ws, op);
    const std::vector<uint8_t> y = FetchInt8(ws, "Y");
    ASSERT_EQ(y.size(), 2u * 3 * 2 * 20);
    for (size_t at = 0; at < y.size(); ++at) {
      const size_t c = at % 20, column = at / 20 % 2, row = at / 40 % 3, n = at / 120;
      double sum = 0;
      for (size_t i = 0; i < 3; ++i) {
        for (size_t j = 0; j < 2; ++j) {
          sum += x[((n * 7 + row * 2 + i) * 6 + column * 3 + j) * 20 + c] - 90.0;
        }
      }
      const double want = sum * 0.05 / (0.03 * 6) + 40;
      EXPECT_NEAR(y[at], std::min(std::max(want, 0.0), 255.0), 0.5001);
    }
  }
  SetNumThreads(1);
}

// The results are those of Caffe2.
TEST(Int8PoolTest, AcceptsWindowsThatLieInThePadding) {
  Workspace ws;
  FeedInt8(&ws, "X", {1, 3, 2, 2}, {10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120}, 0.1f, 5);
  const std::string wide = kNhwc + IntArg("kernel", 2) + IntArg("stride", 2) + IntArg("pad", 3);
  const std::string op = Int8Op("Int8AveragePool", "X", "Y", 0.1f, 5, wide);
  RunOp(&ws, op);
  ExpectInt8(ws, "Y", {1, 4, 4, 2}, {5, 5, 5,  5,  5,  5,  5, 5, 5, 5, 6, 9, 11, 14, 5, 5,
                                     5, 5, 38, 43, 48, 53, 5, 5, 5, 5, 5, 5, 5,  5,  5, 5},
             0.1f, 5);
  EXPECT_EQ(GetDimsVector(InferShapes(ws, ParseOp(op)).at(0)), (std::vector<int64_t>{1, 4, 4, 2}));
  for (const char* type : {"Int8MaxPool", "Int8MaxPoolRelu"}) {
    RunOp(&ws, Int8Op(type, "X", "Y", 0.1f, 5, wide));
    ExpectInt8(ws, "Y", {1, 4, 4, 2},
               {10, 20,  10, 20,  30,  40,  30,  40,  10, 20,  10, 20,  30,  40,  30,  40,
                90, 100, 90, 100, 110, 120, 110, 120, 90, 100, 90, 100, 110, 120, 110, 120},
               0.1f, 5);
  }
}

// Only a global average may be that of one pixel.
TEST(Int8PoolTest, WindowsHaveTwoPixels) {
  Workspace ws;
  FeedInt8(&ws, "X", {1, 1, 1, 2}, {10, 20}, 0.1f, 5);
  const std::string global = kNhwc + IntArg("global_pooling", 1);
  RunOp(&ws, Int8Op("Int8AveragePool", "X", "Y", 0.1f, 5, global));
  ExpectInt8(ws, "Y", {1, 1, 1, 2}, {10, 20}, 0.1f, 5);
  for (const auto& pool :
       {std::pair{"Int8MaxPool", global}, std::pair{"Int8MaxPool", kNhwc + IntArg("kernel", 1)},
        std::pair{"Int8AveragePool", kNhwc + IntArg("kernel", 1)}}) {
    ExpectThrows([&] { RunOp(&ws, Int8Op(pool.first, "X", "Y", 0.1f, 5, pool.second)); },
                 "the windows have one pixel, want at least two");
  }
}

TEST(Int8PoolTest, EmptyTensorsStayEmptyAndShapesAreInferred) {
  for (const char* type : {"Int8MaxPool", "Int8AveragePool"}) {
    Workspace ws;
    FeedInt8(&ws, "X", {0, 5, 4, 3}, {}, 0.5f, 5);
    const std::string op = Int8Op(type, "X", "Y", 0.5f, 5, kNhwc + IntArg("kernel", 2));
    RunOp(&ws, op);
    ExpectInt8(ws, "Y", {0, 4, 3, 3}, {}, 0.5f, 5);
    const std::vector<TensorShape> shapes = InferShapes(ws, ParseOp(op));
    EXPECT_EQ(GetDimsVector(shapes.at(0)), (std::vector<int64_t>{0, 4, 3, 3}));
    EXPECT_EQ(shapes.at(0).data_type(), TensorProto::UINT8);
  }
}

TEST(Int8PoolTest, NamesWhatDoesNotFit) {
  for (const char* type : {"Int8MaxPool", "Int8AveragePool"}) {
    Workspace ws;
    FeedInt8(&ws, "X", {1, 5, 4, 3}, RandomBytes(60, 1), 0.5f, 5);
    const auto expect_throws = [&](const std::string& more, const std::string& part) {
      ExpectThrows([&] { RunOp(&ws, Int8Op(type, "X", "Y", 0.5f, 5, more)); }, part);
    };
    expect_throws(IntArg("kernel", 2), "argument order is NCHW, want NHWC");
    expect_throws(kNhwc, "kernel");
    expect_throws(kNhwc + IntArg("kernel", 2) + IntArg("dilation", 2), "dilation of axis 0");
    expect_throws(kNhwc + IntArg("kernel", 1) + IntArg("pad", 1), "the windows have one pixel");
    FeedInt8(&ws, "X", {5, 4, 3}, RandomBytes(60, 1), 0.5f, 5);
    expect_throws(kNhwc + IntArg("kernel", 2), "want [N, H, W, C]");
    FeedInt8(&ws, "X", {}, {7}, 0.5f, 5);
    expect_throws(kNhwc + IntArg("kernel", 2), "want [N, H, W, C]");
    ExpectChecksInt8Input(&ws, Int8Op(type, "X", "Y", 0.5f, 5, kNhwc + IntArg("kernel", 1)));
  }
  Workspace ws;
  FeedInt8(&ws, "X", {1, 5, 4, 3}, RandomBytes(60, 1), 0.5f, 5);
  const std::string window = kNhwc + IntArg("kernel", 2);
  ExpectThrows([&] { RunOp(&ws, Int8Op("Int8MaxPool", "X", "Y", 0.25f, 5, window)); },
               "argument Y_scale is 0.25, want 0.5");
  ExpectThrows([&] { RunOp(&ws, Int8Op("Int8AveragePool", "X", "Y", 0.001f, 5, window)); },
               "divided by argument Y_scale 0.001 is 500");
}

}  // namespace
}  // namespace caffe2rt::int8_pool_test
