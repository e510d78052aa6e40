#include "caffe2_core/graph/passes/remove_copies.h"

#include "tests/caffe2_core/graph/passes/pass_run.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::remove_copies_test {
namespace {

using ::testing::ElementsAre;

class RemoveCopiesTest : public testing::Test {
 protected:
  std::vector<std::string> Lines(const std::string& text) { return run_(RemoveCopies, text); }
  test::PassRun run_;
};

TEST_F(RemoveCopiesTest, LetsReadersReadTheInput) {
  EXPECT_THAT(Lines(R"(
    op { type: "Copy" input: "x" output: "a" }
    op { type: "Dropout" input: "a" output: "b" output: "mask" arg { name: "is_test" i: 1 } }
    op { type: "StopGradient" input: "b" output: "c" }
    op { type: "Sum" input: "c" output: "d" }
    op { type: "Concat" input: "d" output: "e" output: "sizes" }
    op { type: "Relu" input: "e" output: "y" })"),
              ElementsAre("Relu(x) -> y"));
}

TEST_F(RemoveCopiesTest, LetsTheProducerWriteAKeptResult) {
  EXPECT_THAT(Lines(R"(
    op { type: "Relu" input: "x" output: "a" }
    op { type: "Copy" input: "a" output: "b" }
    op { type: "Copy" input: "b" output: "y" })"),
              ElementsAre("Relu(x) -> y"));
}

// An operator cannot write one blob twice, nor read the blob that it would write in place.
TEST_F(RemoveCopiesTest, ProducersThatUseTheResultKeepTheirOutput) {
  EXPECT_THAT(Lines(R"(
    op { type: "Split" input: "x" output: "a" output: "y" }
    op { type: "Copy" input: "a" output: "y" })"),
              ElementsAre("Split(x) -> a y", "Copy(a) -> y"));
  EXPECT_THAT(Lines(R"(
    op { type: "Tanh" input: "x" output: "y" }
    op { type: "Transpose" input: "y" output: "a" }
    op { type: "Copy" input: "a" output: "y" })"),
              ElementsAre("Tanh(x) -> y", "Transpose(y) -> a", "Copy(a) -> y"));
}

TEST_F(RemoveCopiesTest, RemovesOperatorsInPlace) {
  EXPECT_THAT(Lines(R"(
    op { type: "Relu" input: "x" output: "y" }
    op { type: "Dropout" input: "y" output: "y" arg { name: "is_test" i: 1 } }
    op { type: "Tanh" input: "y" output: "y" })"),
              ElementsAre("Relu(x) -> y", "Tanh(y) -> y"));
}

// Dropout passes the kept y on to z, so Relu must not write z instead of y.
TEST_F(RemoveCopiesTest, KeepsTheNameOfAResultThatWasUpdatedInPlace) {
  run_.kept = {"y", "z"};
  EXPECT_THAT(Lines(R"(
    op { type: "Tanh" input: "x" output: "y" }
    op { type: "Relu" input: "y" output: "y" }
    op { type: "Dropout" input: "y" output: "y" arg { name: "is_test" i: 1 } }
    op { type: "Copy" input: "y" output: "z" })"),
              ElementsAre("Tanh(x) -> y", "Relu(y) -> y", "Copy(y) -> z"));
}

TEST_F(RemoveCopiesTest, KeepsTheCopyOfAnInputThatIsRead) {
  const char* const text = R"(op { type: "Copy" input: "x" output: "y" })";
  EXPECT_THAT(Lines(text), ElementsAre("Copy(x) -> y"));
}

TEST_F(RemoveCopiesTest, KeepsACopyWhoseSourceIsOverwritten) {
  const char* const text = R"(
    op { type: "Relu" input: "x" output: "a" }
    op { type: "Copy" input: "a" output: "b" }
    op { type: "Tanh" input: "a" output: "a" }
    op { type: "Sum" input: "a" input: "b" output: "y" })";
  EXPECT_THAT(Lines(text),
              ElementsAre("Relu(x) -> a", "Copy(a) -> b", "Tanh(a) -> a", "Sum(a b) -> y"));
}

// With a as its input, Tanh would work in place.
TEST_F(RemoveCopiesTest, KeepsACopyWhoseReaderWritesTheSource) {
  EXPECT_THAT(Lines(R"(
    op { type: "Relu" input: "x" output: "a" }
    op { type: "Copy" input: "a" output: "b" }
    op { type: "Tanh" input: "b" output: "a" }
    op { type: "Relu" input: "a" output: "y" })"),
              ElementsAre("Relu(x) -> a", "Copy(a) -> b", "Tanh(b) -> a", "Relu(a) -> y"));
}

// The first copy lets Sum read y, so Relu must not write y before Sum has run.
TEST_F(RemoveCopiesTest, KeepsTheOrderOfReadsAndWrites) {
  EXPECT_THAT(Lines(R"(
    op { type: "Tanh" input: "x" output: "y" }
    op { type: "Copy" input: "y" output: "t" }
    op { type: "Relu" input: "x" output: "u" }
    op { type: "Sum" input: "t" input: "x" output: "z" }
    op { type: "Copy" input: "u" output: "y" })"),
              ElementsAre("Tanh(x) -> y", "Relu(x) -> u", "Sum(y x) -> z", "Copy(u) -> y"));
}

TEST_F(RemoveCopiesTest, KeepsWhatIsNoNoOp) {
  const std::vector<std::string> same = {"Dropout(x) -> a mask", "Relu(mask) -> m2",
                                         "Concat(x) -> b",       "Concat(x) -> c sizes",
                                         "Cast(x) -> d",         "Sum(a b c d) -> y"};
  EXPECT_EQ(Lines(R"(
    op { type: "Dropout" input: "x" output: "a" output: "mask" arg { name: "is_test" i: 1 } }
    op { type: "Relu" input: "mask" output: "m2" }
    op { type: "Concat" input: "x" output: "b" }
    op { type: "Concat" input: "x" output: "c" output: "sizes" arg { name: "add_axis" i: 1 } }
    op { type: "Cast" input: "x" output: "d" arg { name: "to" i: 1 } }
    op { type: "Sum" input: "a" input: "b" input: "c" input: "d" output: "y" })"),
            same);
}

// They report their arguments when the net is created.
TEST_F(RemoveCopiesTest, KeepsOperatorsWithInvalidArguments) {
  EXPECT_THAT(Lines(R"(
    op { type: "Dropout" input: "x" output: "a" arg { name: "is_test" i: 1 }
         arg { name: "ratio" f: 2 } }
    op { type: "Concat" input: "a" output: "b" output: "sizes" arg { name: "order" s: "NWHC" } }
    op { type: "Relu" input: "b" output: "y" })"),
              ElementsAre("Dropout(x) -> a", "Concat(a) -> b sizes", "Relu(b) -> y"));
}

TEST_F(RemoveCopiesTest, RemovesTheCastOfAFloatResultToFloat) {
  EXPECT_THAT(Lines(R"(
    op { type: "Sigmoid" input: "x" output: "a" }
    op { type: "Cast" input: "a" output: "b" arg { name: "to" i: 1 } }
    op { type: "Relu" input: "b" output: "y" })"),
              ElementsAre("Sigmoid(x) -> a", "Relu(a) -> y"));
  EXPECT_THAT(Lines(R"(
    op { type: "Sigmoid" input: "x" output: "a" }
    op { type: "Cast" input: "a" output: "y" arg { name: "to" i: 2 } })"),
              ElementsAre("Sigmoid(x) -> a", "Cast(a) -> y"));
}

TEST_F(RemoveCopiesTest, RemovesAnAliasOfMemoryThatIsNotWrittenLater) {
  EXPECT_THAT(Lines(R"(
    op { type: "Relu" input: "x" output: "a" }
    op { type: "Alias" input: "a" output: "b" }
    op { type: "Tanh" input: "b" output: "y" })"),
              ElementsAre("Relu(x) -> a", "Tanh(a) -> y"));
  EXPECT_EQ(Lines(R"(
    op { type: "Relu" input: "x" output: "a" }
    op { type: "Alias" input: "a" output: "b" }
    op { type: "Tanh" input: "b" output: "y" }
    op { type: "Tanh" input: "a" output: "a" })")
                .size(),
            4u);
}

TEST_F(RemoveCopiesTest, KeepsResultsThatAreNamedElsewhere) {
  const char* const control = R"(
    op { type: "Copy" input: "x" output: "a" }
    op { type: "Relu" input: "a" output: "y" control_input: "a" })";
  EXPECT_EQ(Lines(control).size(), 2u);
  const char* const nested = R"(
    op { type: "Copy" input: "x" output: "a" }
    op { type: "If" input: "c" output: "y"
         arg { name: "then_net" n { op { type: "Relu" input: "a" output: "y" } } } })";
  EXPECT_EQ(Lines(nested).size(), 2u);
}

// Sum reads the value that y had before.
TEST_F(RemoveCopiesTest, KeepsACopyWhoseResultIsUsedBefore) {
  run_.kept = {"y", "z"};
  EXPECT_THAT(Lines(R"(
    op { type: "Relu" input: "x" output: "u" }
    op { type: "Sum" input: "y" input: "x" output: "z" }
    op { type: "Copy" input: "u" output: "y" })"),
              ElementsAre("Relu(x) -> u", "Sum(y x) -> z", "Copy(u) -> y"));
}

// In the next run, Relu would write the memory of a.
TEST_F(RemoveCopiesTest, KeepsAnAliasWhoseNameIsWrittenBefore) {
  EXPECT_EQ(Lines(R"(
    op { type: "Relu" input: "x" output: "b" }
    op { type: "Tanh" input: "b" output: "t" }
    op { type: "Relu" input: "x" output: "a" }
    op { type: "Alias" input: "a" output: "b" }
    op { type: "Sum" input: "t" input: "b" output: "y" })")
                .size(),
            5u);
}

// The caller reads a mask, or the sizes of a Concat, after the run.
TEST_F(RemoveCopiesTest, KeepsOperatorsWhoseOtherOutputIsKept) {
  const std::string dropout = R"(op { type: "Dropout" input: "x" output: "a" output: "other"
                                      arg { name: "is_test" i: 1 } } )",
                    concat = R"(op { type: "Concat" input: "x" output: "a" output: "other" } )",
                    relu = R"(op { type: "Relu" input: "a" output: "y" })";
  for (const std::string& op : {dropout, concat}) {
    run_.kept = {"y"};
    EXPECT_THAT(Lines(op + relu), ElementsAre("Relu(x) -> y"));
    run_.kept = {"y", "other"};
    EXPECT_EQ(Lines(op + relu).size(), 2u) << op;
  }
}

TEST_F(RemoveCopiesTest, KeepsACopyOfWhatMustBeWrittenInPlace) {
  const std::string begin = R"(op { type: "Relu" input: "x" output: "a" } )",
                    end = R"(op { type: "Copy" input: "a" output: "y" })";
  EXPECT_THAT(Lines(begin + end), ElementsAre("Relu(x) -> y"));
  EXPECT_THAT(
      Lines(begin +
            R"(op { type: "ScatterAssign" input: "a" input: "i" input: "s" output: "a" } )" + end),
      ElementsAre("Relu(x) -> a", "ScatterAssign(a i s) -> a", "Copy(a) -> y"));
  // The reader must write the copy.
  EXPECT_THAT(
      Lines(begin + R"(op { type: "Copy" input: "a" output: "b" }
          op { type: "ScatterAssign" input: "b" input: "i" input: "s" output: "b" }
          op { type: "Sum" input: "a" input: "b" output: "y" })"),
      ElementsAre("Relu(x) -> a", "Copy(a) -> b", "ScatterAssign(b i s) -> b", "Sum(a b) -> y"));
}

// Tanh reads what it would read of a copy of a copy.
TEST_F(RemoveCopiesTest, CountsTheReadersOfEachRemovedCopy) {
  run_.kept = {"y", "z"};
  EXPECT_THAT(Lines(R"(
    op { type: "Relu" input: "x" output: "a" }
    op { type: "Copy" input: "a" output: "b" }
    op { type: "Copy" input: "b" output: "c" }
    op { type: "Tanh" input: "c" output: "z" }
    op { type: "Copy" input: "b" output: "y" })"),
              ElementsAre("Relu(x) -> a", "Tanh(a) -> z", "Copy(a) -> y"));
}

}  // namespace
}  // namespace caffe2rt::remove_copies_test
