// Which items may share memory: operators that may copy, orders that are not known, accesses that a
// net makes again, and what a report states of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/graph/memory_demand.h"
#include "caffe2_core/graph/memory_plan.h"
#include "caffe2_core/graph/memory_report.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::memory_sharing_test {
namespace {

using Kind = MemoryPlacement::Kind;
using test::ParseNet;
using testing::ElementsAre;
using testing::IsEmpty;

using Ops = std::vector<uint32_t>;

OPERATOR_SCHEMA(MemorySharingTestUnlisted).AccessesUnlistedBlobs([](const OperatorDef&) {
  return true;
});

TensorShape FloatShape(const std::vector<int64_t>& dims) {
  return CreateTensorShape(dims, TensorProto::FLOAT);
}

// 0 writes x; 1 splits x into a and b; 2 reads x; 3 reads a and b.
MemoryRequest SplitRequest(bool may_copy, const std::vector<Ops>& predecessors) {
  return {
      .operators = 4,
      .items = {{128, {0}, {1, 2}}, {64, {1}, {3}}, {64, {1}, {3}}},
      .placements = {{Kind::kSplit, 1, 1, 0, 0, may_copy}, {Kind::kSplit, 1, 2, 0, 64, may_copy}},
      .predecessors = predecessors};
}

// 0 writes a, 1 writes b; 2 joins both in c; 3 reads a; 4 reads c.
MemoryRequest JoinRequest(bool may_copy, const std::vector<Ops>& predecessors) {
  return {.operators = 5,
          .items = {{64, {0}, {2, 3}}, {64, {1}, {2}}, {128, {2}, {4}}},
          .placements = {{Kind::kJoin, 2, 0, 2, 0, may_copy}, {Kind::kJoin, 2, 1, 2, 64, may_copy}},
          .predecessors = predecessors};
}

// 0 writes x; 1 reads x; 2 may write y in the place of x; 3 reads y.
MemoryRequest InPlaceRequest(const std::vector<Ops>& predecessors) {
  return {.operators = 4,
          .items = {{64, {0}, {1, 2}}, {64, {2}, {3}}},
          .placements = {{Kind::kInPlace, 2, 1, 0, 0}},
          .predecessors = predecessors};
}

TEST(MemorySharingTest, OperatorsThatMayCopyShareOnlyWhatNoOtherOneUsesMeanwhile) {
  const std::vector<Ops> in_order = {}, chain = {{}, {0}, {1}, {2}},
                         apart = {{}, {0}, {0}, {1}};  // 2 may run at the same time as 1
  const std::vector<Ops> join_chain = {{}, {}, {0, 1}, {2}, {2}},
                         join_apart = {{}, {}, {0, 1}, {0}, {2}};
  const struct {
    const char* what;
    MemoryRequest request;
    std::vector<bool> placed;
  } rows[] = {
      {"split in order", SplitRequest(false, in_order), {true, true}},
      {"split in order that may copy", SplitRequest(true, in_order), {true, true}},
      {"split after split", SplitRequest(true, chain), {true, true}},
      {"split beside a reader", SplitRequest(false, apart), {true, true}},
      {"split that may copy beside a reader", SplitRequest(true, apart), {false, false}},
      {"join in order", JoinRequest(false, in_order), {true, true}},
      {"join that may copy", JoinRequest(true, in_order), {true, true}},
      {"join before the reader", JoinRequest(true, join_chain), {true, true}},
      {"join beside a reader", JoinRequest(false, join_apart), {true, true}},
      {"join that may copy beside a reader", JoinRequest(true, join_apart), {false, true}},
      {"in place in order", InPlaceRequest(in_order), {true}},
      {"in place after the other reader", InPlaceRequest({{}, {0}, {1}, {2}}), {true}},
      {"in place beside the other reader", InPlaceRequest({{}, {0}, {0}, {2}}), {false}},
  };
  for (const auto& row : rows) EXPECT_EQ(PlanMemory(row.request).placed, row.placed) << row.what;
}

// An operator that may copy leaves only the memory alone that it copies from, or to.
TEST(MemorySharingTest, CopiedPartsMayNotLieInOtherItems) {
  // 1 joins x and p in z; 2 splits x; 3 reads z; 4 reads the parts of x.
  const auto split = [](bool may_copy) {
    return PlanMemory({.operators = 5,
                       .items = {{128, {0}, {1, 2}},
                                 {64, {0}, {1}},
                                 {192, {1}, {3}},
                                 {64, {2}, {4}},
                                 {64, {2}, {4}}},
                       .placements = {{Kind::kJoin, 1, 0, 2, 0},
                                      {Kind::kJoin, 1, 1, 2, 128},
                                      {Kind::kSplit, 2, 3, 0, 0, may_copy},
                                      {Kind::kSplit, 2, 4, 0, 64, may_copy}},
                       .predecessors = {}})
        .placed;
  };
  EXPECT_THAT(split(false), ElementsAre(true, true, true, true));
  EXPECT_THAT(split(true), ElementsAre(true, true, false, false));
  // 1 makes a of x; 2 joins a and b in c; 3 reads x; 4 reads c.
  const auto join = [](bool may_copy) {
    return PlanMemory(
               {.operators = 5,
                .items = {{64, {0}, {1, 3}}, {64, {1}, {2}}, {64, {0}, {2}}, {128, {2}, {4}}},
                .placements = {{Kind::kSplit, 1, 1, 0, 0},
                               {Kind::kJoin, 2, 1, 3, 0, may_copy},
                               {Kind::kJoin, 2, 2, 3, 64, may_copy}},
                .predecessors = {}})
        .placed;
  };
  EXPECT_THAT(join(false), ElementsAre(true, true, true));
  EXPECT_THAT(join(true), ElementsAre(true, false, true));
}

// Items 0 and 2 leave gaps of 320 and 192 bytes; both are large enough for the last item.
TEST(MemorySharingTest, ItemsLieInTheSmallestGap) {
  for (const bool any_order : {false, true}) {
    MemoryRequest request{
        .operators = 2,
        .items = {{320, {0}, {}}, {256, {0}, {1}}, {192, {0}, {}}, {128, {0}, {1}}, {64, {1}, {}}},
        .placements = {},
        .predecessors = {}};
    if (any_order) request.predecessors = {{}, {0}};
    const MemoryPlan plan = PlanMemory(request);
    EXPECT_THAT(plan.offsets, ElementsAre(0, 320, 576, 768, 576)) << any_order;
    EXPECT_EQ(plan.arena_bytes, 896u);
    request.items[4].bytes = 128;
    EXPECT_EQ(PlanMemory(request).offsets[4], 576u) << any_order;
    // It is placed before item 3 then, and there is one gap.
    request.items[4].bytes = 129;
    EXPECT_EQ(PlanMemory(request).offsets[4], 0u) << any_order;
  }
}

// 2 joins both in one item, with 64 bytes between them that are of an input of the net.
TEST(MemorySharingTest, PartsMayHaveOthersBetweenThem) {
  const MemoryPlan plan =
      PlanMemory({.operators = 4,
                  .items = {{64, {0}, {2}}, {64, {1}, {2}}, {192, {2}, {3}}},
                  .placements = {{Kind::kJoin, 2, 0, 2, 0}, {Kind::kJoin, 2, 1, 2, 128}},
                  .predecessors = {}});
  EXPECT_THAT(plan.placed, ElementsAre(true, true));
  EXPECT_THAT(plan.offsets, ElementsAre(0, 128, 0));
  EXPECT_EQ(plan.arena_bytes, 192u);
}

// 1 splits x at 64 into y, which 2 joins at the beginning of z: x begins before z.
TEST(MemorySharingTest, AGroupMayBeginBeforeItsFirstItem) {
  const MemoryRequest request{
      .operators = 4,
      .items = {{128, {0}, {1}}, {64, {1}, {2}}, {192, {2}, {3}}, {32, {0}, {3}}},
      .placements = {{Kind::kSplit, 1, 1, 0, 64}, {Kind::kJoin, 2, 1, 2, 0}},
      .predecessors = {}};
  const MemoryPlan plan = PlanMemory(request);
  EXPECT_THAT(plan.placed, ElementsAre(true, true));
  EXPECT_EQ(plan.offsets[1], plan.offsets[0] + 64);
  EXPECT_EQ(plan.offsets[2], plan.offsets[1]);
  EXPECT_EQ(plan.arena_bytes, 64u + 192 + 64);
  EXPECT_EQ(plan.live_bytes, 64u + 192 + 64);
}

// What operators 0 to 4 write and read in `net`, by the name of the blob.
struct Accesses {
  Ops writes, reads;
};
Accesses AccessesOf(const std::string& text, const std::string& blob) {
  const NetDef net = ParseNet(text);
  ShapeMap shapes = {{"x", FloatShape({4, 4})}};
  const std::vector<OpShapes> inferred = InferOpShapes({&net}, &shapes);
  const NetDependencies blobs(net);
  const MemoryDemand demand(net, blobs, MemoryOfShapes(net, blobs, inferred), {}, inferred);
  const uint32_t item = demand.item_of(blobs.Find(blob));
  if (item == MemoryDemand::kNone) return {};
  return {demand.request().items[item].writes, demand.request().items[item].reads};
}

TEST(MemorySharingTest, AllReadsAndWritesOfABlobCount) {
  const char* net = R"(external_output: "y"
      op { type: "Relu" input: "x" output: "a" }
      op { type: "Sum" input: "a" input: "a" output: "b" }
      op { type: "Relu" input: "b" output: "b" }
      op { type: "Relu" input: "b" output: "a" control_input: "c" }
      op { type: "Relu" input: "x" output: "c" }
      op { type: "Relu" input: "b" output: "y" control_input: "c" })";
  EXPECT_THAT(AccessesOf(net, "a").writes, ElementsAre(0, 3));
  EXPECT_THAT(AccessesOf(net, "a").reads, ElementsAre(1));
  EXPECT_THAT(AccessesOf(net, "b").writes, ElementsAre(1, 2));
  EXPECT_THAT(AccessesOf(net, "b").reads, ElementsAre(2, 3, 5));
  EXPECT_THAT(AccessesOf(net, "c").writes, ElementsAre(4));
  EXPECT_THAT(AccessesOf(net, "c").reads, ElementsAre(3, 5));  // for control
  EXPECT_THAT(AccessesOf(net, "y").writes, IsEmpty());  // an output is not planned
  // A blob and its alias are one item.
  const char* alias = R"(external_output: "y"
      op { type: "Relu" input: "x" output: "a" }
      op { type: "Alias" input: "a" output: "b" }
      op { type: "Relu" input: "b" output: "c" }
      op { type: "Relu" input: "c" output: "y" })";
  for (const char* name : {"a", "b"}) {
    EXPECT_THAT(AccessesOf(alias, name).writes, ElementsAre(0, 1)) << name;
    EXPECT_THAT(AccessesOf(alias, name).reads, ElementsAre(1, 2)) << name;
  }
}

// The names of the planned blobs, and the placements as "kind inner<outer+offset".
struct Demanded {
  std::string planned, placements;
};
Demanded DemandOf(const std::string& text, const ShapeMap& given = {{"x", FloatShape({4, 4})}},
                  const std::set<uint32_t>& without_placement = {}) {
  const NetDef net = ParseNet(text);
  ShapeMap shapes = given;
  const std::vector<OpShapes> inferred = InferOpShapes({&net}, &shapes);
  const NetDependencies blobs(net);
  const MemoryDemand demand(net, blobs, MemoryOfShapes(net, blobs, inferred), {}, inferred,
                            without_placement);
  Demanded found;
  for (uint32_t blob = 0; blob < blobs.size(); ++blob) {
    if (demand.item_of(blob) != MemoryDemand::kNone) found.planned += blobs.name(blob) + " ";
  }
  for (const MemoryPlacement& placement : demand.request().placements) {
    const char* const kinds[] = {"in place ", "join ", "split "};
    found.placements += MakeString(
        kinds[static_cast<size_t>(placement.kind)], blobs.name(demand.root_of(placement.inner)),
        "<", blobs.name(demand.root_of(placement.outer)), "+", placement.offset,
        placement.may_copy ? " may copy" : "", " at ", placement.op, "; ");
  }
  return found;
}

TEST(MemorySharingTest, OutputsTakeThePlaceOfInputsOfTheSameSizeOnTheCpu) {
  const auto placements = [](const std::string& op, const std::string& more = "") {
    return DemandOf(R"(op { type: "Sigmoid" input: "x" output: "a" )" + more + "} op { " + op +
                    R"( output: "b" } op { type: "Softmax" input: "b" output: "y" })")
        .placements;
  };
  EXPECT_EQ(placements(R"(type: "Relu" input: "a")"), "in place b<a+0 at 1; ");
  EXPECT_EQ(placements(R"(type: "Sum" input: "a" input: "x")"), "in place b<a+0 at 1; ");
  EXPECT_EQ(placements(R"(type: "Sum" input: "a" input: "a")"), "");
  EXPECT_EQ(placements(R"(type: "Transpose" input: "a")"), "");  // its schema does not allow it
  EXPECT_EQ(placements(R"(type: "Cast" input: "a" arg { name: "to" i: 11 })"), "");
  const std::string ideep = "device_option { device_type: 5 }";
  EXPECT_EQ(placements(R"(type: "Relu" input: "a" )" + ideep, ideep), "");
  EXPECT_EQ(placements(R"(type: "Relu" input: "a")", ideep), "");
}

TEST(MemorySharingTest, PartsArePlacedUnlessAnOperatorIsLeftOut) {
  const std::string net = R"(op { type: "Sigmoid" input: "x" output: "a" }
      op { type: "Sigmoid" input: "x" output: "b" }
      op { type: "Concat" input: "a" input: "b" input: "x" output: "c" output: "i"
           arg { name: "axis" i: 0 } }
      op { type: "Split" input: "c" output: "d" output: "e" arg { name: "axis" i: 0 } }
      op { type: "Sum" input: "d" input: "e" output: "y" })";
  // x, the input of the net, is not planned; y is its output.
  const Demanded all = DemandOf(net);
  EXPECT_EQ(all.planned, "a b c d e ");
  EXPECT_EQ(all.placements,
            "join a<c+0 at 2; join b<c+64 at 2; split d<c+0 at 3; split e<c+96 at 3; ");
  EXPECT_EQ(DemandOf(net, {{"x", FloatShape({4, 4})}}, {2}).placements,
            "split d<c+0 at 3; split e<c+96 at 3; ");
}

// With channels last, the channels of one image are not contiguous on IDEEP, unless the operator
// joins blocks.
TEST(MemorySharingTest, PartsOnIdeepNeedBlocksOfChannels) {
  const auto placements = [](const std::string& layout, const std::string& join) {
    const std::string ideep = " device_option { device_type: 5 } } ";
    return DemandOf(
               R"(op { type: "MaxPool" input: "x" output: "a" arg { name: "kernel" i: 1 } )" +
                   layout + ideep +
                   R"(op { type: "MaxPool" input: "x" output: "b" arg { name: "kernel" i: 1 } )" +
                   ideep + R"(op { type: "Concat" input: "a" input: "b" output: "c" output: "i" )" +
                   join + ideep +
                   R"(op { type: "MaxPool" input: "c" output: "y" arg { name: "kernel" i: 1 } )" +
                   ideep,
               {{"x", FloatShape({1, 16, 2, 2})}})
        .placements;
  };
  const std::string nhwc = R"(arg { name: "layout" s: "nhwc" } )",
                    both = "join a<c+0 may copy at 2; join b<c+256 may copy at 2; ";
  EXPECT_EQ(placements("", ""), both);
  EXPECT_EQ(placements(R"(arg { name: "layout" s: "nChw16c" } )", ""), both);
  EXPECT_EQ(placements(nhwc, ""), "");
  EXPECT_EQ(placements(nhwc, R"(arg { name: "blocked_inputs" i: 2 })"), both);
  EXPECT_EQ(placements(nhwc, R"(arg { name: "blocked_inputs" i: 1 })"),
            "join a<c+0 may copy at 2; ");  // b is not in blocks
  EXPECT_EQ(placements(nhwc, R"(arg { name: "blocked_inputs" i: 0 })"), "");
}

TEST(MemorySharingTest, BlobsThatMayNotBePlannedAreLeftOut) {
  const std::string a = R"(op { type: "Sigmoid" input: "x" output: "a" } )",
                    end = R"( op { type: "Softmax" input: "a" output: "y" })";
  EXPECT_EQ(DemandOf(a + end).planned, "a ");
  // Another value of the blob is on another device, or of unknown size, or no tensor.
  EXPECT_EQ(DemandOf(a + R"(op { type: "Sigmoid" input: "x" output: "a"
                                 device_option { device_type: 5 } })" +
                     end)
                .planned,
            "");
  EXPECT_EQ(DemandOf(a + R"(op { type: "Sigmoid" input: "z" output: "a" })" + end).planned, "");
  EXPECT_EQ(DemandOf(R"(op { type: "Int8Quantize" input: "x" output: "q" }
                        op { type: "Int8Dequantize" input: "q" output: "a" } )" +
                     end)
                .planned,
            "a ");
  // The alias is on another device.
  const auto alias = [&](const std::string& device) {
    return DemandOf(a + R"(op { type: "Alias" input: "a" output: "b" )" + device +
                    R"( } op { type: "Softmax" input: "b" output: "y" })")
        .planned;
  };
  EXPECT_EQ(alias(""), "a b ");
  EXPECT_EQ(alias("device_option { device_type: 0 }"), "a b ");
  EXPECT_EQ(alias("device_option { device_type: 5 }"), "");
  // An operator that uses blobs that it does not list may use any.
  EXPECT_EQ(DemandOf(a + R"(op { type: "MemorySharingTestUnlisted" })" + end).planned, "");
  // Both operators write the memory of a and b.
  EXPECT_EQ(DemandOf(a + R"(op { type: "Alias" input: "a" output: "b" }
                           op { type: "Sigmoid" input: "x" output: "b" }
                           op { type: "Softmax" input: "b" output: "y" })")
                .planned,
            "");
}

// The last operator that uses a blob may be one that writes it again. The shape is that of the last
// value, the size that of the largest.
TEST(MemorySharingTest, ReportsTheLastUseAndTheLargestValue) {
  const NetDef net = ParseNet(R"(external_output: "y"
      op { type: "Concat" input: "x" input: "x" output: "a" output: "split" arg { name: "axis" i: 0 } }
      op { type: "Relu" input: "a" output: "b" }
      op { type: "Relu" input: "x" output: "a" }
      op { type: "Relu" input: "b" output: "y" })");
  const MemoryReport report = ReportMemory({}, net, {{"x", FloatShape({2, 3})}}, {}, {}, 0);
  std::string text;
  for (const MemoryReport::BlobUse& blob : report.blobs) {
    text += MakeString(blob.name, " ", blob.shape, " ", blob.bytes, " ", blob.first_op, "-",
                       blob.last_op, "\n");
  }
  EXPECT_EQ(text, R"(a float [2, 3] 48 0-2
b float [4, 3] 48 1-3
y float [4, 3] 48 3-3
split int32 [2] 8 0-0
)");
  EXPECT_EQ(report.input_bytes, 24);
}

TEST(MemorySharingTest, ReportsOperatorsWhosePreparedWeightsAreNotKnown) {
  const NetDef net = ParseNet(R"(
      op { type: "Copy" input: "x" output: "x1" } op { type: "Copy" input: "x1" output: "x2" }
      op { type: "Int8Quantize" input: "x2" output: "q" }
      op { type: "Int8Conv" input: "q" input: "w" input: "b" output: "y"
           arg { name: "kernel" i: 1 } arg { name: "order" s: "NHWC" } })");
  const MemoryReport report =
      ReportMemory({}, net,
                   {{"x", FloatShape({1, 2, 2, 3})},
                    {"w", CreateTensorShape(std::vector<int64_t>{4, 1, 1, 3}, TensorProto::UINT8)},
                    {"b", CreateTensorShape(std::vector<int64_t>{4}, TensorProto::INT32)}},
                   {"w", "b"}, {}, 1);
  EXPECT_THAT(report.unknown_prepared, ElementsAre(3));
  EXPECT_EQ(report.prepared_bytes, 0);
  ASSERT_EQ(report.unknown.size(), 2u);  // quantized tensors
  EXPECT_EQ(report.unknown[0].problem, "operator 2 (Int8Quantize) infers no size for it");
  EXPECT_EQ(report.unknown[1].problem, "operator 3 (Int8Conv) infers no size for it");
}

// Given shapes precede those that the init nets infer, and every thread has scratch memory.
TEST(MemorySharingTest, ReportsGivenShapesAndTheScratchMemoryOfAllThreads) {
  const NetDef init = ParseNet(R"(
      op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 3 } }
      op { type: "ConstantFill" output: "v" arg { name: "shape" ints: 7 } })");
  const NetDef net = ParseNet(R"(op { type: "Relu" input: "w" output: "a" }
      op { type: "Relu" input: "v" output: "b" })");
  const MemoryReport report = ReportMemory({&init}, net, {{"w", FloatShape({5})}}, {}, {}, 1);
  EXPECT_EQ(report.input_bytes + report.weight_bytes, (5 + 7) * 4);
  EXPECT_EQ(report.activation_bytes, (5 + 7) * 4);
  const NetDef conv = ParseNet(R"(
      op { type: "Conv" input: "x" input: "f" output: "y" arg { name: "kernel" i: 3 } }
      op { type: "Conv" input: "x" input: "f" output: "z" arg { name: "kernel" i: 3 } })");
  const ShapeMap seeds = {{"x", FloatShape({1, 3, 8, 8})}, {"f", FloatShape({4, 3, 3, 3})}};
  const auto scratch = [&](int threads) {
    return ReportMemory({}, conv, seeds, {"f"}, {}, threads).scratch_bytes;
  };
  EXPECT_EQ(scratch(0), scratch(1));
  EXPECT_EQ(scratch(4), 4 * scratch(1));
}

}  // namespace
}  // namespace caffe2rt::memory_sharing_test
