// Errors of arguments, gradients and sizes, whole.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/memory_demand.h"
#include "caffe2_core/graph/net_drawing.h"
#include "caffe2_core/graph/net_summary.h"
#include "caffe2_core/graph/shape_inference.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::graph_refusals_test {
namespace {

using test::ExpectRefusals;
using test::ParseNet;
using test::ParseOp;

TEST(GraphRefusalsTest, OfArguments) {
  const OperatorDef op = ParseOp(R"(type: "Op" name: "o" arg { name: "f" f: 1.5 }
    arg { name: "i" i: 300 } arg { name: "n" i: -1 } arg { name: "s" s: "text" }
    arg { name: "net" n { name: "a" } } arg { name: "ints" ints: 400 ints: 128 }
    arg { name: "bad" s: "\377" } arg { name: "bads" strings: "" strings: "\377" })");
  const ArgumentHelper args(op);
  const OperatorDef other = ParseOp(R"(type: "Op" arg { name: "a" i: 1 } arg { name: "a" i: 2 })");
  const NetDef net =
      ParseNet(R"(name: "n" type: "dag" arg { name: "a" i: 1 } arg { name: "a" i: 1 })");
  ExpectRefusals({
      {[&] { args.GetSingleArgument<float>("i", 0); },
       "Argument i does not have the right field: expected field f"},
      {[&] { args.GetSingleArgument<double>("s", 0); },
       "Argument s does not have the right field: expected field f"},
      {[&] { args.GetSingleArgument<int>("f", 0); },
       "Argument f does not have the right field: expected field i"},
      {[&] { args.GetSingleArgument<bool>("s", false); },
       "Argument s does not have the right field: expected field i"},
      {[&] { args.GetSingleArgument<std::string>("net", ""); },
       "Argument net does not have the right field: expected field s"},
      {[&] { args.GetSingleArgument<NetDef>("s", NetDef()); },
       "Argument s does not have the right field: expected field n"},
      {[&] { args.GetSingleArgument<int8_t>("i", 0); },
       "Value 300 of argument i cannot be represented correctly in a target type of 8 bits"},
      {[&] { args.GetSingleArgument<uint32_t>("n", 0); },
       "Value -1 of argument n cannot be represented correctly in a target type of 32 bits"},
      {[&] { args.GetRepeatedArgument<uint8_t>("ints"); },
       "Value 400 of argument ints cannot be represented correctly in a target type of 8 bits"},
      {[&] { args.GetMessageArgument<NetDef>("none"); }, "cannot find argument \"none\""},
      {[&] { args.GetMessageArgument<NetDef>("bad"); },
       "argument \"bad\" does not hold a caffe2rt.NetDef"},
      {[&] { args.GetMessageArgument<NetDef>("i"); },
       "argument \"i\" does not hold a caffe2rt.NetDef"},
      {[&] { args.GetRepeatedMessageArgument<NetDef>("bads"); },
       "entry 1 of argument \"bads\" does not hold a caffe2rt.NetDef"},
      {[&] { const ArgumentHelper helper(other); },
       "Found argument of the same name a but with different contents in operator of type \"Op\""},
      {[&] { const ArgumentHelper helper(net); }, "found argument \"a\" twice in net \"n\""},
      {[&] { GetArgument(op, "axis"); },
       "argument \"axis\" does not exist in \"o\" of type \"Op\""},
      {[&] { GetArgument(net, "b"); }, "argument \"b\" does not exist in \"n\" of type \"dag\""},
      {[&] { GetMutableArgument("a", true, static_cast<OperatorDef*>(nullptr)); },
       "argument def of GetMutableArgument is null"},
      {[&] { GetMutableArgument("a", true, static_cast<NetDef*>(nullptr)); },
       "argument def of GetMutableArgument is null"},
  });
}

TEST(GraphRefusalsTest, ArgumentsAtTheLimitsOfTheirTypesAreRead) {
  OperatorDef op;
  for (const int64_t value : {int64_t{INT8_MIN}, int64_t{INT8_MAX}, int64_t{INT32_MIN},
                              int64_t{INT32_MAX}, int64_t{UINT32_MAX}, INT64_MIN, INT64_MAX}) {
    AddArgument(MakeString("v", value), value, &op);
  }
  const ArgumentHelper args(op);
  EXPECT_EQ(args.GetSingleArgument<int8_t>("v-128", 0), INT8_MIN);
  EXPECT_EQ(args.GetSingleArgument<int8_t>("v127", 0), INT8_MAX);
  EXPECT_EQ(args.GetSingleArgument<int32_t>("v-2147483648", 0), INT32_MIN);
  EXPECT_EQ(args.GetSingleArgument<int32_t>("v2147483647", 0), INT32_MAX);
  EXPECT_EQ(args.GetSingleArgument<uint32_t>("v4294967295", 0), UINT32_MAX);
  EXPECT_EQ(args.GetSingleArgument<int64_t>("v-9223372036854775808", 0), INT64_MIN);
  EXPECT_TRUE(args.GetSingleArgument<bool>("v-128", false));
  EXPECT_FALSE(GetFlagArgument(ParseOp(R"(arg { name: "a" i: 0 })"), "a", true));
  EXPECT_FALSE(GetFlagArgument(ParseNet(R"(arg { name: "a" i: 0 })"), "a", true));
  EXPECT_FALSE(GetFlagArgument(NetDef(), "a"));
}

TEST(GraphRefusalsTest, DevicesDifferInEveryFieldButTheSeed) {
  const auto option = [](const std::string& text) {
    return ParseOp("device_option { " + text + " }").device_option();
  };
  EXPECT_TRUE(IsSameDevice(option("device_type: 1"), option("device_type: 1 random_seed: 3")));
  for (const char* other :
       {"device_type: 1", "device_id: 1", "node_name: 'a'", "numa_node_id: 1"}) {
    EXPECT_FALSE(IsSameDevice(option(""), option(other))) << other;
    EXPECT_TRUE(IsSameDevice(option(other), option(other))) << other;
  }
}

// A maker that does what a test wants.
class AnyMaker : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    return act_ == nullptr ? std::vector<OperatorDef>() : act_(*this);
  }
  static std::vector<OperatorDef> (*act_)(AnyMaker&);
  using GradientMakerBase::GI;
  using GradientMakerBase::GI_I;
  using GradientMakerBase::GI_V;
  using GradientMakerBase::GO;
  using GradientMakerBase::GO_I;
  using GradientMakerBase::GO_V;
  using GradientMakerBase::I;
  using GradientMakerBase::O;
  using GradientMakerBase::SetDense;
  using GradientMakerBase::SetSparse;
};
std::vector<OperatorDef> (*AnyMaker::act_)(AnyMaker&) = nullptr;
REGISTER_GRADIENT(GraphRefusalsTestAny, AnyMaker);

std::string RefusalOf(const std::vector<GradientWrapper>& given,
                      std::vector<OperatorDef> (*act)(AnyMaker&)) {
  AnyMaker::act_ = act;
  return test::MessageOf([&] {
    (void)GetGradientForOp(
        ParseOp(R"(type: "GraphRefusalsTestAny" input: "x" input: "w" output: "y" output: "z")"),
        given);
  });
}

TEST(GraphRefusalsTest, OfGradientMakersCountInputsAndOutputs) {
  const auto message = [](std::vector<OperatorDef> (*act)(AnyMaker&)) {
    AnyMaker::act_ = act;
    return test::MessageOf([&] {
      (void)GetGradientForOp(
          ParseOp(R"(type: "GraphRefusalsTestAny" input: "x" output: "a" output: "b" output: "c")"),
          std::vector<GradientWrapper>(2));
    });
  };
  using Ops = std::vector<OperatorDef>;
  const std::string subject = "operator GraphRefusalsTestAny has ";
  EXPECT_EQ(message([](AnyMaker& m) { return m.I(3), Ops(); }),
            subject + "1 input, but its gradient maker requests input 3");
  EXPECT_EQ(message([](AnyMaker& m) { return m.O(3), Ops(); }),
            subject + "3 outputs, but its gradient maker requests output 3");
  EXPECT_EQ(message([](AnyMaker& m) { return m.GO(2), Ops(); }),
            subject +
                "gradients for 2 outputs, but its gradient maker requests the gradient of "
                "output 2");
}

TEST(GraphRefusalsTest, OfGradientMakers) {
  using Ops = std::vector<OperatorDef>;
  const std::vector<GradientWrapper> dense = {{"dy", "", ""}, {"dz", "", ""}},
                                     sparse = {{"", "i", "v"}, {}};
  const std::string subject = "operator GraphRefusalsTestAny has ";
  const auto index_in = [](AnyMaker& m) { return m.I(2), Ops(); };
  EXPECT_EQ(RefusalOf(dense, index_in),
            subject + "2 inputs, but its gradient maker requests input 2");
  EXPECT_EQ(RefusalOf(dense, [](AnyMaker& m) { return m.I(-1), Ops(); }),
            subject + "2 inputs, but its gradient maker requests input -1");
  EXPECT_EQ(RefusalOf(dense, [](AnyMaker& m) { return m.O(2), Ops(); }),
            subject + "2 outputs, but its gradient maker requests output 2");
  EXPECT_EQ(RefusalOf(dense, [](AnyMaker& m) { return m.O(-1), Ops(); }),
            subject + "2 outputs, but its gradient maker requests output -1");
  EXPECT_EQ(RefusalOf({dense[0]}, [](AnyMaker& m) { return m.GO(1), Ops(); }),
            subject +
                "gradients for 1 output, but its gradient maker requests the gradient of "
                "output 1");
  EXPECT_EQ(RefusalOf(dense, [](AnyMaker& m) { return m.GO(-1), Ops(); }),
            subject +
                "gradients for 2 outputs, but its gradient maker requests the gradient of "
                "output -1");
  EXPECT_EQ(RefusalOf(sparse, [](AnyMaker& m) { return m.GO(0), Ops(); }),
            "the gradient of output y is sparse, want a dense one");
  EXPECT_EQ(RefusalOf(sparse, [](AnyMaker& m) { return m.GO(1), Ops(); }),
            "the gradient of output z is not given, want a dense one");
  EXPECT_EQ(RefusalOf(dense, [](AnyMaker& m) { return m.GO_I(1), Ops(); }),
            "the gradient of output z is dense, want a sparse one");
  EXPECT_EQ(RefusalOf(dense, [](AnyMaker& m) { return m.GO_V(0), Ops(); }),
            "the gradient of output y is dense, want a sparse one");
  EXPECT_EQ(RefusalOf(dense, [](AnyMaker& m) { return m.GI_I(1), m.GI(1), Ops(); }),
            "the gradient of input w is already set as sparse and cannot also be dense");
  EXPECT_EQ(RefusalOf(dense, [](AnyMaker& m) { return m.GI(0), m.GI_V(0), Ops(); }),
            "the gradient of input x is already set as dense and cannot also be sparse");
  EXPECT_EQ(RefusalOf(dense, [](AnyMaker& m) { return m.SetDense(0, "d"), m.GI_I(0), Ops(); }),
            "the gradient of input x is already set as dense and cannot also be sparse");
  EXPECT_EQ(RefusalOf(dense, [](AnyMaker& m) { return m.GI_I(0), Ops(); }),
            "a sparse gradient of operator GraphRefusalsTestAny has indices \"x_grad_indices\" and "
            "values \"\", want both");
  EXPECT_EQ(RefusalOf(dense, [](AnyMaker& m) { return m.GI_V(1), Ops(); }),
            "a sparse gradient of operator GraphRefusalsTestAny has indices \"\" and values "
            "\"w_grad_values\", want both");
  EXPECT_EQ(RefusalOf(dense, [](AnyMaker& m) { return m.SetSparse(2, "i", "v"), Ops(); }),
            subject + "2 inputs, but its gradient maker requests input 2");
  EXPECT_EQ(RefusalOf(dense, [](AnyMaker& m) { return m.GI(0), m.GI(1), m.GI(0), Ops(); }),
            "(nothing was thrown)");
}

// Makers that return gradients for more or fewer inputs.
class FewMaker : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  GradientOpsMeta Get() override { return GradientOpsMeta({}, {GradientWrapper()}); }
};
REGISTER_GRADIENT(GraphRefusalsTestFew, FewMaker);
OPERATOR_SCHEMA(GraphRefusalsTestOneInput).NumInputs(1).NumOutputs(1);
REGISTER_GRADIENT(GraphRefusalsTestOneInput, AnyMaker);

TEST(GraphRefusalsTest, OfWhatMakersReturn) {
  ExpectRefusals({
      {[] {
         GetGradientForOp(
             ParseOp(R"(type: "GraphRefusalsTestFew" input: "x" input: "w" output: "y")"),
             {{"dy", "", ""}});
       },
       "gradients returned by the maker of operator GraphRefusalsTestFew, want one per input (got "
       "1, want 2)"},
      {[] {
         GetGradientForOp(
             ParseOp(R"(type: "GraphRefusalsTestOneInput" input: "x" input: "w" output: "y")"),
             {{"dy", "", ""}});
       },
       "Operator def did not pass schema checking: operator GraphRefusalsTestOneInput: it has 2 "
       "inputs, want 1"},
      {[] { GetGradientForOp(ParseOp(R"(type: "GraphRefusalsTestNoSuch")"), {}); },
       "Gradient maker for operator GraphRefusalsTestNoSuch not implemented; close: "
       "GraphRefusalsTestAny, GraphRefusalsTestFew, GraphRefusalsTestOneInput"},
  });
}

TensorShape Floats(const std::vector<int64_t>& dims) {
  return CreateTensorShape(dims, TensorProto::FLOAT);
}

TEST(GraphRefusalsTest, OfSizesAndShapes) {
  const NetDef net = ParseNet(R"(name: "n"
      op { type: "Concat" input: "x" input: "x" output: "huge" output: "i" })");
  ShapeMap shapes = {{"x", Floats({int64_t{1} << 40, int64_t{1} << 21})}};
  const std::vector<OpShapes> inferred = InferOpShapes({&net}, &shapes);
  const NetDependencies blobs(net);
  ShapeMap any;
  ExpectRefusals({
      {[&] { (void)MemoryOfShapes(net, blobs, inferred); },
       "the size of blob \"huge\", output 0 of operator 0 (Concat), is too large: size overflow: "
       "4611686018427387904 * 4 does not fit into 64 bits"},
      {[&] { (void)MemoryOfShapes(net, blobs, {}); },
       "operators with shapes, want all of net \"n\" (got 0, want 1)"},
      {[&] { const MemoryDemand demand(net, blobs, {}, {}, {}); },
       "sizes of blobs of net \"n\": got 0, want 3"},
      {[&] {
         InferOpShapes({&net, nullptr}, &any);
       },
       "argument nets of shape inference has a null net at 1"},
      {[&] { InferOpShapes({&net}, nullptr); }, "argument shapes of shape inference is null"},
      {[&] { InferBlobShapesAndTypes({nullptr}, &any); },
       "argument nets of shape inference has a null net at 0"},
      {[&] { InferBlobShapesAndTypes({&net}, nullptr); },
       "argument shapes of shape inference is null"},
      {[&] {
         InferBlobShapesAndTypesFromMap({{"a", {3, -1}}}, {});
       },
       "dimension of blob \"a\", want at least 0 (got -1, want at least 0)"},
  });
}

}  // namespace
}  // namespace caffe2rt::graph_refusals_test
