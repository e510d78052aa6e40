// Memory that must not be planned, and sizes of tensors with and without channels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "caffe2_core/graph/memory_demand.h"
#include "caffe2_core/graph/memory_plan.h"
#include "caffe2_core/graph/memory_report.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::memory_edges_test {
namespace {

using test::ParseNet;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

OPERATOR_SCHEMA(MemoryEdgesUndefined).NumOutputs(1).ScalarType(TensorProto::UNDEFINED);
OPERATOR_SCHEMA(MemoryEdgesString).NumOutputs(1).ScalarType(TensorProto::STRING);
OPERATOR_SCHEMA(MemoryEdgesHalf).NumOutputs(1).ScalarType(TensorProto::FLOAT16);

TensorShape EdgeFloats(const std::vector<int64_t>& dims) {
  return CreateTensorShape(dims, TensorProto::FLOAT);
}

struct EdgeDemand {
  std::set<std::string> planned, unknown;
  size_t joins = 0;
};
EdgeDemand EdgeDemandOf(const std::string& text, ShapeMap shapes) {
  const NetDef net = ParseNet(text);
  const std::vector<OpShapes> inferred = InferOpShapes({&net}, &shapes);
  const NetDependencies blobs(net);
  const MemoryDemand demand(net, blobs, MemoryOfShapes(net, blobs, inferred), {}, inferred);
  EdgeDemand found;
  for (uint32_t blob = 0; blob < blobs.size(); ++blob) {
    if (demand.item_of(blob) != MemoryDemand::kNone) found.planned.insert(blobs.name(blob));
  }
  for (const uint32_t blob : demand.unknown()) found.unknown.insert(blobs.name(blob));
  for (const MemoryPlacement& placement : demand.request().placements) {
    found.joins += placement.kind == MemoryPlacement::Kind::kJoin;
  }
  return found;
}

// On IDEEP, dim 1 may be stored in blocks of 16.
TEST(MemoryEdgesTest, ChannelsArePaddedOnIdeep) {
  struct Row {
    std::vector<int64_t> dims;
    int64_t bytes;
  };
  for (const Row& row : {Row{{}, 4}, Row{{3}, 12}, Row{{2, 3}, 2 * 16 * 4},
                         Row{{2, 16}, 2 * 16 * 4}, Row{{2, 17}, 2 * 32 * 4},
                         Row{{2, 3, 5}, 2 * 16 * 5 * 4}, Row{{2, 3, 5, 7}, 2 * 16 * 5 * 7 * 4},
                         Row{{1, 20, 2, 3, 4}, 32 * 24 * 4}, Row{{2, 0, 3}, 0}}) {
    const NetDef net =
        ParseNet(R"(op { type: "Relu" input: "x" output: "y" device_option { device_type: 5 } })");
    ShapeMap shapes = {{"x", EdgeFloats(row.dims)}};
    const std::vector<OpShapes> inferred = InferOpShapes({&net}, &shapes);
    const NetBlobs blobs(net);
    EXPECT_EQ(MemoryOfShapes(net, blobs, inferred)[blobs.Find("y")].bytes, row.bytes)
        << testing::PrintToString(row.dims);
  }
}

// A blob needs room for its largest value, and the first reason why a size is unknown is stated.
TEST(MemoryEdgesTest, BlobsThatAreWrittenAgainHaveTheirLargestSize) {
  const auto memory_of = [](const std::string& ops) {
    const NetDef net = ParseNet(ops);
    ShapeMap shapes;
    const std::vector<OpShapes> inferred = InferOpShapes({&net}, &shapes);
    const NetBlobs blobs(net);
    return MemoryOfShapes(net, blobs, inferred)[blobs.Find("a")];
  };
  const auto fill = [](int elements) {
    return MakeString(R"(op { type: "ConstantFill" output: "a" arg { name: "shape" ints: )",
                      elements, " } } ");
  };
  EXPECT_EQ(memory_of(fill(10) + fill(4)).bytes, 40);
  EXPECT_EQ(memory_of(fill(4) + fill(10)).bytes, 40);
  EXPECT_EQ(memory_of(fill(4) + fill(10) + fill(7)).bytes, 40);
  const std::string relu = R"(op { type: "Relu" input: "r" output: "a" } )",
                    tanh = R"(op { type: "Tanh" input: "t" output: "a" } )";
  for (const std::string& ops : {relu + fill(4), fill(4) + relu}) {
    EXPECT_EQ(memory_of(ops).bytes, BlobMemory::kUnknown);
  }
  EXPECT_EQ(memory_of(R"(op { type: "MemoryEdgesHalf" output: "a" })").bytes, 2);
  for (const char* type : {"Undefined", "String"}) {
    const BlobMemory memory =
        memory_of(MakeString("op { type: \"MemoryEdges", type, "\" output: \"a\" }"));
    EXPECT_EQ(memory.bytes, BlobMemory::kUnknown) << type;
    EXPECT_EQ(memory.problem,
              MakeString("operator 0 (MemoryEdges", type, ") infers no size for it"));
  }
  EXPECT_EQ(memory_of(relu + tanh).problem,
            "operator 0 (Relu): the shape of input \"r\" is not known");
  EXPECT_EQ(memory_of(fill(4) + tanh + relu).problem,
            "operator 1 (Tanh): the shape of input \"t\" is not known");
}

// 1 * 32 * 9 floats, halved once, however often they are joined in bf16.
TEST(MemoryEdgesTest, WhatIsJoinedSeveralTimesIsHalvedOnce) {
  const auto op = [](const std::string& text, const std::string& precision = "bf16") {
    return "op { " + text + " arg { name: \"output_precision\" s: \"" + precision +
           "\" } device_option { device_type: 5 } } ";
  };
  const std::string pool = R"(type: "MaxPool" arg { name: "kernel" i: 1 } input: "x" output: )";
  const auto join = [](const std::string& inputs, const std::string& output) {
    return R"(type: "Concat" )" + inputs + R"( output: ")" + output + R"(" output: "i")";
  };
  const std::string a_b = R"(input: "a" input: "b")";
  const auto sizes = [&](const std::string& joins) {
    const NetDef net = ParseNet(op(pool + "\"a\"") + op(pool + "\"b\"") + joins);
    ShapeMap shapes = {{"x", EdgeFloats({1, 32, 3, 3})}};
    const std::vector<OpShapes> inferred = InferOpShapes({&net}, &shapes);
    const NetBlobs blobs(net);
    const std::vector<BlobMemory> memory = MemoryOfShapes(net, blobs, inferred);
    std::vector<int64_t> found;
    for (const char* name : {"a", "b", "c", "d"}) {
      const uint32_t blob = blobs.Find(name);
      found.push_back(blob == NetBlobs::kNone ? -2 : memory[blob].bytes);
    }
    return found;
  };
  using testing::ElementsAre;
  EXPECT_THAT(sizes(""), ElementsAre(1152, 1152, -2, -2));
  EXPECT_THAT(sizes(op(join(a_b, "c"))), ElementsAre(576, 576, 1152, -2));
  EXPECT_THAT(sizes(op(join(a_b, "c")) + op(join(a_b, "d"))), ElementsAre(576, 576, 1152, 1152));
  EXPECT_THAT(sizes(op(join(R"(input: "a" input: "a")", "c"))), ElementsAre(576, 1152, 1152, -2));
  // A part of a part; and one whose whole is in float.
  EXPECT_THAT(sizes(op(join(a_b, "c")) + op(join(R"(input: "c" input: "a")", "d"))),
              ElementsAre(576, 576, 1152, 1728));
  EXPECT_THAT(sizes(op(join(a_b, "c")) + op(join(a_b, "d"), "f32")),
              ElementsAre(576, 576, 1152, 2304));
}

// On the CPU, the argument has no effect.
TEST(MemoryEdgesTest, NothingIsHalvedOnTheCpu) {
  const std::string half = R"( arg { name: "output_precision" s: "bf16" } )";
  const NetDef net = ParseNet(MakeString(
      "op { type: \"MaxPool\" input: \"x\" output: \"a\" arg { name: \"kernel\" i: 1 } ", half,
      "} op { type: \"Concat\" input: \"a\" input: \"a\" output: \"c\" output: \"i\" ", half, "}"));
  ShapeMap shapes = {{"x", EdgeFloats({1, 32, 3, 3})}};
  const std::vector<OpShapes> inferred = InferOpShapes({&net}, &shapes);
  const NetBlobs blobs(net);
  const std::vector<BlobMemory> memory = MemoryOfShapes(net, blobs, inferred);
  EXPECT_EQ(memory[blobs.Find("a")].bytes, 32 * 9 * 4);
  EXPECT_EQ(memory[blobs.Find("c")].bytes, 64 * 9 * 4);
}

// The next run reads what the net leaves in s.
TEST(MemoryEdgesTest, StateKeepsItsMemory) {
  EXPECT_THAT(EdgeDemandOf(R"(external_output: "y"
      op { type: "Relu" input: "s" output: "t" } op { type: "Tanh" input: "t" output: "s" }
      op { type: "Relu" input: "s" output: "u" } op { type: "Tanh" input: "u" output: "y" })",
                           {{"s", EdgeFloats({2})}})
                  .planned,
              UnorderedElementsAre("t", "u"));
}

// Of items of the same size, the one that is needed first is placed first.
TEST(MemoryEdgesTest, EqualItemsArePlacedInTheOrderOfTheirNeed) {
  for (const bool any_order : {false, true}) {
    MemoryRequest request{.operators = 4,
                          .items = {{64, {1}, {2}}, {64, {0}, {3}}},
                          .placements = {},
                          .predecessors = {}};
    if (any_order) request.predecessors = {{}, {0}, {1}, {2}};
    EXPECT_THAT(PlanMemory(request).offsets, testing::ElementsAre(64, 0)) << any_order;
  }
}

// Operator 1 reads item 0 and writes both items: they hold different values afterwards.
TEST(MemoryEdgesTest, AnOutputIsNotInPlaceOfAnInputThatIsWrittenToo) {
  const auto placed = [](const std::vector<uint32_t>& writes) {
    const MemoryPlan plan =
        PlanMemory({.operators = 3,
                    .items = {{64, writes, {1}}, {64, {1}, {2}}},
                    .placements = {{MemoryPlacement::Kind::kInPlace, 1, 1, 0, 0}},
                    .predecessors = {}});
    EXPECT_EQ(plan.offsets[0] == plan.offsets[1], static_cast<bool>(plan.placed[0]));
    return static_cast<bool>(plan.placed[0]);
  };
  EXPECT_TRUE(placed({0}));
  EXPECT_FALSE(placed({0, 1}));
}

// A nested net reads a, or writes it, when no operator lists it any more.
TEST(MemoryEdgesTest, BlobsOfNestedNetsKeepTheirMemory) {
  const std::string begin = R"(external_output: "y"
      op { type: "Relu" input: "x" output: "a" } op { type: "Relu" input: "a" output: "b" }
      op { type: "Tanh" input: "b" output: "d" } )";
  const std::string end = R"( op { type: "Tanh" input: "d" output: "y" })";
  const ShapeMap x = {{"x", EdgeFloats({2})}};
  EXPECT_THAT(EdgeDemandOf(begin + end, x).planned, UnorderedElementsAre("a", "b", "d"));
  for (const char* inner : {R"(op { type: "Relu" input: "a" output: "u" })",
                            R"(op { type: "Relu" input: "u" output: "a" })"}) {
    const std::string nested = std::string(R"(arg { name: "then_net" n { )") + inner + " } } }";
    EXPECT_THAT(EdgeDemandOf(begin + R"(op { type: "If" input: "c" )" + nested + end, x).planned,
                UnorderedElementsAre("b", "d"))
        << inner;
    EXPECT_THAT(EdgeDemandOf(begin + R"(op { type: "If" input: "b" )" + nested + end, x).planned,
                UnorderedElementsAre("d"))
        << inner;
  }
}

// The counter is used at once with other operators.
TEST(MemoryEdgesTest, SynchronizedOutputsKeepTheirMemory) {
  const std::string net = R"(external_output: "y"
      op { type: "ConstantFill" output: "i" arg { name: "shape" ints: 1 } arg { name: "dtype" i: 10 } }
      op { type: "Relu" input: "x" output: "a" } )";
  const std::string end = R"( op { type: "Relu" input: "a" output: "y" })";
  const ShapeMap x = {{"x", EdgeFloats({2})}};
  EXPECT_THAT(EdgeDemandOf(net + R"(op { type: "Copy" input: "i" output: "j" })" + end, x).planned,
              UnorderedElementsAre("a", "i", "j"));
  EXPECT_THAT(
      EdgeDemandOf(net + R"(op { type: "AtomicIter" input: "mutex" input: "i" output: "i" })" + end,
                   x)
          .planned,
      UnorderedElementsAre("a"));
}

// The size of a blob on a GPU is known, although the plan has no place for it.
TEST(MemoryEdgesTest, KnownSizesAreNotUnknown) {
  const EdgeDemand demand = EdgeDemandOf(R"(external_output: "y"
      op { type: "Relu" input: "x" output: "a" device_option { device_type: 1 } }
      op { type: "Relu" input: "z" output: "b" }
      op { type: "Sum" input: "a" input: "b" output: "y" })",
                                         {{"x", EdgeFloats({2})}});
  EXPECT_THAT(demand.planned, IsEmpty());
  EXPECT_THAT(demand.unknown, UnorderedElementsAre("b"));
}

// Only operators on IDEEP compute images with channels last.
TEST(MemoryEdgesTest, LayoutsOfTheCpuDoNotMatter) {
  const auto joins = [](const std::string& net_device, const std::string& device) {
    const std::string ideep = "device_option { device_type: 5 } } ";
    return EdgeDemandOf(
               net_device + R"( external_output: "y"
        op { type: "MaxPool" input: "x" output: "a" arg { name: "kernel" i: 1 } )" +
                   ideep +
                   R"(op { type: "MaxPool" input: "x" output: "b" arg { name: "kernel" i: 1 } )" +
                   ideep + R"(op { type: "Concat" input: "a" input: "b" output: "c" output: "i" )" +
                   ideep +
                   R"(op { type: "MaxPool" input: "c" output: "y" arg { name: "kernel" i: 1 }
                              arg { name: "layout" s: "nhwc" } )" +
                   device + " }",
               {{"x", EdgeFloats({1, 32, 3, 3})}})
        .joins;
  };
  EXPECT_EQ(joins("", ""), 2u);
  EXPECT_EQ(joins("", "device_option { device_type: 5 }"), 0u);
  EXPECT_EQ(joins("device_option { device_type: 5 }", ""), 0u);
  EXPECT_EQ(joins("device_option { device_type: 5 }", "device_option { random_seed: 1 }"), 0u);
  EXPECT_EQ(joins("device_option { device_type: 5 }", "device_option { device_type: 0 }"), 2u);
}

// What is in use at once needs 8 (7) blocks of 64 bytes, and there is a plan that needs no more.
// The method that places large items first needs 10 (8); without the growth of a last free block,
// the one that follows the operators would need 11 in the second case.
TEST(MemoryEdgesTest, ThePlanIsTheBetterOneOfTwoMethods) {
  struct Use {
    size_t blocks;
    uint32_t first, last;
  };
  const auto arena = [](const std::vector<Use>& uses) {
    MemoryRequest request{.operators = 6, .items = {}, .placements = {}, .predecessors = {}};
    for (const Use& use : uses) {
      request.items.push_back({64 * use.blocks, {use.first}, {}});
      if (use.last > use.first) request.items.back().reads = {use.last};
    }
    const MemoryPlan plan = PlanMemory(request);
    EXPECT_EQ(plan.arena_bytes, plan.live_bytes);
    return plan.arena_bytes / 64;
  };
  EXPECT_EQ(arena({{5, 4, 4}, {2, 3, 4}, {3, 0, 3}, {5, 0, 0}}), 8u);
  // Here it is the other way round: in the order of the operators, the last item would begin at the
  // third block.
  EXPECT_EQ(arena({{1, 0, 0}, {1, 0, 1}, {2, 1, 1}}), 3u);
  EXPECT_EQ(arena({{3, 5, 5}, {1, 5, 5}, {2, 3, 5}, {3, 2, 2}, {3, 2, 3}, {5, 4, 4}}), 7u);
}

TEST(MemoryEdgesTest, ReportsCountAtLeastOneThreadAndNoNegativeInputs) {
  const NetDef conv = ParseNet(
      R"(op { type: "ConvTranspose" input: "x" input: "f" output: "y" arg { name: "kernel" i: 3 } })");
  const ShapeMap seeds = {{"x", EdgeFloats({1, 16, 30, 30})}, {"f", EdgeFloats({16, 16, 3, 3})}};
  const auto scratch = [&](int threads) {
    return ReportMemory({}, conv, seeds, {"f"}, {}, threads).scratch_bytes;
  };
  EXPECT_GT(scratch(1), 0);
  EXPECT_EQ(scratch(0), scratch(1));
  EXPECT_EQ(scratch(-1), scratch(1));
  EXPECT_EQ(scratch(3), 3 * scratch(1));
  // Operators run one after the other, so that the largest one counts.
  const NetDef two = ParseNet(R"(
      op { type: "ConvTranspose" input: "x" input: "f" output: "y" arg { name: "kernel" i: 3 } }
      op { type: "ConvTranspose" input: "x" input: "f" output: "z" arg { name: "kernel" i: 3 } })");
  EXPECT_EQ(ReportMemory({}, two, seeds, {"f"}, {}, 1).scratch_bytes, scratch(1));
  // A net that fills weights has parameters, but no inputs.
  const NetDef fills =
      ParseNet(R"(op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 4 } })");
  const MemoryReport report = ReportMemory({}, fills, {}, {}, {}, 1);
  EXPECT_EQ(report.weight_bytes, 16);
  EXPECT_EQ(report.input_bytes, 0);
}

// What the caller gives, and what an operator computes, of unknown size.
TEST(MemoryEdgesTest, ReportsDistinguishInputsFromOtherBlobs) {
  const NetDef net = ParseNet(R"(op { type: "Relu" input: "x" output: "a" }
                                 op { type: "Sum" input: "a" input: "z" output: "y" })");
  const MemoryReport report =
      ReportMemory({}, net, {{"x", UnknownShape()}, {"z", EdgeFloats({2})}}, {}, {}, 1);
  std::vector<std::string> unknown;
  for (const auto& blob : report.unknown) {
    unknown.push_back(blob.name + (blob.is_input ? " in" : ""));
  }
  EXPECT_THAT(unknown, UnorderedElementsAre("x in", "a", "y"));
  EXPECT_EQ(report.input_bytes, 8);
}

}  // namespace
}  // namespace caffe2rt::memory_edges_test
