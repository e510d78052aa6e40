#include "caffe2_core/graph/memory_demand.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/operator_test.h"

namespace caffe2rt::memory_demand_test {
namespace {

using test::ExpectThrows;
using test::ParseNet;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

OPERATOR_SCHEMA(MemoryDemandTestUser).NumInputs(1).NumOutputs(1).IdenticalTypeAndShape();

TensorShape Floats(std::vector<int64_t> dims) {
  return CreateTensorShape(dims, TensorProto::FLOAT);
}

// The names of the blobs that are planned, and of those whose sizes are not known.
struct Planned {
  std::set<std::string> planned, unknown;
  size_t placements = 0;
};
Planned PlannedBlobs(const NetDef& net, ShapeMap shapes, const std::set<std::string>& kept = {}) {
  const std::vector<OpShapes> inferred = InferOpShapes({&net}, &shapes);
  const NetDependencies blobs(net);
  const MemoryDemand demand(net, blobs, MemoryOfShapes(net, blobs, inferred), kept, inferred);
  Planned found;
  for (uint32_t blob = 0; blob < blobs.size(); ++blob) {
    if (demand.item_of(blob) != MemoryDemand::kNone) found.planned.insert(blobs.name(blob));
  }
  for (const uint32_t blob : demand.unknown()) found.unknown.insert(blobs.name(blob));
  found.placements = demand.request().placements.size();
  return found;
}

TEST(MemoryDemandTest, LeavesOutInputsAndOutputs) {
  const NetDef net = ParseNet(R"(
      op { type: "Relu" input: "x" output: "a" }
      op { type: "Relu" input: "a" output: "b" }
      op { type: "Relu" input: "b" output: "y" })");
  const ShapeMap shapes = {{"x", Floats({2, 3})}};
  EXPECT_THAT(PlannedBlobs(net, shapes).planned, UnorderedElementsAre("a", "b"));
  EXPECT_THAT(PlannedBlobs(net, shapes, {"a"}).planned, UnorderedElementsAre("b"));
}

TEST(MemoryDemandTest, LeavesOutState) {
  const NetDef net = ParseNet(R"(
      op { type: "Sum" input: "state" input: "x" output: "state" }
      op { type: "Relu" input: "state" output: "a" }
      op { type: "Relu" input: "a" output: "y" })");
  EXPECT_THAT(PlannedBlobs(net, {{"x", Floats({2})}, {"state", Floats({2})}}).planned,
              UnorderedElementsAre("a"));
}

TEST(MemoryDemandTest, LeavesOutWhatSharesMemoryWithAnOutput) {
  const NetDef net = ParseNet(R"(
      external_output: "y"
      op { type: "Relu" input: "x" output: "a" }
      op { type: "Alias" input: "a" output: "y" }
      op { type: "Relu" input: "x" output: "b" }
      op { type: "Alias" input: "b" output: "c" }
      op { type: "Relu" input: "c" output: "d" })");
  EXPECT_THAT(PlannedBlobs(net, {{"x", Floats({2})}}).planned, UnorderedElementsAre("b", "c", "d"));
}

TEST(MemoryDemandTest, LeavesOutBlobsOfUsersOperators) {
  const NetDef net = ParseNet(R"(
      op { type: "Relu" input: "x" output: "a" }
      op { type: "MemoryDemandTestUser" input: "a" output: "b" }
      op { type: "Relu" input: "b" output: "c" }
      op { type: "Relu" input: "c" output: "y" })");
  EXPECT_THAT(PlannedBlobs(net, {{"x", Floats({2})}}).planned, UnorderedElementsAre("c"));
}

TEST(MemoryDemandTest, LeavesOutBlobsOfNestedNets) {
  const NetDef net = ParseNet(R"(
      op { type: "Relu" input: "x" output: "a" }
      op { type: "Relu" input: "x" output: "b" }
      op { type: "If" input: "condition" output: "c"
           arg { name: "then_net" n { op { type: "Relu" input: "a" output: "c" } } } }
      op { type: "Sum" input: "b" input: "c" output: "d" }
      op { type: "Relu" input: "d" output: "y" })");
  EXPECT_THAT(PlannedBlobs(net, {{"x", Floats({2})}}).planned, UnorderedElementsAre("b"));
}

TEST(MemoryDemandTest, ReportsBlobsOfUnknownSize) {
  const NetDef net = ParseNet(R"(
      op { type: "Relu" input: "x" output: "a" }
      op { type: "Relu" input: "z" output: "b" }
      op { type: "Sum" input: "a" input: "b" output: "y" })");
  const Planned found = PlannedBlobs(net, {{"x", Floats({2})}});
  EXPECT_THAT(found.planned, UnorderedElementsAre("a"));
  EXPECT_THAT(found.unknown, UnorderedElementsAre("b"));
}

TEST(MemoryDemandTest, CountsChannelBlocksOnIdeep) {
  const NetDef net = ParseNet(R"(
      op { type: "Relu" input: "x" output: "a" device_option { device_type: 5 } }
      op { type: "Relu" input: "a" output: "y" device_option { device_type: 5 } })");
  ShapeMap shapes = {{"x", Floats({2, 3, 5, 5})}};
  const std::vector<OpShapes> inferred = InferOpShapes({&net}, &shapes);
  const NetBlobs blobs(net);
  // 2 * 16 * 5 * 5 floats
  EXPECT_EQ(MemoryOfShapes(net, blobs, inferred)[blobs.Find("a")].bytes, 3200);
}

TEST(MemoryDemandTest, PlacesPartsOnlyIfTheyAreContiguous) {
  const auto placements = [](std::vector<int64_t> dims, int axis) {
    return PlannedBlobs(ParseNet(MakeString(R"(
        op { type: "Conv" input: "x" input: "w" output: "a" arg { name: "kernel" i: 1 } }
        op { type: "Conv" input: "x" input: "w" output: "b" arg { name: "kernel" i: 1 } }
        op { type: "Concat" input: "a" input: "b" output: "c" output: "i"
             arg { name: "axis" i: )",
                                            axis, R"( } }
        op { type: "MaxPool" input: "c" output: "y" arg { name: "kernel" i: 1 } })")),
                        {{"x", Floats(dims)}, {"w", Floats({16, dims[1], 1, 1})}})
        .placements;
  };
  EXPECT_EQ(placements({1, 4, 2, 2}, 1), 2u);
  EXPECT_EQ(placements({2, 4, 2, 2}, 1), 0u);
  EXPECT_EQ(placements({2, 4, 2, 2}, 0), 2u);
}

// What is joined and the whole may be one blob: it is no part of itself.
TEST(MemoryDemandTest, PlacesNothingInItself) {
  const auto placements = [](const std::string& join) {
    return PlannedBlobs(ParseNet(MakeString(R"(
        op { type: "Relu" input: "x" output: "a" } op { type: "Relu" input: "x" output: "b" }
        op { )",
                                            join, R"( } op { type: "Relu" input: "a" output: "y" }
        op { type: "Sum" input: "b" output: "z" })")),
                        {{"x", Floats({16, 4})}, {"none", Floats({0, 4})}})
        .placements;
  };
  const std::string rest = R"( output: "a" output: "i" arg { name: "axis" i: 0 })";
  EXPECT_EQ(placements(R"(type: "Concat" input: "a" input: "b")" + rest), 1u);  // only b
  EXPECT_EQ(placements(R"(type: "Concat" input: "b" input: "a")" + rest), 1u);
  EXPECT_EQ(placements(R"(type: "Concat" input: "a" input: "none")" + rest), 0u);
}

// 2 * 32 * 9 bytes of bf16 for each part, if both parts and the whole are in it.
TEST(MemoryDemandTest, HalvesWhatIsJoinedInBf16) {
  const auto sizes = [](const std::string& a, const std::string& c) {
    const auto op = [](const std::string& text, const std::string& precision) {
      return "op { " + text + " arg { name: \"output_precision\" s: \"" + precision +
             "\" } device_option { device_type: 5 } } ";
    };
    const NetDef net = ParseNet(
        op(R"(type: "MaxPool" input: "x" output: "a" arg { name: "kernel" i: 1 })", a) +
        op(R"(type: "MaxPool" input: "x" output: "b" arg { name: "kernel" i: 1 })", "bf16") +
        op(R"(type: "Concat" input: "a" input: "b" output: "c" output: "i")", c) +
        op(R"(type: "MaxPool" input: "c" output: "y" arg { name: "kernel" i: 1 })", "bf16"));
    ShapeMap shapes = {{"x", Floats({1, 32, 3, 3})}};
    const std::vector<OpShapes> inferred = InferOpShapes({&net}, &shapes);
    const NetDependencies blobs(net);
    const std::vector<BlobMemory> memory = MemoryOfShapes(net, blobs, inferred);
    std::vector<int64_t> found;
    for (const char* name : {"a", "b", "c", "y"}) found.push_back(memory[blobs.Find(name)].bytes);
    const MemoryDemand demand(net, blobs, memory, {}, inferred);
    for (const MemoryPlacement& placement : demand.request().placements) {
      found.push_back(static_cast<int64_t>(placement.offset));
    }
    return found;
  };
  EXPECT_THAT(sizes("bf16", "bf16"), ElementsAre(576, 576, 1152, 2304, 0, 576));
  EXPECT_THAT(sizes("f32", "f32"), ElementsAre(1152, 1152, 2304, 2304, 0, 1152));
  // A part in float is larger than its place.
  EXPECT_THAT(sizes("f32", "bf16"), ElementsAre(1152, 576, 1152, 2304, 0, 576));
  EXPECT_THAT(sizes("bf16", "int8"), ElementsAre(1152, 1152, 2304, 2304));
}

TEST(MemoryDemandTest, RejectsSizesThatOverflow) {
  const NetDef net = ParseNet(R"(
      name: "n"
      op { type: "Concat" input: "x" input: "x" output: "huge" output: "i" }
      op { type: "Relu" input: "huge" output: "y" })");
  ShapeMap shapes = {{"x", Floats({int64_t{1} << 40, int64_t{1} << 21})}};
  const std::vector<OpShapes> inferred = InferOpShapes({&net}, &shapes);
  const NetBlobs blobs(net);
  ExpectThrows([&] { (void)MemoryOfShapes(net, blobs, inferred); }, "the size of blob \"huge\"");
}

// An operator without a device option is on the device of its net.
TEST(MemoryDemandTest, SizesAndItemsAreThoseOfTheDevice) {
  const auto memory_of = [](const std::string& net_device, const std::string& op_device) {
    const NetDef net = ParseNet(net_device + R"( op { type: "Relu" input: "x" output: "a" )" +
                                op_device + R"( } op { type: "Relu" input: "a" output: "y" })");
    ShapeMap shapes = {{"x", Floats({2, 3, 5, 5})}};
    const std::vector<OpShapes> inferred = InferOpShapes({&net}, &shapes);
    const NetDependencies blobs(net);
    const std::vector<BlobMemory> memory = MemoryOfShapes(net, blobs, inferred);
    const MemoryDemand demand(net, blobs, memory, {}, inferred);
    const BlobMemory& a = memory[blobs.Find("a")];
    const uint32_t item = demand.item_of(blobs.Find("a"));
    std::string text = MakeString(a.bytes, " on ", a.device_type);
    if (item != MemoryDemand::kNone) {
      text += MakeString(", item of ", demand.request().items[item].bytes, " on ",
                         static_cast<int>(demand.device_of(item)), " for ",
                         blobs.name(demand.root_of(item)));
    }
    return text;
  };
  const std::string ideep = "device_option { device_type: 5 }",
                    cpu = "device_option { device_type: 0 }",
                    gpu = "device_option { device_type: 1 }";
  EXPECT_EQ(memory_of("", ""), "600 on 0, item of 600 on 0 for a");
  EXPECT_EQ(memory_of(ideep, ""), "3200 on 5, item of 3200 on 5 for a");
  EXPECT_EQ(memory_of(ideep, cpu), "600 on 0, item of 600 on 0 for a");
  EXPECT_EQ(memory_of("", ideep), "3200 on 5, item of 3200 on 5 for a");
  EXPECT_EQ(memory_of("", gpu), "600 on 1");
  EXPECT_EQ(memory_of(gpu, ""), "600 on 1");
  // An operator that states another option is on the device of the net.
  const std::string seed = "device_option { random_seed: 3 }";
  EXPECT_EQ(memory_of(ideep, seed), "3200 on 5, item of 3200 on 5 for a");
  EXPECT_EQ(memory_of(gpu, seed), "600 on 1");
}

TEST(MemoryDemandTest, LeavesOutWhatHasNoBytes) {
  const NetDef net = ParseNet(R"(
      op { type: "Relu" input: "x" output: "a" }
      op { type: "Relu" input: "a" output: "b" }
      op { type: "Relu" input: "z" output: "c" }
      op { type: "Sum" input: "c" output: "y" })");
  const Planned found = PlannedBlobs(net, {{"x", Floats({0, 3})}, {"z", Floats({1})}});
  EXPECT_THAT(found.planned, UnorderedElementsAre("c"));
  EXPECT_THAT(found.unknown, IsEmpty());
}

// An operator that changes its inputs without listing them as outputs, or uses them at once with
// others, may keep their memory.
TEST(MemoryDemandTest, LeavesOutInputsThatAreModifiedOrSynchronized) {
  for (const char* reader : {R"(type: "Load" input: "a" output: "w")",
                             R"(type: "CloneCommonWorld" input: "a" output: "w")",
                             R"(type: "EnqueueBlobs" input: "a" input: "c" output: "c")"}) {
    const NetDef net = ParseNet(MakeString(R"(
        op { type: "Relu" input: "x" output: "a" }
        op { type: "Relu" input: "x" output: "b" }
        op { type: "Relu" input: "x" output: "c" }
        op { )",
                                           reader, R"( }
        op { type: "Relu" input: "b" output: "y" })"));
    const std::set<std::string> planned = PlannedBlobs(net, {{"x", Floats({2})}}).planned;
    EXPECT_FALSE(planned.contains("a")) << reader;
    EXPECT_TRUE(planned.contains("b")) << reader;
  }
}

// Nothing is planned if an operator may use any blob, or has invalid arguments, so that it is not known.
TEST(MemoryDemandTest, PlansNothingNextToOperatorsThatUseAnyBlob) {
  const auto planned = [](const std::string& args) {
    return PlannedBlobs(ParseNet(MakeString(R"(
        op { type: "Relu" input: "x" output: "a" }
        op { type: "Load" output: "w" )",
                                            args, R"( }
        op { type: "Relu" input: "a" output: "y" })")),
                        {{"x", Floats({2})}})
        .planned;
  };
  EXPECT_THAT(planned(""), UnorderedElementsAre("a"));
  EXPECT_THAT(planned(R"(arg { name: "load_all" i: 0 })"), UnorderedElementsAre("a"));
  EXPECT_THAT(planned(R"(arg { name: "load_all" i: 1 })"), IsEmpty());
  EXPECT_THAT(planned(R"(arg { name: "load_all" s: "yes" })"), IsEmpty());
}

// The operators that write and read each item, and the placements, as text.
std::string RequestText(const std::string& text, ShapeMap shapes,
                        const std::set<uint32_t>& without = {}) {
  const NetDef net = ParseNet(text);
  const std::vector<OpShapes> inferred = InferOpShapes({&net}, &shapes);
  const NetDependencies blobs(net);
  const MemoryDemand demand(net, blobs, MemoryOfShapes(net, blobs, inferred), {}, inferred,
                            without);
  const auto name = [&](uint32_t item) { return blobs.name(demand.root_of(item)); };
  std::string found;
  for (uint32_t i = 0; i < demand.request().items.size(); ++i) {
    found += name(i) + " written";
    for (const uint32_t op : demand.request().items[i].writes) found += MakeString(" ", op);
    found += " read";
    for (const uint32_t op : demand.request().items[i].reads) found += MakeString(" ", op);
    found += "; ";
  }
  using Kind = MemoryPlacement::Kind;
  for (const MemoryPlacement& p : demand.request().placements) {
    found += MakeString(p.kind == Kind::kJoin    ? "join "
                        : p.kind == Kind::kSplit ? "split "
                                                 : "in place ",
                        p.op, " ", name(p.inner), " in ", name(p.outer), " at ", p.offset,
                        p.may_copy ? " or copied" : "", "; ");
  }
  return found;
}

TEST(MemoryDemandTest, OutputsMayTakeThePlaceOfInputsOfTheSameSize) {
  const ShapeMap shapes = {{"x", Floats({2, 3})}, {"w", Floats({5, 3})}, {"v", Floats({5})}};
  const std::string begin = R"(op { type: "Tanh" input: "x" output: "a" }
                               op { type: "Tanh" input: "x" output: "b" } )",
                    end = R"( op { type: "Tanh" input: "c" output: "y" })";
  const std::string ab = "a written 0 read 2; b written 1 read 2; c written 2 read 3; ";
  EXPECT_EQ(
      RequestText(begin + R"(op { type: "Add" input: "a" input: "b" output: "c" })" + end, shapes),
      ab + "in place 2 c in a at 0; in place 2 c in b at 0; ");
  // Only the first input of Sum.
  EXPECT_EQ(
      RequestText(begin + R"(op { type: "Sum" input: "a" input: "b" output: "c" })" + end, shapes),
      ab + "in place 2 c in a at 0; ");
  // A blob that is read twice. What nothing reads is an output of the net, which is not planned.
  EXPECT_EQ(
      RequestText(begin + R"(op { type: "Mul" input: "a" input: "a" output: "c" })" + end, shapes),
      "a written 0 read 2; c written 2 read 3; ");
  // Another size; another device.
  EXPECT_EQ(
      RequestText(begin + R"(op { type: "FC" input: "a" input: "w" input: "v" output: "c" })" + end,
                  shapes),
      "a written 0 read 2; c written 2 read 3; ");
  EXPECT_EQ(RequestText(begin + R"(op { type: "Relu" input: "a" output: "c"
                                        device_option { device_type: 5 } })" +
                            end,
                        shapes),
            "a written 0 read 2; c written 2 read 3; ");
  // In place already.
  EXPECT_EQ(RequestText(R"(op { type: "Tanh" input: "x" output: "c" }
                           op { type: "Relu" input: "c" output: "c" })" +
                            end,
                        shapes),
            "c written 0 1 read 1 2; ");
}

// An operator on IDEEP with channels last has no contiguous parts, unless it joins in blocks.
TEST(MemoryDemandTest, PartsOnIdeepNeedBlocks) {
  const auto placements = [](const std::string& layout, const std::string& join,
                             const std::set<uint32_t>& without = {}) {
    const std::string ideep = "device_option { device_type: 5 } } ";
    const std::string text = RequestText(
        R"(op { type: "MaxPool" input: "x" output: "a" arg { name: "kernel" i: 1 } )" + layout +
            ideep + R"(op { type: "MaxPool" input: "x" output: "b" arg { name: "kernel" i: 1 } )" +
            ideep + R"(op { type: "Concat" input: "a" input: "b" output: "c" output: "i" )" + join +
            ideep + R"(op { type: "MaxPool" input: "c" output: "y" arg { name: "kernel" i: 1 } )" +
            ideep,
        {{"x", Floats({1, 32, 3, 3})}}, without);
    return text.find("join") == std::string::npos ? std::string() : text.substr(text.find("join"));
  };
  const std::string joined = "join 2 a in c at 0 or copied; join 2 b in c at 1152 or copied; ";
  EXPECT_EQ(placements("", ""), joined);
  const std::string nhwc = R"(arg { name: "layout" s: "nhwc" } )";
  EXPECT_EQ(placements(R"(arg { name: "layout" s: "nChw16c" } )", ""), joined);
  EXPECT_EQ(placements(nhwc, ""), "");
  EXPECT_EQ(placements(nhwc, R"(arg { name: "blocked_inputs" i: 0 } )"), "");
  EXPECT_EQ(placements(nhwc, R"(arg { name: "blocked_inputs" i: -1 } )"), "");
  // The first input is in blocks, then both are.
  EXPECT_EQ(placements(nhwc, R"(arg { name: "blocked_inputs" i: 1 } )"),
            "join 2 a in c at 0 or copied; ");
  EXPECT_EQ(placements(nhwc, R"(arg { name: "blocked_inputs" i: 2 } )"), joined);
  EXPECT_EQ(placements("", "", {2}), "");
  EXPECT_EQ(placements("", "", {0, 1, 3}), joined);
}

TEST(MemoryDemandTest, ControlInputsAreReads) {
  EXPECT_EQ(RequestText(R"(op { type: "Tanh" input: "x" output: "b" }
                           op { type: "Tanh" input: "b" output: "c" }
                           op { type: "Tanh" input: "c" output: "d" control_input: "b" }
                           op { type: "Tanh" input: "d" output: "y" })",
                        {{"x", Floats({2, 3})}}),
            "b written 0 read 1 2; c written 1 read 2; d written 2 read 3; "
            "in place 1 c in b at 0; in place 2 d in c at 0; ");
}

// With 16 channels, a value has as many bytes on IDEEP as on the CPU.
TEST(MemoryDemandTest, NothingIsInPlaceOfIdeep) {
  const std::string ideep = " device_option { device_type: 5 }";
  const auto in_place = [](const std::string& first, const std::string& second) {
    return RequestText(R"(op { type: "Relu" input: "x" output: "a")" + first +
                           R"( } op { type: "Relu" input: "a" output: "c")" + second +
                           R"( } op { type: "Tanh" input: "c" output: "y" })",
                       {{"x", Floats({2, 16})}})
               .find("in place 1 c in a") != std::string::npos;
  };
  EXPECT_TRUE(in_place("", ""));
  EXPECT_FALSE(in_place(ideep, ""));
  EXPECT_FALSE(in_place("", ideep));
}

// ConvFusion adds in place only if both are the same blob.
TEST(MemoryDemandTest, AddedTensorsAreNotGivenAway) {
  const std::string text =
      RequestText(R"(
      op { type: "Conv" input: "x" input: "w" output: "a" arg { name: "kernel" i: 1 } }
      op { type: "Conv" input: "x" input: "w" output: "e" arg { name: "kernel" i: 1 } }
      op { type: "ConvFusion" input: "e" input: "w" input: "a" output: "c"
           arg { name: "kernel" i: 1 } arg { name: "sum" i: 1 } }
      op { type: "Tanh" input: "c" output: "y" })",
                  {{"x", Floats({1, 16, 2, 2})}, {"w", Floats({16, 16, 1, 1})}});
  EXPECT_EQ(text, "a written 0 read 2; e written 1 read 2; c written 2 read 3; ");
}

}  // namespace
}  // namespace caffe2rt::memory_demand_test
