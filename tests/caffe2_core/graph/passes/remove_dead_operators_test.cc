#include "caffe2_core/graph/passes/remove_dead_operators.h"

#include "tests/caffe2_core/graph/passes/pass_run.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::remove_dead_operators_test {
namespace {

using ::testing::ElementsAre;

TEST(RemoveDeadOperatorsTest, RemovesUnusedChains) {
  test::PassRun run;
  EXPECT_THAT(run(RemoveDeadOperators, R"(
    op { type: "Relu" input: "x" output: "a" }
    op { type: "Tanh" input: "a" output: "b" }
    op { type: "Tanh" input: "x" output: "y" }
    op { type: "Sum" input: "a" input: "b" output: "c" })"),
              ElementsAre("Tanh(x) -> y"));
}

TEST(RemoveDeadOperatorsTest, RemovesValuesThatAreOverwritten) {
  test::PassRun run;
  EXPECT_THAT(run(RemoveDeadOperators, R"(
    op { type: "Relu" input: "x" output: "y" }
    op { type: "Tanh" input: "x" output: "y" })"),
              ElementsAre("Tanh(x) -> y"));
}

TEST(RemoveDeadOperatorsTest, KeepsOperatorsWithEffects) {
  test::PassRun run;
  EXPECT_EQ(run(RemoveDeadOperators, R"(
    op { type: "UniformFill" output: "noise" arg { name: "shape" ints: 2 } }
    op { type: "Print" input: "x" }
    op { type: "Assert" input: "x" }
    op { type: "CountUp" input: "counter" output: "old" }
    op { type: "Iter" input: "iter" output: "iter" }
    op { type: "Dropout" input: "x" output: "d" output: "m" arg { name: "is_test" i: 0 } }
    op { type: "UsersOwn" input: "x" output: "u" }
    op { type: "Relu" input: "x" output: "named" }
    op { type: "Tanh" input: "x" output: "y" control_input: "named" })")
                .size(),
            9u);
}

// Their outputs are not read, but others see that they run.
TEST(RemoveDeadOperatorsTest, KeepsWhatChangesMoreThanItsOutputs) {
  const char* const kept[] = {
      R"(op { type: "AccumulateHistogram" input: "x" output: "now" output: "all"
              arg { name: "lower_bound" f: 0 } arg { name: "upper_bound" f: 1 }
              arg { name: "num_buckets" i: 4 } })",
      R"(op { type: "GetAllBlobNames" output: "names" })",
      R"(op { type: "StoreAdd" input: "store" output: "count" arg { name: "blob_name" s: "key" }
              arg { name: "add_value" i: 1 } })",
      R"(op { type: "DBExists" output: "exists" arg { name: "db_name" s: "name" }
              arg { name: "db_type" s: "minidb" } })",
  };
  for (const char* const op : kept) {
    test::PassRun run;
    EXPECT_EQ(run(RemoveDeadOperators, op).size(), 1u) << op;
  }
}

}  // namespace
}  // namespace caffe2rt::remove_dead_operators_test
