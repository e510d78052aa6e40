// Which blobs of a workspace are constants of a net, which zeros stand for its inputs, and which
// plans its memory keeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "caffe2_core/model/image_preparation.h"
#include "caffe2_core/model/model_inputs.h"
#include "caffe2_core/model/net_memory.h"
#include "caffe2_core/model/workspace_constants.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::constants_and_placeholders_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::vector<float> ValuesOf(const Tensor& tensor) {
  return {tensor.data<float>(), tensor.data<float>() + tensor.numel()};
}

Tensor Numbers(const std::vector<float>& values) {
  Tensor tensor(std::vector<int64_t>{static_cast<int64_t>(values.size())}, CPU);
  std::copy(values.begin(), values.end(), tensor.mutable_data<float>());
  return tensor;
}

// x is an input, w a weight, v is written, and only the file or nobody uses e and c.
constexpr char kNet[] = R"(name: "n" external_input: "x" external_input: "e"
    op { type: "Add" input: "x" input: "w" output: "y" }
    op { type: "Sum" input: "same" input: "text" input: "empty" input: "w" output: "z" }
    op { type: "Relu" input: "v" output: "v" })";

class WorkspaceConstantsTest : public testing::Test {
 protected:
  WorkspaceConstantsTest() {
    for (const char* name : {"x", "w", "v", "c"}) Feed<float>(&ws_, name, {2}, {1, 2});
    ws_.CreateBlob("same")->Reset(new Tensor(ws_.FindBlob("v")->Get<Tensor>()));
    ws_.CreateBlob("text")->Reset(new std::string("a"));
    ws_.CreateBlob("empty");
  }
  Workspace ws_;
};

TEST_F(WorkspaceConstantsTest, AreTensorsThatTheNetReads) {
  const WorkspaceConstants constants(ParseNet(kNet), {"x"}, {}, &ws_);
  EXPECT_THAT(constants.Names(), ElementsAre("w"));
  EXPECT_EQ(constants.Find("w"), &ws_.FindBlob("w")->Get<Tensor>());
  for (const char* name : {"x", "v", "same", "text", "empty", "c", "y", "none"})
    EXPECT_EQ(constants.Find(name), nullptr) << name;
  const ShapeMap shapes = constants.Shapes();
  ASSERT_EQ(shapes.size(), 1u);
  EXPECT_EQ(shapes.at("w").dims_size(), 1);
  EXPECT_EQ(shapes.at("w").dims(0), 2);
  EXPECT_EQ(shapes.at("w").data_type(), TensorProto::FLOAT);
  // What is not listed as an input is one.
  EXPECT_THAT(WorkspaceConstants(ParseNet(kNet), {}, {}, &ws_).Names(), ElementsAre("w", "x"));
  // Blobs of a parent belong to others.
  Workspace child(&ws_);
  EXPECT_THAT(WorkspaceConstants(ParseNet(kNet), {"x"}, {}, &child).Names(), IsEmpty());
}

TEST_F(WorkspaceConstantsTest, NewOnesHaveNamesOfTheirOwn) {
  WorkspaceConstants constants(ParseNet(kNet), {"x", "fed"}, {"kept"}, &ws_);
  EXPECT_EQ(constants.Add("new", Numbers({7})), "new");
  const std::pair<const char*, const char*> rows[] = {
      {"w", "w_2"},     {"w", "w_3"},     {"y", "y_4"},     {"kept", "kept_5"}, {"x", "x_6"},
      {"c", "c_7"},     {"fed", "fed_8"}, {"new", "new_9"}, {"e", "e_10"},      {"free", "free"},
      {"w_12", "w_12"}, {"w", "w_11"},    {"w", "w_13"}};
  float value = 0;
  for (const auto& [name, unique] : rows)
    EXPECT_EQ(constants.Add(name, Numbers({value++})), unique) << name;
  EXPECT_EQ(ValuesOf(*constants.Find("new")), (std::vector<float>{7}));
  EXPECT_EQ(ValuesOf(*constants.Find("w_3")), (std::vector<float>{1}));
  EXPECT_THAT(constants.Names(), ElementsAre("w"));  // those of the workspace
  // Those that the new net reads are stored.
  EXPECT_THAT(constants.Store(ParseNet(R"(op { type: "Sum" input: "w_3" input: "new" input: "w"
      output: "y" })")),
              ElementsAre("new", "w_3"));
  EXPECT_EQ(Fetch<float>(ws_, "new"), (std::vector<float>{7}));
  EXPECT_EQ(Fetch<float>(ws_, "w_3"), (std::vector<float>{1}));
  EXPECT_EQ(Fetch<float>(ws_, "w"), (std::vector<float>{1, 2}));
  for (const char* name : {"w_2", "free", "new_9"}) EXPECT_FALSE(ws_.HasBlob(name)) << name;
  EXPECT_EQ(constants.Find("w_2"), nullptr);
}

TEST_F(WorkspaceConstantsTest, OperatorsOfConstantsHaveValues) {
  WorkspaceConstants constants(ParseNet(kNet), {"x"}, {}, &ws_);
  const std::string added = constants.Add("w", Numbers({10, 20}));
  const auto evaluate = [&](const std::string& op) {
    std::vector<std::vector<float>> values;
    for (const Tensor& tensor : constants.Evaluate(ParseNet("op { " + op + " }").op(0)))
      values.push_back(ValuesOf(tensor));
    return values;
  };
  EXPECT_THAT(evaluate(R"(type: "Add" input: "w" input: "w_2" output: "y")"),
              ElementsAre(ElementsAre(11, 22)));
  EXPECT_THAT(
      evaluate(R"(type: "Split" input: "w_2" output: "a" output: "b" arg { name: "axis" i: 0 })"),
      ElementsAre(ElementsAre(10), ElementsAre(20)));
  EXPECT_THAT(evaluate(R"(type: "Add" input: "w" input: "x" output: "y")"), IsEmpty());
  EXPECT_THAT(evaluate(R"(type: "Split" input: "w" output: "a" output: "b" output: "c"
                   arg { name: "axis" i: 0 })"),
              IsEmpty());
  EXPECT_FALSE(ws_.HasBlob("y"));
  EXPECT_FALSE(ws_.HasBlob("a"));
  // Files are read when the net runs: they may be others by then.
  const TempDir dir;
  const std::string exists = MakeString(
      R"(type: "DBExists" output: "y" arg { name: "db_type" s: "minidb" }
         arg { name: "db_name" s: ")",
      dir.Write("file", "x"), "\" } arg { name: \"absolute_path\" i: 1 }");
  EXPECT_TRUE(ws_.RunOperatorOnce(ParseOp(exists)));
  EXPECT_TRUE(constants.Evaluate(ParseOp(exists)).empty());
}

TEST(NamesUsedByTest, AreThoseOfOperatorsAndNestedNets) {
  EXPECT_THAT(NamesUsedBy(ParseNet(R"(external_input: "unused"
      op { type: "Relu" input: "x" output: "y" control_input: "first" }
      op { type: "If" input: "if" output: "z" arg { name: "then_net" n {
           op { type: "Add" input: "inner" input: "y" output: "z" } } } })")),
              testing::IsSupersetOf({"x", "y", "first", "if", "z", "inner"}));
  EXPECT_THAT(NamesUsedBy(ParseNet(R"(external_input: "unused" external_output: "none"
      op { type: "Relu" input: "x" output: "y" control_input: "first" })")),
              UnorderedElementsAre("x", "y", "first"));
}

// An operator of an init net that fills blob `name`.
std::string Fill(const std::string& type, const std::string& name, const std::string& args) {
  return "op { type: \"" + type + "\" output: \"" + name + "\" " + args + " } ";
}
std::string Arg(const std::string& name, const std::string& value) {
  return "arg { name: \"" + name + "\" " + value + " } ";
}

TEST(ZeroPlaceholdersTest, FollowFromTheFillAndThePosition) {
  const std::string two = Arg("shape", "ints: 2"), one = Arg("shape", "ints: 1 ints: 1");
  const std::string w = Fill("ConstantFill", "w", two), x = Fill("ConstantFill", "x", two);
  const std::string ones = Fill("GivenTensorFill", "x", two + Arg("values", "floats: 1 floats: 1"));
  const auto x_of = [&](const std::string& args) { return w + Fill("ConstantFill", "x", args); };
  const auto mark = [&](const std::string& args) { return Fill("GivenTensorFill", "w", args); };
  const std::string add = R"(op { type: "Add" input: "x" input: "w" output: "y" })";
  const std::string net = R"(external_input: "x" external_input: "w" )" + add;
  const struct {
    std::string init, net;
    std::vector<std::string> listed, want;
  } rows[] = {
      {w + x, net, {}, {"x"}},
      {x_of(two + Arg("value", "f: 0")), net, {}, {"x"}},
      {x_of(two + Arg("value", "f: 1")), net, {}, {}},
      {x_of(two + Arg("value", "i: 1")), net, {}, {}},
      {x_of(two + Arg("value", "s: 'a'")), net, {}, {}},
      {x_of(two + "input: 's'"), net, {}, {}},
      {x_of(two + "output: 'other'"), net, {}, {}},
      // The last operator counts.
      {w + x + ones, net, {}, {}},
      {w + ones + x, net, {}, {"x"}},
      // Without a value for w, x is one that was given.
      {x, net, {}, {}},
      {w + x, net, {"w"}, {"w"}},
      {w + x, net, {"x", "w"}, {"w", "x"}},
      {w + x, net, {"other"}, {"x"}},
      {w + x, net, {"other", "w"}, {"w"}},
      {w + x, net, {"w", "other"}, {"w"}},
      // The first input of the first operator, whatever the net declares first.
      {w + x, R"(external_input: "w" )" + add, {}, {"x"}},
      {w + x, R"(op { type: "ConstantFill" output: "c" } )" + add, {}, {"x"}},
      {w + x, add + R"( op { type: "Relu" input: "y" output: "x" })", {}, {}},
      {w + x,
       R"(external_input: "w" op { type: "Sub" input: "x" input: "w" output: "y" }
                 op { type: "Add" input: "w" input: "y" output: "z" })",
       {},
       {"x"}},
      {w + x,
       R"(external_input: "w" op { type: "Relu" input: "x" output: "y" }
                 op { type: "Add" input: "w" input: "y" output: "z" })",
       {},
       {"w", "x"}},
      // The first operator that reads the first declared input reads it as the third one.
      {w + x,
       R"(external_input: "w" op { type: "Sum" input: "x" input: "x" input: "w" output: "y" }
                 op { type: "Relu" input: "w" output: "z" })",
       {},
       {"x"}},
      // Only a nested net reads the first declared input.
      {w + x,
       R"(external_input: "x" external_input: "w" op { type: "If" input: "w" output: "y"
              arg { name: "then_net" n { op { type: "Relu" input: "x" output: "y" } } } })",
       {},
       {"w"}},
      // One zero of the shape [1, 1] is an input wherever it is.
      {mark(one + Arg("values", "floats: 0")), net, {}, {"w"}},
      {mark(one + Arg("values", "floats: 0")) + x, net, {}, {"w", "x"}},
      {mark(one + Arg("values", "floats: 2")), net, {}, {}},
      {mark(one + Arg("values", "floats: 0 floats: 0")), net, {}, {}},
      {mark(one), net, {}, {}},
      {mark(two + Arg("values", "floats: 0")), net, {}, {}},
      {mark(Arg("shape", "ints: 1") + Arg("values", "floats: 0")), net, {}, {}},
      {mark(Arg("values", "floats: 0")), net, {}, {}},
  };
  for (const auto& row : rows) {
    const NetDef init = ParseNet(row.init);
    std::vector<std::string> names;
    for (const ZeroPlaceholder& placeholder :
         ZeroPlaceholdersOf(ParseNet(row.net), {&init}, {}, row.listed)) {
      names.push_back(placeholder.name);
    }
    EXPECT_EQ(names, row.want) << row.init << row.net;
  }
}

TEST(ZeroPlaceholdersTest, MarksMayHaveElementsThatWereReadApart) {
  const NetDef init = ParseNet(Fill("GivenTensorFill", "x", Arg("shape", "ints: 1 ints: 1")));
  const NetDef net = ParseNet(R"(op { type: "Relu" input: "x" output: "y" })");
  const auto found = [&](int op, Tensor values) {
    std::vector<std::vector<OperatorWeights>> weights(1);
    weights[0].push_back({.op = op, .arg = 0, .values = std::move(values)});
    return ZeroPlaceholdersOf(net, {&init}, weights, {});
  };
  const std::vector<ZeroPlaceholder> zero = found(0, Numbers({0}));
  ASSERT_EQ(zero.size(), 1u);
  EXPECT_EQ(zero[0].name, "x");
  EXPECT_THAT(zero[0].dims, ElementsAre(1, 1));
  EXPECT_THAT(found(0, Numbers({3})), IsEmpty());
  EXPECT_THAT(found(0, Numbers({0, 0})), IsEmpty());
  Tensor whole(std::vector<int64_t>{1}, CPU);
  whole.mutable_data<int32_t>()[0] = 0;
  EXPECT_THAT(found(0, std::move(whole)), IsEmpty());
}

TEST(ZeroPlaceholdersTest, HaveTheShapeOfAnInputUnlessAllAxesAreOne) {
  const auto has = [](std::vector<int64_t> dims) {
    return ZeroPlaceholder{.name = "x", .dims = std::move(dims)}.HasInputShape();
  };
  EXPECT_FALSE(has({}));
  EXPECT_FALSE(has({1}));
  EXPECT_FALSE(has({1, 1}));
  EXPECT_FALSE(has({0}));
  EXPECT_TRUE(has({2}));
  EXPECT_TRUE(has({1, 2}));
  EXPECT_TRUE(has({3, 1}));
}

TEST(ImageFormEdgesTest, OfThreeAxesAndOtherTypes) {
  const auto text = [](const std::vector<int64_t>& dims, TensorProto::DataType type) {
    const std::optional<ImageForm> form = ImageFormOf(dims, type);
    if (!form) return std::string("none");
    return MakeString(form->has_batch, form->channels_last, form->bytes, " ", form->channels, " ",
                      form->height, " ", form->width);
  };
  constexpr auto kFloat = TensorProto::FLOAT;
  EXPECT_EQ(text({-1, -1, -1}, kFloat), "000 -1 -1 -1");
  EXPECT_EQ(text({-1, 5, 8}, TensorProto::UINT8), "001 -1 5 8");
  EXPECT_EQ(text({-1, 5, 3}, kFloat), "010 3 -1 5");
  EXPECT_EQ(text({1, 5, 8}, kFloat), "000 1 5 8");
  EXPECT_EQ(text({5, 3, 6, 7}, TensorProto::BFLOAT16), "100 3 6 7");
  EXPECT_EQ(text({5, -1, 6, 7}, kFloat), "100 -1 6 7");
  for (const std::vector<int64_t>& dims : std::vector<std::vector<int64_t>>{
           {}, {3}, {2, 5, 8}, {0, 5, 8}, {5, 8, 4}, {1, 2, 8, 8}, {1, 1, 3, 8, 8}}) {
    EXPECT_EQ(text(dims, kFloat), "none") << dims.size();
  }
  for (const auto type : {TensorProto::DOUBLE, TensorProto::INT8, TensorProto::INT32,
                          TensorProto::BOOL, TensorProto::UNDEFINED}) {
    EXPECT_EQ(text({1, 3, 8, 8}, type), "none") << type;
  }
}

TEST(KeptPlansTest, AreTheFourUsedLast) {
  Workspace ws;
  Feed<float>(&ws, "x", {1}, {1});
  NetMemory memory(ws.CreateNet(ParseNet(R"(name: "n" external_input: "x" external_output: "y"
      op { type: "Abs" input: "x" output: "a" } op { type: "Negative" input: "a" output: "y" })")),
                   {}, std::make_shared<ArenaStock>());
  const std::pair<int64_t, int> rows[] = {{1, 1}, {2, 2}, {3, 3}, {4, 4}, {1, 4}, {5, 5}, {1, 5},
                                          {3, 5}, {4, 5}, {2, 6}, {1, 6}, {5, 7}, {4, 7}, {3, 8}};
  for (const auto& [size, plans] : rows) {
    Feed<float>(&ws, "x", {size}, std::vector<float>(size, -3));
    ASSERT_TRUE(memory.Run());
    EXPECT_EQ(memory.plans_made(), plans) << size;
    EXPECT_EQ(memory.planned_blobs(), 1u);
    EXPECT_GE(memory.planned_bytes(), 4u * size);
    EXPECT_EQ(Fetch<float>(ws, "y"), std::vector<float>(size, -3)) << size;
  }
  memory.Release();
  EXPECT_EQ(memory.planned_blobs(), 0u);
  EXPECT_EQ(memory.planned_bytes(), 0u);
}

}  // namespace
}  // namespace caffe2rt::test::constants_and_placeholders_test
