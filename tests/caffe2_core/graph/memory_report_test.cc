#include "caffe2_core/graph/memory_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/operator_test.h"

namespace caffe2rt::memory_report_test {
namespace {

using test::ParseNet;
using testing::ElementsAre;
using testing::IsEmpty;

OPERATOR_SCHEMA(MemoryReportTestNone).NumInputs(1).NumOutputs(1);

TensorShape Floats(std::vector<int64_t> dims) {
  return CreateTensorShape(dims, TensorProto::FLOAT);
}

TEST(MemoryReportTest, ReturnsWorkedNumbers) {
  const NetDef net = ParseNet(R"(
      op { type: "FC" input: "x" input: "w" input: "b" output: "a" }
      op { type: "Relu" input: "a" output: "c" }
      op { type: "Softmax" input: "c" output: "y" })");
  const ShapeMap seeds = {{"x", Floats({1, 100})}, {"w", Floats({50, 100})}, {"b", Floats({50})}};
  const MemoryReport report = ReportMemory({}, net, seeds, {"w", "b"}, {}, 1);
  EXPECT_EQ(report.weight_bytes, (50 * 100 + 50) * 4);
  EXPECT_EQ(report.input_bytes, 100 * 4);
  EXPECT_EQ(report.arena_bytes, 256);  // c in the place of a: 200 bytes, rounded up
  EXPECT_EQ(report.own_bytes, 200);    // y
  EXPECT_EQ(report.activation_bytes, 600);
  EXPECT_EQ(report.peak_bytes,
            report.weight_bytes + report.prepared_bytes + 400 + 256 + 200 + report.scratch_bytes);
  EXPECT_THAT(report.unknown, IsEmpty());
  ASSERT_EQ(report.blobs.size(), 3u);
}

TEST(MemoryReportTest, ReportsUnknownBlobs) {
  const NetDef net = ParseNet(R"(op { type: "Relu" input: "x" output: "y" })");
  const MemoryReport report = ReportMemory({}, net, {}, {}, {}, 1);
  ASSERT_EQ(report.unknown.size(), 2u);
  EXPECT_EQ(report.unknown[0].name, "y");
  EXPECT_EQ(report.unknown[1].name, "x");
}

TEST(MemoryReportTest, StatesEachBlobAndPart) {
  // u has no known shape; s is state that the net reads and writes; b is kept.
  const NetDef net = ParseNet(R"(
      op { type: "FC" input: "x" input: "w" input: "bias" output: "a" }
      op { type: "Concat" input: "a" input: "a" output: "j" output: "split" arg { name: "axis" i: 0 } }
      op { type: "Relu" input: "j" output: "b" }
      op { type: "Sum" input: "s" input: "b" output: "s" }
      op { type: "Relu" input: "unknown" output: "u" }
      op { type: "Tanh" input: "b" output: "y" })");
  const ShapeMap seeds = {
      {"x", Floats({2, 3})}, {"w", Floats({5, 3})}, {"bias", Floats({5})}, {"s", Floats({4, 5})}};
  MemoryReport report = ReportMemory({}, net, seeds, {"w", "bias"}, {"b"}, 3);
  std::string text;
  for (const MemoryReport::BlobUse& blob : report.blobs) {
    text += MakeString(blob.name, " ", blob.shape, " ", blob.bytes, " ", blob.planned, " ",
                       blob.first_op, "-", blob.last_op, "\n");
  }
  // Largest first, equal ones in the order of their first writes.
  EXPECT_EQ(text, R"(j float [4, 5] 80 1 1-2
b float [4, 5] 80 0 2-5
s float [4, 5] 80 0 3-3
y float [4, 5] 80 0 5-5
a float [2, 5] 40 1 0-1
split int32 [2] 8 0 1-1
)");
  ASSERT_EQ(report.unknown.size(), 2u);
  EXPECT_EQ(report.unknown[0].name, "u");
  EXPECT_EQ(report.unknown[0].problem,
            "operator 4 (Relu): the shape of input \"unknown\" is not known");
  EXPECT_FALSE(report.unknown[0].is_input);
  EXPECT_EQ(report.unknown[1].name, "unknown");
  EXPECT_EQ(report.unknown[1].problem,
            "it is an input whose shape is not given: --input or --init-net");
  EXPECT_TRUE(report.unknown[1].is_input);
  EXPECT_EQ(report.weight_bytes, (15 + 5) * 4);
  EXPECT_EQ(report.input_bytes, (6 + 20) * 4);  // x and s
  EXPECT_EQ(report.activation_bytes, 4 * 80 + 40 + 8);
  EXPECT_EQ(report.own_bytes, 3 * 80 + 8);
  EXPECT_EQ(report.live_bytes, 128);  // j, of which a is the first part; 80 rounded up to 64s
  EXPECT_EQ(report.arena_bytes, 128);
  const int64_t parts =
      report.weight_bytes + report.input_bytes + report.arena_bytes + report.own_bytes;
  EXPECT_EQ(report.peak_bytes, parts + report.prepared_bytes + report.scratch_bytes);
  EXPECT_EQ(report.scratch_bytes % 3, 0);  // that of all threads
  SetPreparedBytes(1000, {0}, &report);
  EXPECT_EQ(report.prepared_bytes, 1000);
  EXPECT_EQ(report.unknown_prepared, std::vector<size_t>{0});
  EXPECT_EQ(report.peak_bytes, parts + 1000 + report.scratch_bytes);
  SetPreparedBytes(INT64_MAX, {}, &report);
  EXPECT_EQ(report.peak_bytes, INT64_MAX);
  EXPECT_TRUE(report.unknown_prepared.empty());
}

// A blob is used until its last access, which may be a write that nothing reads.
TEST(MemoryReportTest, StatesTheLastUseOfEachBlob) {
  const NetDef net = ParseNet(R"(external_output: "y"
      op { type: "Tanh" input: "x" output: "a" }
      op { type: "Tanh" input: "a" output: "b" }
      op { type: "Tanh" input: "b" output: "a" }
      op { type: "Tanh" input: "b" output: "c" }
      op { type: "Tanh" input: "x" output: "b" }
      op { type: "Tanh" input: "c" output: "y" }
      op { type: "Tanh" input: "x" output: "d" })");
  const MemoryReport report = ReportMemory({}, net, {{"x", Floats({3})}}, {}, {}, 1);
  std::map<std::string, std::pair<uint32_t, uint32_t>> uses;
  for (const MemoryReport::BlobUse& blob : report.blobs) {
    uses[blob.name] = {blob.first_op, blob.last_op};
  }
  const std::map<std::string, std::pair<uint32_t, uint32_t>> want = {
      {"a", {0, 2}}, {"b", {1, 4}}, {"c", {3, 5}}, {"d", {6, 6}}, {"y", {5, 5}}};
  EXPECT_EQ(uses, want);
}

// An input may be known to exist without its shape.
TEST(MemoryReportTest, InputsOfUnknownShapeAreUnknown) {
  const NetDef net = ParseNet(R"(op { type: "Sum" input: "x" input: "z" output: "y" })");
  TensorShape unknown;
  unknown.set_unknown_shape(true);
  const MemoryReport report =
      ReportMemory({}, net, {{"x", unknown}, {"z", Floats({5})}}, {}, {}, 1);
  ASSERT_FALSE(report.unknown.empty());
  EXPECT_EQ(report.unknown.back().name, "x");
  EXPECT_TRUE(report.unknown.back().is_input);
  EXPECT_EQ(report.input_bytes, 5 * 4);
}

// No size is known because an operator infers none, or a shape that fits no size.
TEST(MemoryReportTest, StatesWhySizesAreUnknown) {
  const NetDef net = ParseNet(R"(op { type: "MemoryReportTestNone" input: "x" output: "a" }
      op { type: "NoSuchType" input: "x" output: "b" })");
  const MemoryReport report = ReportMemory({}, net, {{"x", Floats({2})}}, {}, {}, 1);
  ASSERT_EQ(report.unknown.size(), 2u);
  EXPECT_EQ(report.unknown[0].problem, "operator 0 (MemoryReportTestNone) infers no size for it");
  EXPECT_EQ(report.unknown[1].problem, "operator 1 (NoSuchType): no schema");
}

TEST(MemoryReportTest, CountsAThreadAndTheLargestScratch) {
  const std::string conv =
      R"(op { type: "Conv" input: "x" input: "w" output: "a" arg { name: "kernel" i: 3 } } )";
  const auto report = [](const std::string& text, int threads) {
    return ReportMemory({}, ParseNet(text),
                        {{"x", Floats({1, 4, 9, 9})}, {"w", Floats({4, 4, 3, 3})}}, {"w"}, {},
                        threads);
  };
  EXPECT_EQ(report(conv, 0).scratch_bytes, report(conv, 1).scratch_bytes);
  EXPECT_EQ(report(conv + R"(op { type: "Relu" input: "a" output: "b" })", 2).scratch_bytes,
            2 * report(conv, 1).scratch_bytes);
  const MemoryReport two = report(R"(op { type: "Tanh" input: "x" output: "a" }
      op { type: "Tanh" input: "x" output: "b" } op { type: "Add" input: "a" input: "b" output: "c" }
      op { type: "Tanh" input: "c" output: "y" })",
                                  1);
  std::set<int64_t> offsets;
  for (const MemoryReport::BlobUse& blob : two.blobs) {
    if (blob.name == "a" || blob.name == "b") offsets.insert(blob.offset);
  }
  EXPECT_THAT(offsets, ElementsAre(0, 1344));  // 4 * 81 floats, rounded up to 64 bytes
}

}  // namespace
}  // namespace caffe2rt::memory_report_test
