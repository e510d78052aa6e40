#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/graph/memory_traits.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/model/net_report.h"
#include "caffe2_core/runtime/net.h"
#include "tests/operators/int8/int8_blobs.h"

namespace caffe2rt::int8_fc_test {
namespace {

using namespace test;  // used throughout this file

constexpr float kXScale = 0.04f, kWScale = 0.02f, kYScale = 0.2f;

void FeedLayer(int64_t rows, int64_t n, int64_t k, Workspace* ws) {
  FeedInt8(ws, "X", {rows, k}, RandomBytes(rows * k, 1), kXScale, 100);
  FeedInt8(ws, "W", {n, k}, RandomBytes(n * k, 2), kWScale, 120);
  FeedInt8<int32_t>(ws, "b", {n}, RandomBiases(n, 3000, 3), 0.0008f, 0);
}

std::string Layer(float scale = kYScale) { return Int8Op("Int8FC", "X W b", "Y", scale, 110); }

TEST(Int8FCTest, AddsProductsWithoutZeroPoints) {
  Workspace ws;
  FeedInt8(&ws, "X", {1, 2}, {101, 98}, 0.5f, 100);
  FeedInt8(&ws, "W", {2, 2}, {5, 1, 3, 4}, 0.5f, 3);
  FeedInt8<int32_t>(&ws, "b", {2}, {2, -4}, 0.25f, 0);
  // Sums: 1 * 2 - 2 * -2 + 2 = 8, 1 * 0 - 2 * 1 - 4 = -6; times 0.25 / 0.5.
  RunOp(&ws, Int8Op("Int8FC", "X W b", "Y", 0.5f, 10));
  ExpectInt8(ws, "Y", {1, 2}, {14, 7}, 0.5f, 10);
}

TEST(Int8FCTest, AgreesWithTheDefinition) {
  struct Sizes {
    int64_t rows, n, k;
  };
  for (const Sizes& s : {Sizes{1, 1, 1}, {1, 100, 33}, {9, 17, 64}, {20, 5, 7}}) {
    Workspace ws;
    FeedLayer(s.rows, s.n, s.k, &ws);
    const std::vector<uint8_t> x = FetchInt8(ws, "X"), w = FetchInt8(ws, "W");
    std::vector<uint8_t> want;
    for (int64_t r = 0; r < s.rows; ++r) {
      for (int64_t n = 0; n < s.n; ++n) {
        int64_t sum = Int8Of(ws, "b").t.data<int32_t>()[n];
        for (int64_t k = 0; k < s.k; ++k) {
          sum += (x[static_cast<size_t>(r * s.k + k)] - 100) *
                 (w[static_cast<size_t>(n * s.k + k)] - 120);
        }
        want.push_back(ExpectedElement(sum, kXScale * kWScale / kYScale, 110));
      }
    }
    for (const int threads : {1, 3}) {
      SetNumThreads(threads);
      RunOp(&ws, Layer());
      ExpectInt8(ws, "Y", {s.rows, s.n}, want, kYScale, 110);
    }
    SetNumThreads(1);
  }
}

TEST(Int8FCTest, FlattensTheRowsOfX) {
  Workspace ws;
  FeedLayer(2, 3, 8, &ws);
  RunOp(&ws, Layer());
  const std::vector<uint8_t> want = FetchInt8(ws, "Y");
  ws.GetBlob("X")->GetMutable<Int8TensorCPU>()->t.Reshape({2, 2, 2, 2});
  RunOp(&ws, Layer());
  ExpectInt8(ws, "Y", {2, 3}, want, kYScale, 110);
}

TEST(Int8FCTest, EmptyTensorsStayEmpty) {
  Workspace ws;
  FeedLayer(0, 3, 4, &ws);
  RunOp(&ws, Layer());
  ExpectInt8(ws, "Y", {0, 3}, {}, kYScale, 110);
  FeedLayer(2, 0, 4, &ws);
  RunOp(&ws, Layer());
  ExpectInt8(ws, "Y", {2, 0}, {}, kYScale, 110);
}

TEST(Int8FCTest, InfersTheShape) {
  Workspace ws;
  FeedLayer(2, 3, 4, &ws);
  const std::vector<TensorShape> shapes = InferShapes(ws, ParseOp(Layer()));
  EXPECT_EQ(GetDimsVector(shapes.at(0)), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(shapes.at(0).data_type(), TensorProto::UINT8);
}

// As much as an operator that has run holds, also without weights.
TEST(Int8FCTest, StatesTheBytesOfPreparedWeights) {
  Workspace ws;
  FeedLayer(2, 3, 70, &ws);
  const NetDef net = ParseNet("name: \"n\" op { " + Layer() + " }");
  NetBase* const created = ws.CreateNet(net);
  ASSERT_TRUE(created->Run());
  const auto shape = [](const std::vector<int64_t>& dims) {
    return CreateTensorShape(dims, TensorProto::UINT8);
  };
  const auto stated = [&](const std::vector<int64_t>& w) {
    return ExtraMemoryOf(net.op(0), {shape({2, 70}), shape(w), shape({3})}, {shape({2, 3})});
  };
  EXPECT_GE(stated({3, 70}).prepared_bytes, 3 * 70);
  EXPECT_EQ(stated({3, 70}).prepared_bytes, PreparedBytesOf(*created));
  EXPECT_FALSE(stated({3, 70}).prepared_unknown);
  // A run without elements, or that fails.
  for (const std::vector<int64_t>& w : {{0, 70}, {3, 0}, {70}, std::vector<int64_t>{3, 7, 10}}) {
    EXPECT_EQ(stated(w).prepared_bytes, 0) << w[0];
    EXPECT_FALSE(stated(w).prepared_unknown) << w[0];
  }
  EXPECT_TRUE(ExtraMemoryOf(net.op(0), {}, {}).prepared_unknown);
}

TEST(Int8FCTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedLayer(2, 3, 4, &ws);
  ExpectThrows([&] { RunOp(&ws, Layer(0.0001f)); }, "divided by argument Y_scale is 8");
  FeedInt8(&ws, "X", {2, 5}, RandomBytes(10, 1), kXScale, 100);
  ExpectThrows([&] { RunOp(&ws, Layer()); }, "want the columns of input 1 (W) of shape [3, 4]");
  FeedInt8(&ws, "X", {4}, RandomBytes(4, 1), kXScale, 100);
  ExpectThrows([&] { RunOp(&ws, Layer()); }, "rank of input 0 (X)");
  FeedLayer(2, 3, 0, &ws);
  ExpectThrows([&] { RunOp(&ws, Layer()); }, "columns of input 1 (W)");
  FeedLayer(2, 3, 4, &ws);
  FeedInt8<int32_t>(&ws, "b", {4}, {1, 2, 3, 4}, 1, 0);
  ExpectThrows([&] { RunOp(&ws, Layer()); }, "(bias), want one for each output channel");
  FeedInt8(&ws, "W", {3, 2, 2}, RandomBytes(12, 1), kWScale, 100);
  ExpectThrows([&] { RunOp(&ws, Layer()); }, "want [outputs, inputs]");
  ExpectChecksInt8Input(&ws, Layer());
}

}  // namespace
}  // namespace caffe2rt::int8_fc_test
