// Details of whole nets that show with several queues, devices, nets or lists only: the order of
// operators, the devices of blobs, what is counted, and what is stated later.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/backward_pass.h"
#include "caffe2_core/graph/created_databases.h"
#include "caffe2_core/graph/dependencies.h"
#include "caffe2_core/graph/device_copies.h"
#include "caffe2_core/graph/device_fallback.h"
#include "caffe2_core/graph/element_types.h"
#include "caffe2_core/graph/nested_nets.h"
#include "caffe2_core/graph/net_summary.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/graph/shared_memory.h"
#include "caffe2_core/graph/stated_inputs.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::net_details_test {
namespace {

using test::ExpectRefusals;
using test::ParseNet;
using test::ParseOp;
using ::testing::ElementsAre;
using ::testing::Pair;

OPERATOR_SCHEMA(NetDetailsShares)
    .NumInputs(1, 2)
    .NumOutputs(1, 4)
    .OutputSharesInput(0, 3)
    .OutputSharesInput(1, 0);
OPERATOR_SCHEMA(NetDetailsWhere).DeviceInferenceFunction([](const OperatorDef& def) {
  const DeviceOption cpu, own = def.device_option();
  const Argument* const where = GetArgumentPtr(def, "where");
  return std::pair(std::vector<DeviceOption>(static_cast<size_t>(def.input_size()), own),
                   std::vector<DeviceOption>(
                       static_cast<size_t>(def.output_size()),
                       where != nullptr && where->s() == "the outputs are on the CPU" ? cpu : own));
});
// Output 0 is int32, output 1 of the type of the input, which is not int64.
OPERATOR_SCHEMA(NetDetailsTypes)
    .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
      CAFFE_ENFORCE(def.name() != "strict" || in[0].data_type() != TensorProto::INT64, "int64");
      return std::vector<TensorShape>{
          CreateTensorShape(std::vector<int64_t>{1}, TensorProto::INT32), in[0]};
    });
OPERATOR_SCHEMA(NetDetailsUnknown);

using Predecessors = std::vector<std::vector<uint32_t>>;
Predecessors PredecessorsOf(const std::string& text) {
  const NetDef net = ParseNet(text);
  const NetDependencies blobs(net);
  Predecessors all;
  for (size_t op = 0; op < blobs.num_operators(); ++op) {
    all.emplace_back(blobs.predecessors(op).begin(), blobs.predecessors(op).end());
  }
  return all;
}

// A record may have several fields. Taking waits for no operator that puts.
TEST(NetDetailsTest, QueuesOfLongRecordsKeepTheirOrderToo) {
  EnsureBuiltinOperators();
  const std::string put = R"(op { type: "EnqueueBlobs" input: "q" input: "a" input: "b" input: "c"
                                  output: "a" output: "b" output: "c" } )",
                    take = R"(op { type: "DequeueBlobs" input: "q" output: "d" output: "e"
                                   output: "f" output: "g" } )",
                    close = R"(op { type: "CloseBlobsQueue" input: "q" } )";
  EXPECT_EQ(PredecessorsOf(put + take + put + take + close), (Predecessors{{}, {}, {0}, {1}, {2}}));
}

// A nested net uses two queues: each keeps its order.
TEST(NetDetailsTest, AllQueuesOfANestedNetKeepTheirOrder) {
  EnsureBuiltinOperators();
  const auto take = [](const std::string& queue, const std::string& to) {
    return "op { type: \"DequeueBlobs\" input: \"" + queue + "\" output: \"" + to + "\" } ";
  };
  EXPECT_EQ(
      PredecessorsOf(take("q", "a") + take("r", "b") + take("s", "c") +
                     R"(op { type: "If" input: "c0" arg { name: "then_net" n { )" + take("q", "d") +
                     take("r", "e") + " } } } " + take("r", "f") + take("q", "g") + take("s", "h")),
      (Predecessors{{}, {}, {}, {0, 1}, {3}, {3}, {2}}));
}

TEST(NetDetailsTest, AllThatANestedNetWritesKeepsItsOrder) {
  EnsureBuiltinOperators();
  std::string reads, inner;
  for (const char* name : {"a", "b", "c", "d"}) {
    reads += MakeString("op { type: \"Relu\" input: \"", name, "\" output: \"r", name, "\" } ");
    inner += MakeString("op { type: \"Relu\" input: \"x\" output: \"", name, "\" } ");
  }
  EXPECT_EQ(PredecessorsOf(reads + R"(op { type: "If" input: "c0" arg { name: "then_net" n { )" +
                           inner + " } } } " + reads),
            (Predecessors{{}, {}, {}, {}, {0, 1, 2, 3}, {0, 4}, {1, 4}, {2, 4}, {3, 4}}));
}

// What uses files keeps its order, but not with messages. Print may do both.
TEST(NetDetailsTest, FilesAndOutputAreOrdersOfTheirOwn) {
  EnsureBuiltinOperators();
  const std::string exists = R"(op { type: "DBExists" output: "e" arg { name: "db_name" s: "d" }
                                     arg { name: "db_type" s: "minidb" } } )",
                    message = R"(op { type: "Assert" input: "x" } )",
                    file = R"(op { type: "Print" input: "x" arg { name: "to_file" i: 1 } } )";
  EXPECT_EQ(PredecessorsOf(exists + message + exists + message), (Predecessors{{}, {}, {0}, {1}}));
  EXPECT_EQ(PredecessorsOf(exists + message + file), (Predecessors{{}, {}, {0, 1}}));
}

// The shared output stands before the input among the blobs of the net.
TEST(NetDetailsTest, SharedBlobsAreListedInAnyOrder) {
  EnsureBuiltinOperators();
  const NetDef net = ParseNet(R"(op { type: "Relu" input: "b" output: "c" }
      op { type: "Alias" input: "a" output: "b" } op { type: "Alias" input: "c" output: "d" })");
  const NetDependencies blobs(net);  // b c a d
  EXPECT_THAT(blobs.same_memory(), ElementsAre(Pair(2, 0), Pair(1, 3)));
  EXPECT_EQ(blobs.memory(0), blobs.memory(2));
}

// Output 3 is missing, and so is what it shares; output 0 is there.
TEST(NetDetailsTest, PairsAfterAMissingOneCount) {
  const OperatorDef def =
      ParseOp(R"(type: "NetDetailsShares" input: "a" input: "b" output: "c" output: "d")");
  EXPECT_THAT(SharedNamesOf(def), ElementsAre(Pair("b", "c")));
  OperatorDef whole = def;
  whole.add_output("e");
  whole.add_output("f");
  EXPECT_THAT(SharedNamesOf(whole), ElementsAre(Pair("a", "f"), Pair("b", "c")));
}

std::vector<std::string> OperatorLines(const NetDef& net) {
  std::vector<std::string> lines;
  for (const OperatorDef& op : net.op()) {
    std::string line = op.type() + "(";
    for (const std::string& input : op.input()) line += (line.back() == '(' ? "" : " ") + input;
    line += ") ->";
    for (const std::string& output : op.output()) line += " " + output;
    lines.push_back(line);
  }
  return lines;
}

// Its newest value is on the CPU and on GPU 1.
TEST(NetDetailsTest, ABlobWithCopiesReturnsToItsOwnDevice) {
  const NetDef net = InjectCrossDeviceCopies(ParseNet(R"(external_output: "a"
      op { type: "ConstantFill" output: "a" device_option { device_type: 1 device_id: 2 } }
      op { type: "Relu" input: "a" output: "a" }
      op { type: "Relu" input: "a" output: "b" device_option { device_type: 1 device_id: 1 } })"));
  EXPECT_THAT(OperatorLines(net),
              ElementsAre("ConstantFill() -> a", "CopyGPUToCPU(a) -> a_cpu", "Relu(a_cpu) -> a_cpu",
                          "CopyCPUToGPU(a_cpu) -> a_gpu_1", "Relu(a_gpu_1) -> b",
                          "CopyCPUToGPU(a_cpu) -> a"));
  EXPECT_EQ(net.op(5).device_option().device_id(), 2);
}

TEST(NetDetailsTest, AllNetsKnowTheDevicesOfTheCallersBlobs) {
  BlobDevices blobs;
  DeviceOption gpu;
  gpu.set_device_type(1);
  gpu.set_device_id(1);
  blobs.Place("x", gpu);
  const NetDef net = ParseNet(R"(op { type: "Relu" input: "x" output: "y" })");
  for (const NetDef& copied : InjectDeviceCopiesAmongNets({net, net, net}, &blobs)) {
    EXPECT_EQ(OperatorLines(copied).back(), "Relu(x_cpu) -> y");
  }
  EXPECT_TRUE(blobs.Knows("y"));
}

TEST(NetDetailsTest, BlobsMoveToNoDeviceUnlessTheyMay) {
  const auto inject = [](int from, int to, bool may) {
    return [=] {
      const auto fill = [](int device) {
        return MakeString(R"(op { type: "ConstantFill" output: "a" device_option { device_type: )",
                          device, " } } ");
      };
      (void)InjectCrossDeviceCopies(ParseNet("name: 'n' " + fill(from) + fill(to)), nullptr,
                                    {.may_move_blobs = may});
    };
  };
  const auto message = [](const char* to, const char* from) {
    return MakeString("net \"n\", operator 1 (ConstantFill): output \"a\" is written on ", to,
                      ", but the blob is on ", from,
                      ": rename the output, or write it on that device and copy it");
  };
  ExpectRefusals({{inject(0, 1, false), message("CUDA 0", "CPU")},
                  {inject(1, 0, false), message("CPU", "CUDA 0")},
                  {inject(0, 1, true), "(nothing was thrown)"},
                  {inject(1, 0, true), "(nothing was thrown)"},
                  {inject(1, 1, false), "(nothing was thrown)"}});
}

TEST(NetDetailsTest, DevicesMayDependOnLongArguments) {
  EnsureBuiltinOperators();
  const auto several = [](const std::string& where) {
    return HasSeveralDevices(ParseNet(
        R"(op { type: "NetDetailsWhere" input: "x" output: "y" device_option { device_type: 1 }
                arg { name: "where" s: ")" +
        where + "\" } }"));
  };
  EXPECT_TRUE(several("the outputs are on the CPU"));
  EXPECT_FALSE(several("the outputs are on the GPU"));
  DeviceOption ideep;
  ideep.set_device_type(5);
  ideep.set_device_id(1);
  EXPECT_EQ(PlaceOf(ideep), (DevicePlace{.type = 5, .id = 1}));
}

TEST(NetDetailsTest, CopiesInNestedNetsBecomeCopiesOfTheCpu) {
  NetDef net = ParseNet(R"(op { type: "If" arg { name: "then_net" n {
      op { type: "CopyCPUToGPU" input: "a" output: "b" } } }
      arg { name: "nets" nets { op { type: "CopyGPUToCPU" input: "b" output: "c" } } } })");
  FallBackToCPU(&net);
  EXPECT_EQ(net.op(0).arg(0).n().op(0).type(), "Copy");
  EXPECT_EQ(net.op(0).arg(1).nets(0).op(0).type(), "Copy");
}

// The type of each output is that of later inputs, and nothing is stated that not all types allow.
TEST(NetDetailsTest, TypesOfAllOutputsAreHandedOn) {
  EnsureBuiltinOperators();
  const NetDef net = ParseNet(R"(
      op { type: "Cast" input: "x" output: "a" arg { name: "to" i: 9 } }
      op { type: "NetDetailsTypes" input: "a" output: "b" output: "c" }
      op { type: "Negative" input: "b" output: "d" } op { type: "Negative" input: "c" output: "e" })");
  std::vector<OpShapes> ops(4);
  ShapeMap shapes;
  StateElementTypes(net, &ops, &shapes);
  EXPECT_EQ(ops[2].outputs[0].data_type(), TensorProto::INT32);
  EXPECT_EQ(ops[3].outputs[0].data_type(), TensorProto::INT16);
  EXPECT_EQ(shapes.size(), 5u);
  const auto types = [](const std::string& name, const TensorShape& input) {
    return InferElementTypes(ParseOp("type: 'NetDetailsTypes' input: 'x' output: 'y' output: 'z' "
                                     "name: '" +
                                     name + "'"),
                             {input});
  };
  using Types = std::vector<TensorProto::DataType>;
  EXPECT_EQ(types("", UnknownShape()), (Types{TensorProto::INT32, TensorProto::UNDEFINED}));
  EXPECT_EQ(types("strict", UnknownShape()), Types());
  TensorShape scalar = CreateTensorShape(std::vector<int64_t>{}, TensorProto::BOOL);
  EXPECT_EQ(types("strict", scalar), (Types{TensorProto::INT32, TensorProto::BOOL}));
}

TEST(NetDetailsTest, TheLastDeclarationOfADatabaseHolds) {
  for (const char* type : {"first", "second"}) {
    DeclareCreatedDatabase("NetDetailsSaves", [type](const OperatorDef&) {
      return CreatedDatabase{.type = type, .path = "p"};
    });
    EXPECT_EQ(FindCreatedDatabase(ParseOp(R"(type: "NetDetailsSaves")"))->type, type);
  }
}

TEST(NetDetailsTest, DimsWithoutATypeHideNoOthers) {
  const NetDef net = ParseNet(R"(arg { name: "input_dims:a" ints: 2 }
      arg { name: "input_type:b" i: 1 } arg { name: "input_dims:b" ints: 3 }
      arg { name: "output_dims:c" ints: -2 } arg { name: "output_dims:d" ints: 4 })");
  const auto inputs = StatedInputs(net);
  ASSERT_EQ(inputs.size(), 1u);
  EXPECT_THAT(inputs.at("b").dims, ElementsAre(3));
  EXPECT_THAT(StatedOutputs(net), ElementsAre(Pair("d", ElementsAre(4))));
}

// An output with another name stands before the gradient.
TEST(NetDetailsTest, GradientsAfterOtherOutputsHaveTheirShapes) {
  EnsureBuiltinOperators();
  const NetDef net = ParseNet(R"(op { type: "NetDetailsUnknown" input: "x" output: "other"
      output: "x_grad" output: "_grad" output: "y_grad" is_gradient_op: true })");
  ShapeMap shapes = {{"x", CreateTensorShape(std::vector<int64_t>{2, 3}, TensorProto::FLOAT)},
                     {"y", CreateTensorShape(std::vector<int64_t>{5}, TensorProto::FLOAT)}};
  InferBlobShapesAndTypes({&net}, &shapes);
  EXPECT_TRUE(shapes.at("other").unknown_shape());
  EXPECT_THAT(GetDimsVector(shapes.at("x_grad")), ElementsAre(2, 3));
  EXPECT_TRUE(shapes.at("_grad").unknown_shape());
  EXPECT_THAT(GetDimsVector(shapes.at("y_grad")), ElementsAre(5));
}

// Fields that are stated override, also with the value that they have by default.
TEST(NetDetailsTest, StatedDefaultsOfDevicesOverrideOthers) {
  const auto option = [](const std::string& text) {
    return ParseOp("device_option { " + text + " }").device_option();
  };
  const DeviceOption base =
      option("device_type: 1 device_id: 2 random_seed: 3 node_name: 'n' numa_node_id: 4");
  for (const char* field :
       {"device_type: 0", "device_id: 0", "random_seed: 0", "node_name: ''", "numa_node_id: -1"}) {
    const DeviceOption merged = MergeDeviceOption(base, option(field));
    const std::string name(field, std::string(field).find(':'));
    EXPECT_EQ(merged.device_type(), name == "device_type" ? 0 : 1) << field;
    EXPECT_EQ(merged.device_id(), name == "device_id" ? 0 : 2) << field;
    EXPECT_EQ(merged.random_seed(), name == "random_seed" ? 0u : 3u) << field;
    EXPECT_EQ(merged.node_name(), name == "node_name" ? "" : "n") << field;
    EXPECT_EQ(merged.numa_node_id(), name == "numa_node_id" ? -1 : 4) << field;
  }
}

// A single value is no list, and a list no single value.
TEST(NetDetailsTest, FieldsOfArgumentsAreNotConfused) {
  const OperatorDef op = ParseOp(R"(arg { name: "strings" strings: "a" } arg { name: "net" n { } }
      arg { name: "text" s: "a" } arg { name: "nets" nets { } nets { } })");
  const ArgumentHelper args(op);
  EXPECT_TRUE(args.GetRepeatedArgument<NetDef>("net").empty());
  EXPECT_EQ(args.GetRepeatedArgument<NetDef>("nets").size(), 2u);
  EXPECT_TRUE(args.GetRepeatedArgument<std::string>("text").empty());
  EXPECT_FALSE(args.HasSingleArgumentOfType<std::string>("strings"));
  EXPECT_FALSE(args.HasSingleArgumentOfType<NetDef>("nets"));
  ExpectRefusals({{[&] { (void)args.GetSingleArgument<std::string>("strings", ""); },
                   "Argument strings does not have the right field: expected field s"},
                  {[&] { (void)args.GetSingleArgument<NetDef>("nets", NetDef()); },
                   "Argument nets does not have the right field: expected field n"},
                  {[] {
                     const OperatorDef unnamed = ParseOp("type: 'T' arg { i: 1 } arg { i: 2 }");
                     const ArgumentHelper helper(unnamed);
                   },
                   "Found argument of the same name  but with different contents in operator of "
                   "type \"T\""}});
}

// The third net in each other reads what the operator around them writes.
TEST(NetDetailsTest, ReadsAreRenamedInEveryNet) {
  OperatorDef op = ParseOp(R"(type: "If" output: "y" arg { name: "then_net" n {
      op { type: "Relu" input: "x" output: "y" }
      op { type: "If" arg { name: "then_net" n { op { type: "If" arg { name: "then_net" n {
        op { type: "If" arg { name: "then_net" n {
          op { type: "Relu" input: "y" output: "z" } } } } } } } } } } } })");
  RenameOutput(&op, 0, "w");
  const OperatorDef* at = &op.arg(0).n().op(1);
  for (int i = 0; i < 2; ++i) at = &at->arg(0).n().op(0);
  EXPECT_THAT(at->arg(0).n().op(0).input(), ElementsAre("w"));
}

TEST(NetDetailsTest, MultiplyAddsFollowTheOperandThatIsSummed) {
  EnsureBuiltinOperators();
  const auto floats = [](const std::vector<int64_t>& dims) {
    return CreateTensorShape(dims, TensorProto::FLOAT);
  };
  const auto count = [&](const char* op, const std::vector<int64_t>& x,
                         const std::vector<int64_t>& w, const std::vector<int64_t>& y) {
    return MultiplyAdds(ParseOp(op), {floats(x), floats(w)}, {floats(y)});
  };
  const char* const trans_b = "type: 'BatchMatMul' arg { name: 'trans_b' i: 1 }";
  EXPECT_EQ(count(trans_b, {2, 5}, {7, 5}, {2, 7}), 70);
  EXPECT_EQ(count(trans_b, {3, 2, 5}, {3, 7, 5}, {3, 2, 7}), 210);
  // Each element of X meets M * kh * kw elements of the filter, each of Y M / group * kh * kw.
  EXPECT_EQ(count("type: 'ConvTranspose'", {1, 3, 4, 4}, {3, 2, 3, 3}, {1, 2, 6, 6}), 48 * 18);
  EXPECT_EQ(count("type: 'Conv'", {1, 4, 6, 6}, {8, 2, 3, 3}, {1, 8, 4, 4}), 128 * 18);
  EXPECT_EQ(count("type: 'Conv'", {1, 4, 6, 6}, {8, 0, 3, 3}, {1, 8, 4, 4}), 0);
  EXPECT_EQ(count("type: 'Conv'", {1, 4, 6, 6}, {8, -1, 3, 3}, {1, 8, 4, 4}), 0);
}

TEST(NetDetailsTest, NetsThatReadFromOutsideFillNoWeights) {
  EnsureBuiltinOperators();
  const std::string fill =
      R"(op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 4 } } )";
  EXPECT_TRUE(
      FillsWeights(ParseNet(fill + fill + R"(op { type: "Relu" input: "w" output: "v" })")));
  EXPECT_FALSE(FillsWeights(
      ParseNet(fill + fill + R"(op { type: "Sum" input: "w" input: "x" output: "v" })")));
  // They count what they write, whatever the parameters of other nets are called.
  for (const std::set<std::string>& names :
       {std::set<std::string>(), std::set<std::string>{"w"}, std::set<std::string>{"other"}}) {
    EXPECT_EQ(SummarizeNet({}, ParseNet(fill), {}, names).parameters, 4) << names.size();
  }
}

}  // namespace
}  // namespace caffe2rt::net_details_test
