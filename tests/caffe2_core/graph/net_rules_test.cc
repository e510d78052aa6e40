// Rules for whole nets and plans: what a net may read, what it loses, what it costs, which types it
// accepts, how blobs go through plans, and where databases lie.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/created_databases.h"
#include "caffe2_core/graph/element_types.h"
#include "caffe2_core/graph/input_types.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/graph/net_file.h"
#include "caffe2_core/graph/net_summary.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/plan_blobs.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::net_rules_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

OPERATOR_SCHEMA(NetRulesTestUnlisted).AccessesUnlistedBlobs([](const OperatorDef& def) {
  return def.name() != "off";
});
OPERATOR_SCHEMA(NetRulesTestTypes)
    .Input(0, "A", "")
    .TypesOfInput(0, {.accepted = {TensorProto::FLOAT, TensorProto::INT32}})
    .TypesOfInput(1, {.accepted = {TensorProto::FLOAT, TensorProto::INT32}, .like_first = true});
// Two outputs: the type of input 0, which has two dims, and int64.
OPERATOR_SCHEMA(NetRulesTestPair)
    .NumInputs(1)
    .NumOutputs(1, 3)
    .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>& in) {
      CAFFE_ENFORCE_EQ(in[0].dims_size(), 2, "rank");
      return std::vector<TensorShape>{
          in[0], CreateTensorShape(std::vector<int64_t>{1}, TensorProto::INT64)};
    });

std::vector<std::string> ProblemsOf(const std::string& text) {
  std::vector<std::string> lines;
  for (const NetProblem& problem : CheckNetDataflow(ParseNet(text))) {
    lines.push_back(MakeString(problem.op, ": ", problem.text));
  }
  return lines;
}

TEST(NetRulesTest, TheFirstInputThatIsNeverWrittenNamesAllOfThem) {
  EXPECT_THAT(
      ProblemsOf(R"(name: "n" external_input: "x" external_output: "u" external_output: "v"
          op { type: "A" input: "late" output: "p" }
          op { type: "B" input: "a" input: "x" output: "q" }
          op { type: "C" input: "b" input: "a" output: "late" })"),
      ElementsAre("0: op A: Source for input late is unknown for net n, operator 0; operator 2 "
                  "writes it later",
                  "1: op B: Source for input a is unknown for net n, operator 1; add "
                  "external_input: \"a\", \"b\" to net \"n\", which must list all of its inputs or "
                  "none",
                  "2: op C: Source for input b is unknown for net n, operator 2",
                  "2: op C: Source for input a is unknown for net n, operator 2",
                  "-1: Some of the blobs are declared as output but never produced by the net n, "
                  "the first one is u"));
  std::string many = R"(name: "n" external_input: "x" op { type: "A" )", list;
  for (int i = 0; i < 21; ++i) {
    many += MakeString("input: \"i", i, "\" ");
    if (i < 20) list += MakeString(i > 0 ? ", " : "", "\"i", i, "\"");
  }
  EXPECT_EQ(ProblemsOf(many + "}")[0],
            "0: op A: Source for input i0 is unknown for net n, operator 0; add external_input: " +
                list + " and 1 more to net \"n\", which must list all of its inputs or none");
}

TEST(NetRulesTest, ValuesAreLostIfNothingMayReadThem) {
  const auto lost = [](const std::string& text) {
    std::string found;
    for (const OverwrittenOutput& output : OverwrittenOutputsOf(ParseNet(text))) {
      found += MakeString(output.output, " ", output.op, "-", output.by, " ");
    }
    return found;
  };
  const std::string write = R"(op { type: "Relu" input: "x" output: "a" } )";
  EXPECT_EQ(lost(write + write + write), "a 0-1 a 1-2 ");
  EXPECT_EQ(lost(write + R"(op { type: "NetRulesTestUnlisted" } )" + write + write), "a 2-3 ");
  EXPECT_EQ(lost(write + R"(op { type: "NetRulesTestUnlisted" name: "off" } )" + write), "a 0-2 ");
  EXPECT_EQ(lost(write + R"(op { type: "NetRulesTestUnlisted" output: "a" } )" + write), "a 1-2 ");
  EXPECT_EQ(lost(R"(op { type: "Split" input: "x" output: "a" output: "a" })"), "");
  // A control input reads no value.
  EXPECT_EQ(lost(write + R"(op { type: "Print" control_input: "a" } )" + write), "a 0-2 ");
}

TEST(NetRulesTest, ParametersAreThoseNamedOrThoseThatInitNetsWrite) {
  EnsureBuiltinOperators();
  const NetDef init = ParseNet(R"(
      op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 5 ints: 3 } }
      op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 5 } })");
  const NetDef net = ParseNet(R"(
      op { type: "FC" input: "x" input: "w" input: "b" output: "h" }
      op { type: "Add" input: "h" input: "b" output: "y" }
      op { type: "Concat" input: "y" input: "y" output: "y" output: "i" arg { name: "axis" i: 0 } })");
  const TensorShape x = CreateTensorShape(std::vector<int64_t>{2, 3}, TensorProto::FLOAT),
                    b = CreateTensorShape(std::vector<int64_t>{5}, TensorProto::FLOAT);
  const NetSummary both = SummarizeNet({&init}, net, {{"x", x}});
  EXPECT_EQ(both.ops[0].parameters, 15 + 5);
  EXPECT_EQ(both.ops[1].parameters, 0);  // b counts for the first operator that uses it
  EXPECT_EQ(both.parameters, 20);
  EXPECT_EQ(both.parameter_bytes, 80);
  EXPECT_EQ(both.ops[2].output_bytes, 4 * 20 + 2 * 4);
  EXPECT_EQ(both.activation_bytes, 4 * 10 + 4 * 20 + 2 * 4);  // y at its largest
  EXPECT_TRUE(both.ops[2].complete);
  // A shape that is given is that of an input, unless the blob is named.
  EXPECT_EQ(SummarizeNet({&init}, net, {{"x", x}, {"b", b}}).parameters, 15);
  EXPECT_EQ(SummarizeNet({&init}, net, {{"x", x}, {"b", b}}, {"w", "b"}).parameters, 20);
  EXPECT_EQ(SummarizeNet({&init}, net, {{"x", x}}, {"b"}).parameters, 5);
  EXPECT_EQ(SummarizeNet({&init}, net, {{"x", x}}, {"unused"}).parameters, 0);
  const NetSummary wider = SummarizeNet(
      {&init}, net, {{"x", CreateTensorShape(std::vector<int64_t>{7, 3}, TensorProto::FLOAT)}});
  EXPECT_EQ(GetDimsVector(wider.shapes.at("y")), (std::vector<int64_t>{14, 5}));
  const NetSummary unknown = SummarizeNet({&init}, net, {});
  EXPECT_EQ(unknown.unknown_ops, 3);
  EXPECT_EQ(unknown.multiply_adds, 0);
  EXPECT_EQ(unknown.parameters, 20);
}

TEST(NetRulesTest, TypesAreComparedWhereTheyAreKnown) {
  const auto wrong = [](const std::vector<TensorShape>& shapes) {
    return WrongInputType(ParseOp(R"(type: "NetRulesTestTypes")"), shapes);
  };
  const auto of = [](TensorProto_DataType type) {
    return CreateTensorShape(std::vector<int64_t>{2}, type);
  };
  TensorShape unknown = of(TensorProto::BOOL), untyped;
  unknown.set_unknown_shape(true);
  untyped.add_dims(2);
  EXPECT_EQ(wrong({of(TensorProto::FLOAT), of(TensorProto::FLOAT)}), "");
  EXPECT_EQ(wrong({of(TensorProto::FLOAT), of(TensorProto::INT32)}),
            "input 1 has elements of type int32, want float as input 0 (A)");
  EXPECT_EQ(wrong({of(TensorProto::BOOL)}),
            "input 0 (A) has elements of type bool, want float, int32");
  for (const TensorShape& first : {unknown, untyped}) {
    EXPECT_EQ(wrong({first, of(TensorProto::INT32)}), "");
    EXPECT_EQ(wrong({first, of(TensorProto::BOOL)}),
              "input 1 has elements of type bool, want float, int32");
    EXPECT_EQ(wrong({of(TensorProto::FLOAT), first}), "");
  }
  EXPECT_EQ(wrong({of(TensorProto::FLOAT), of(TensorProto::FLOAT), of(TensorProto::BOOL)}), "");
  EXPECT_EQ(wrong({}), "");
}

TEST(NetRulesTest, ElementTypesAreFoundForTheRankThatFits) {
  using Types = std::vector<TensorProto::DataType>;
  const auto types = [](const TensorShape& input, const std::string& outputs) {
    return InferElementTypes(ParseOp(R"(type: "NetRulesTestPair" input: "x" )" + outputs), {input});
  };
  TensorShape typed = UnknownShape();
  typed.set_data_type(TensorProto::INT16);
  const std::string three = R"(output: "y" output: "i" output: "z")";
  EXPECT_EQ(types(typed, three),
            (Types{TensorProto::INT16, TensorProto::INT64, TensorProto::UNDEFINED}));
  EXPECT_EQ(types(UnknownShape(), three),
            (Types{TensorProto::UNDEFINED, TensorProto::INT64, TensorProto::UNDEFINED}));
  EXPECT_EQ(types(typed, R"(output: "y")"), (Types{TensorProto::INT16}));
  // The known rank fits nothing.
  EXPECT_THAT(types(CreateTensorShape(std::vector<int64_t>{1}, TensorProto::INT16), three),
              IsEmpty());
}

std::vector<std::string> FlowsOf(const std::string& text) {
  PlanDef plan;
  CAFFE_ENFORCE(google::protobuf::TextFormat::ParseFromString(text, &plan), "the plan is no text");
  std::vector<std::string> flows;
  for (const BlobFlow& flow : FollowBlobs(plan)) {
    flows.push_back(MakeString(flow.blob, ": ", flow.from, " -> ", flow.to_step ? "step " : "",
                               flow.to, flow.next_iteration ? ", next iteration" : ""));
  }
  return flows;
}

TEST(NetRulesTest, BlobsGoThroughReportsAndStops) {
  const std::string nets = R"(
      network { name: "init" op { type: "F" output: "w" } }
      network { name: "init" op { type: "F" output: "other" } }
      network { name: "train" op { type: "F" input: "w" output: "w" output: "loss" } }
      network { name: "show" op { type: "F" input: "loss" input: "other" } }
      network { name: "count" op { type: "F" input: "done" output: "done" } } )";
  EXPECT_THAT(FlowsOf(nets + R"(execution_step { network: "init" }
      execution_step { network: "train" report_net: "show" })"),
              ElementsAre("w: init -> train", "loss: train -> show", "other:  -> show"));
  EXPECT_THAT(FlowsOf(nets + R"(
      execution_step { name: "loop" should_stop_blob: "done" network: "count" })"),
              ElementsAre("done:  -> count", "done: count -> step loop",
                          "done: count -> count, next iteration"));
  EXPECT_THAT(FlowsOf(nets + R"(
      execution_step { num_iter: 1 network: "train" })"),
              ElementsAre("w:  -> train"));
  EXPECT_THAT(FlowsOf(nets + R"(
      execution_step { num_iter: 2 substep { network: "train" } substep { network: "show" } })"),
              ElementsAre("w:  -> train", "loss: train -> show", "other:  -> show",
                          "w: train -> train, next iteration"));
}

// Folders "nets" and "root" with files of these names.
class DatabasePathsTest : public ::testing::Test {
 protected:
  DatabasePathsTest() {
    for (const char* name : {"nets/near", "nets/both", "root/both", "root/far"})
      dir_.Write(name, "");
  }
  // The operator after databases were looked for: its paths, and "absolute" if they count as such.
  std::string Found(const std::string& op, bool nested = false) {
    NetDef net;
    if (nested) {
      net = ParseNet("op { type: \"If\" arg { name: \"then_net\" n { op { " + op +
                     " } } } arg { name: \"nets\" nets { } } }");
    } else {
      net = ParseNet("op { " + op + " }");
    }
    FindDatabases(&net, dir_.path("root"), dir_.path("nets"));
    const OperatorDef& found = nested ? net.op(0).arg(0).n().op(0) : net.op(0);
    std::string text;
    for (const Argument& arg : found.arg()) {
      if (arg.name() == "absolute_path") {
        text += arg.i() != 0 ? "absolute " : "relative ";
        continue;
      }
      text += arg.s().empty() ? "" : arg.s() + " ";
      for (const std::string& path : arg.strings()) text += path + " ";
    }
    return text;
  }
  std::string At(const std::string& name) const { return dir_.path(name) + " "; }

  const TempDir dir_;
};

TEST_F(DatabasePathsTest, OfLoadLieBesideTheNetIfNotUnderTheRoot) {
  const auto db = [](const std::string& type, const std::string& path) {
    return "type: \"" + type + "\" arg { name: \"db\" s: \"" + path + "\" }";
  };
  const std::string absolute = "absolute ";
  EXPECT_EQ(Found(db("Load", "near")), At("nets/near") + absolute);
  EXPECT_EQ(Found(db("Load", "near"), true), At("nets/near") + absolute);
  EXPECT_EQ(Found(db("Load", "both")), "both ");
  EXPECT_EQ(Found(db("Load", "far")), "far ");
  EXPECT_EQ(Found(db("Load", "none")), "none ");
  EXPECT_EQ(Found(db("Load", "")), "");
  EXPECT_EQ(Found(db("Load", dir_.path("nets/near"))), At("nets/near"));
  EXPECT_EQ(Found(db("Load", "near") + "arg { name: \"absolute_path\" i: 1 }"), "near " + absolute);
  EXPECT_EQ(Found(db("Load", "near") + "arg { name: \"absolute_path\" i: 0 }"),
            At("nets/near") + absolute);
  EXPECT_EQ(Found(db("DBExists", "near")), At("nets/near") + absolute);
  EXPECT_EQ(Found(R"(type: "DBExists" arg { name: "db_name" s: "near" })"),
            At("nets/near") + absolute);
  EXPECT_EQ(Found(R"(type: "DBExists" arg { name: "db_type" s: "near" })"), "near ");
  EXPECT_EQ(Found(R"(type: "Load" arg { name: "dbs" strings: "far" strings: "near" })"),
            At("root/far") + At("nets/near") + absolute);
  EXPECT_EQ(Found(R"(type: "Load" arg { name: "dbs" strings: "far" strings: "both" })"),
            "far both ");
  EXPECT_EQ(Found(db("Save", "near")), "near ");
}

TEST_F(DatabasePathsTest, OfCreateDBAreAlwaysAbsolute) {
  const auto db = [](const std::string& path) {
    return "type: \"CreateDB\" arg { name: \"db\" s: \"" + path + "\" }";
  };
  EXPECT_EQ(Found(db("near")), At("nets/near"));
  EXPECT_EQ(Found(db("both")), At("root/both"));
  EXPECT_EQ(Found(db("far")), At("root/far"));
  EXPECT_EQ(Found(db("none")), "none ");
  EXPECT_EQ(Found(db(dir_.path("nets/near"))), At("nets/near"));
  EXPECT_EQ(Found(R"(type: "CreateDB" arg { name: "db_type" s: "near" })"), "near ");
}

TEST(NetRulesTest, FilesNameNetsThatHaveNoName) {
  EXPECT_EQ(FileStem("/a/b.c/net.v2.pb"), "net.v2");
  EXPECT_EQ(FileStem("net"), "net");
  NetDef net;
  NameNet(&net, "first");
  NameNet(&net, "second");
  EXPECT_EQ(net.name(), "first");
  ExpectRefusals({
      {[] { NameNet(nullptr, "n"); }, "argument net of NameNet is null"},
      {[] { FindDatabases(nullptr, "a", "b"); }, "argument net of FindDatabases is null"},
  });
}

// Save and its kind create a database; what they write is known before they run.
TEST(NetRulesTest, DatabasesThatOperatorsCreateAreKnown) {
  const auto created = [](const std::string& op) -> std::string {
    const auto found = FindCreatedDatabase(ParseOp(op));
    if (!found) return "none";
    return MakeString(found->type, " ", found->path, found->is_absolute ? " absolute" : "",
                      found->is_pattern ? " pattern" : "");
  };
  const std::string args = R"( arg { name: "db" s: "a/b" } arg { name: "db_type" s: "minidb" } )";
  EXPECT_EQ(created("type: \"Save\" input: \"w\"" + args), "minidb a/b");
  EXPECT_EQ(created("type: \"Save\" input: \"w\"" + args + R"(arg { name: "absolute_path" i: 1 })"),
            "minidb a/b absolute");
  EXPECT_EQ(created("type: \"Checkpoint\" input: \"i\" input: \"w\" "
                    "arg { name: \"db\" s: \"a/%d\" } arg { name: \"db_type\" s: \"minidb\" }"),
            "minidb a/%d pattern");
  EXPECT_EQ(created("type: \"Load\" output: \"w\"" + args), "none");
  EXPECT_EQ(created("type: \"NoSuchOperator\""), "none");
  DeclareCreatedDatabase("NetRulesTestSaves", [](const OperatorDef& def) {
    return CreatedDatabase{.type = "first", .path = def.name()};
  });
  EXPECT_EQ(created("type: \"NetRulesTestSaves\" name: \"n\""), "first n");
}

}  // namespace
}  // namespace caffe2rt::test::net_rules_test
