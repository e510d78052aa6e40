#include "caffe2_core/runtime/waiting.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::onnx_while_test {
namespace {

// Fibonacci numbers: carries (a, b) -> (b, a + b) and lists the sums, while they are below 100.
constexpr char kBody[] = R"(arg { name: "body" n { name: "body"
  external_input: "i" external_input: "c" external_input: "a" external_input: "b"
  external_output: "next" external_output: "b" external_output: "s" external_output: "s"
  op { type: "Add" input: "a" input: "b" output: "s" }
  op { type: "ConstantFill" output: "limit" arg { name: "shape" ints: 1 } arg { name: "value" f: 100 } }
  op { type: "LT" input: "s" input: "limit" output: "next" } } } )";
constexpr char kBlobs[] = R"(type: "ONNXWhile" input: "trips" input: "go" input: "x" input: "y"
  output: "last_a" output: "last_b" output: "all" )";

std::string Flag(const std::string& name) { return "arg { name: \"" + name + "\" i: 1 } "; }

// A body with the operators `ops`, which writes "next", and carries a and b on unchanged.
std::string Body(const std::string& ops, const std::string& item = "item",
                 const std::string& a = "a", const std::string& b = "b") {
  return R"(arg { name: "body" n { name: "body" external_input: "i" external_input: "c"
    external_input: "a" external_input: "b" external_output: "next" external_output: ")" +
         a + R"(" external_output: ")" + b + R"(" external_output: ")" + item + R"(" )" + ops +
         R"( op { type: "Copy" input: "c" output: "next" } } } )";
}

class OnnxWhileTest : public testing::Test {
 protected:
  OnnxWhileTest() {
    Feed<int64_t>(&ws_, "trips", {}, {3});
    Feed<bool>(&ws_, "go", {}, {true});
    Feed<float>(&ws_, "x", {1}, {1});
    Feed<float>(&ws_, "y", {1}, {1});
  }
  void Run(const std::string& args) { ASSERT_TRUE(ws_.RunOperatorOnce(ParseOp(kBlobs + args))); }
  void ExpectError(const std::string& args, const std::string& error) {
    ExpectThrows([&] { (void)ws_.RunOperatorOnce(ParseOp(kBlobs + args)); }, error);
  }
  void ExpectResult(float a, float b, const std::vector<float>& all) {
    ExpectTensor<float>(ws_, "last_a", {1}, {a});
    ExpectTensor<float>(ws_, "last_b", {1}, {b});
    ExpectTensor<float>(ws_, "all", {static_cast<int64_t>(all.size())}, all);
  }
  Workspace ws_;
};

TEST_F(OnnxWhileTest, EndsAfterTheTripCount) {
  Run(kBody + Flag("has_trip_count"));
  ExpectResult(3, 5, {2, 3, 5});
  Feed<bool>(&ws_, "go", {}, {false});  // not used
  Run(kBody + Flag("has_trip_count"));
  ExpectResult(3, 5, {2, 3, 5});
}

// 1 is FLOAT, 10 INT64.
TEST_F(OnnxWhileTest, ListsWithoutAnIterationHaveTheStatedTypeAndShape) {
  Feed<int64_t>(&ws_, "trips", {}, {0});
  Run(kBody + Flag("has_trip_count"));
  ExpectTensor<int32_t>(ws_, "all", {0}, {});
  const auto lists = [](const std::string& numbers) {
    return kBody + Flag("has_trip_count") + "arg { name: 'empty_lists' " + numbers + " }";
  };
  Run(lists("ints: 1 ints: 1 ints: 0"));
  ExpectTensor<float>(ws_, "all", {0}, {});
  Run(lists("ints: 10 ints: 3 ints: 0 ints: 4 ints: 2"));
  ExpectTensor<int64_t>(ws_, "all", {0, 4, 2}, {});
  Feed<int64_t>(&ws_, "trips", {}, {2});
  Run(lists("ints: 10 ints: 3 ints: 0 ints: 4 ints: 2"));
  ExpectResult(2, 3, {2, 3});
  for (const char* numbers : {"ints: 1", "ints: 1 ints: 2 ints: 0", "ints: 1 ints: 0"})
    ExpectError(lists(numbers), "want type, rank and dimensions for each of 1 lists");
  ExpectError(lists("ints: 1 ints: 2 ints: 3 ints: 0"), "has shape [3, 0], want one without rows");
  ExpectError(lists("ints: 1 ints: 1 ints: 0 ints: 7"),
              "numbers in argument empty_lists for 1 lists");
}

TEST_F(OnnxWhileTest, EndsWhenTheConditionIsFalse) {
  Run(kBody + Flag("has_cond"));
  ExpectResult(89, 144, {2, 3, 5, 8, 13, 21, 34, 55, 89, 144});
  Run(kBody + Flag("has_cond") + Flag("has_trip_count"));
  ExpectResult(3, 5, {2, 3, 5});
}

TEST_F(OnnxWhileTest, ReturnsInitialValuesWithoutIterations) {
  const auto expect = [&] {
    ExpectTensor<float>(ws_, "last_a", {1}, {1});
    ExpectTensor<float>(ws_, "last_b", {1}, {1});
    ExpectTensor<int32_t>(ws_, "all", {0}, {});
  };
  Feed<int64_t>(&ws_, "trips", {1}, {-1});
  Run(kBody + Flag("has_trip_count"));
  expect();
  Feed<bool>(&ws_, "go", {1}, {false});
  Run(kBody + Flag("has_cond"));
  expect();
}

TEST_F(OnnxWhileTest, EndsWhenItsRunIsStopped) {
  Feed<int64_t>(&ws_, "trips", {}, {int64_t{1} << 62});
  int asked = 0;
  const StopScope scope([&] { return ++asked > 3; });
  ExpectError(Flag("has_trip_count") + kBody, "the run was stopped");
  EXPECT_EQ(asked, 4);
}

TEST_F(OnnxWhileTest, RunsTheBodyInItsOwnWorkspace) {
  Run(kBody + Flag("has_trip_count") + Flag("save_scopes"));
  ExpectResult(3, 5, {2, 3, 5});
  EXPECT_FALSE(ws_.HasBlob("s"));
  Run(kBody + Flag("has_trip_count") + Flag("disable_scopes"));
  ExpectResult(3, 5, {2, 3, 5});
  ExpectTensor<float>(ws_, "s", {1}, {5});
}

TEST_F(OnnxWhileTest, AcceptsIntegersAsConditions) {
  Feed<int32_t>(&ws_, "go", {1}, {1});
  Run(kBody + Flag("has_cond"));
  ExpectTensor<float>(ws_, "last_b", {1}, {144});
  Feed<int64_t>(&ws_, "go", {2}, {1, 0});
  Run(Body("", "a") + Flag("has_cond") + Flag("has_trip_count"));
  ExpectTensor<float>(ws_, "all", {3}, {1, 1, 1});
}

TEST_F(OnnxWhileTest, GivesTheBodyTheConditionWithTheTypeOfTheInput) {
  const std::string args = Body("", "c") + Flag("has_cond") + Flag("has_trip_count");
  Run(args);
  ExpectTensor<bool>(ws_, "all", {3}, {true, true, true});
  Feed<int32_t>(&ws_, "go", {1}, {1});
  Run(args);
  ExpectTensor<int32_t>(ws_, "all", {3}, {1, 1, 1});
  Feed<int64_t>(&ws_, "go", {1}, {1});
  Run(args);
  ExpectTensor<int64_t>(ws_, "all", {3}, {1, 1, 1});
}

// The body sees what it returned, also if that does not end the loop.
TEST_F(OnnxWhileTest, GivesTheBodyTheConditionOfTheIterationBefore) {
  const std::string body = R"(arg { name: "body" n { name: "body" external_input: "i"
    external_input: "c" external_input: "a" external_input: "b" external_output: "next"
    external_output: "a" external_output: "b" external_output: "c"
    op { type: "Cast" input: "c" output: "flag" arg { name: "to" i: 5 } }
    op { type: "Not" input: "flag" output: "next" } } } )";
  for (const std::string& scopes : {std::string(), Flag("save_scopes")}) {
    Feed<bool>(&ws_, "go", {}, {true});
    Run(body + Flag("has_trip_count") + scopes);
    ExpectTensor<bool>(ws_, "all", {3}, {true, false, true});
    Feed<bool>(&ws_, "go", {}, {false});
    Run(body + Flag("has_trip_count") + scopes);
    ExpectTensor<bool>(ws_, "all", {3}, {false, true, false});
    Feed<int64_t>(&ws_, "go", {1}, {0});
    Run(body + Flag("has_trip_count") + scopes);
    ExpectTensor<int64_t>(ws_, "all", {3}, {0, 1, 0});
    Feed<int32_t>(&ws_, "go", {1}, {7});
    Run(body + Flag("has_trip_count") + scopes);
    ExpectTensor<int32_t>(ws_, "all", {3}, {1, 0, 1});
    Run(body + Flag("has_trip_count") + Flag("has_cond") + scopes);  // ends after the first one
    ExpectTensor<int32_t>(ws_, "all", {1}, {1});
  }
}

TEST_F(OnnxWhileTest, GivesTheBodyTheIteration) {
  Run(Body(R"(op { type: "Cast" input: "i" output: "f" arg { name: "to" i: 1 } }
              op { type: "Add" input: "a" input: "f" output: "s" arg { name: "broadcast" i: 1 } })",
           "s", "s") +
      Flag("has_trip_count"));
  ExpectTensor<float>(ws_, "last_a", {1}, {4});
  ExpectTensor<float>(ws_, "all", {3}, {1, 2, 4});
}

TEST_F(OnnxWhileTest, ConcatenatesItemsOfAnyTypeAndRank) {
  Run(Body(R"(op { type: "ConstantFill" output: "item" arg { name: "shape" ints: 1 ints: 2 }
              arg { name: "dtype" i: 2 } arg { name: "value" i: 7 } })") +
      Flag("has_trip_count"));
  ExpectTensor<int32_t>(ws_, "all", {3, 2}, {7, 7, 7, 7, 7, 7});
  Run(Body(R"(op { type: "GivenTensorStringFill" output: "item" arg { name: "shape" ints: 1 }
              arg { name: "values" strings: "a" } })") +
      Flag("has_trip_count"));
  ExpectTensor<std::string>(ws_, "all", {3}, {"a", "a", "a"});
  Run(Body(R"(op { type: "ConstantFill" output: "item" arg { name: "shape" ints: 0 ints: 2 } })") +
      Flag("has_trip_count"));
  ExpectTensor<float>(ws_, "all", {0, 2}, {});
}

// As in Caffe2, values are carried one after the other; different workspaces separate them.
TEST_F(OnnxWhileTest, CarriesValuesInOrder) {
  Feed<float>(&ws_, "y", {1}, {5});
  Run(Body("", "a", "b", "a") + Flag("has_trip_count"));
  ExpectTensor<float>(ws_, "last_a", {1}, {5});
  ExpectTensor<float>(ws_, "last_b", {1}, {5});
  Run(Body("", "a", "b", "a") + Flag("has_trip_count") + Flag("save_scopes"));
  ExpectTensor<float>(ws_, "last_a", {1}, {5});
  ExpectTensor<float>(ws_, "last_b", {1}, {1});
}

TEST_F(OnnxWhileTest, WritesItsInputs) {
  ASSERT_TRUE(ws_.RunOperatorOnce(ParseOp(R"(type: "ONNXWhile" input: "trips" input: "go"
    input: "x" input: "y" output: "y" output: "x" output: "all" )" +
                                          std::string(kBody) + Flag("has_trip_count"))));
  ExpectTensor<float>(ws_, "y", {1}, {3});
  ExpectTensor<float>(ws_, "x", {1}, {5});
}

TEST_F(OnnxWhileTest, RejectsInvalidBodies) {
  const std::string trips = Flag("has_trip_count");
  ExpectError(trips, "body");
  ExpectError(trips + R"(arg { name: "body" n { name: "b" external_input: "i" } })",
              "the body has 1 external inputs, want 4");
  ExpectError(trips + R"(arg { name: "body" n { name: "b" external_input: "i" external_input: "c"
    external_input: "a" external_input: "b" external_output: "c" external_output: "a" } })",
              "the body has 2 external outputs, want at least 3");
  ExpectError(trips + R"(arg { name: "body" n { name: "b" external_input: "i" external_input: "c"
    external_input: "a" external_input: "b" external_output: "c" external_output: "a"
    external_output: "b" external_output: "a" external_output: "b" } })",
              "the operator has 3 outputs, want 4");
  ExpectError(kBody + Flag("save_scopes") + Flag("disable_scopes"), "are both 1");
  ExpectError(trips + R"(arg { name: "body" n { name: "b" external_input: "i" external_input: "c"
    external_input: "a" external_input: "b" external_input: "z" external_output: "c"
    external_output: "a" external_output: "b" external_output: "s"
    op { type: "Add" input: "a" input: "z" output: "s" } } })",
              "non-existing input blob: z");
}

TEST_F(OnnxWhileTest, RejectsInvalidValues) {
  const std::string trips = Flag("has_trip_count");
  ExpectError(Body(R"(op { type: "ConstantFill" output: "item" })") + trips, "is a scalar");
  ExpectError(Body(R"(op { type: "Concat" input: "a" input: "b" output: "s" output: "q"
    arg { name: "axis" i: 0 } })",
                   "s", "s") +
                  trips,
              "has shape [3], want [2] as the first one");
  ExpectError(Body(R"(op { type: "CreateScope" output: "item" })") + trips,
              "want a tensor on the CPU");
  Feed<bool>(&ws_, "go", {0}, {});
  ExpectError(kBody + trips, "the condition \"go\" has no element");
  Feed<float>(&ws_, "go", {1}, {1});
  ExpectError(kBody + trips, "want bool, int32 or int64");
  Feed<bool>(&ws_, "go", {1}, {true});
  Feed<int64_t>(&ws_, "trips", {0}, {});
  ExpectError(kBody + trips, "input 0 (trip count) has no element");
  Feed<int32_t>(&ws_, "trips", {1}, {1});
  ExpectError(kBody + trips, "int");
}

}  // namespace
}  // namespace caffe2rt::test::onnx_while_test
