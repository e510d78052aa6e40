#include "tests/operators/control/net_gradient.h"

namespace caffe2rt::test::do_gradient_test {
namespace {

void FeedBlobs(Workspace* ws) {
  FeedRandom(ws, "X", {2, 3}, 0.2f, 1, 1);
  FeedRandom(ws, "W", {2, 3}, 0.2f, 1, 2);
}

std::string Do(const std::string& blobs, const std::string& inner, const std::string& outer,
               const std::string& ops, const std::string& more = "") {
  return R"(op { type: "CreateScope" output: "S" } op { type: "Do" )" + blobs + more +
         R"( arg { name: "inner_blobs" )" + inner + R"( } arg { name: "outer_blobs_idx" )" + outer +
         R"( } arg { name: "net" n { name: "net" )" + ops + " } } }\n";
}

const std::string& Product() {
  static const std::string* const net = new std::string(Do(
      R"(input: "X" input: "W" input: "S" output: "Y" output: "S")",
      "strings: 'y' strings: 'w' strings: 'x'", "ints: 2 ints: 1 ints: 0",
      R"(op { type: "Mul" input: "w" input: "x" output: "t" } op { type: "Tanh" input: "t" output: "y" })"));
  return *net;
}

TEST(DoGradientTest, DifferentiatesTheNet) {
  ExpectNetGradients(Product() + R"(op { type: "Mul" input: "Y" input: "X" output: "s" })",
                     FeedBlobs, {"X", "W"});
}

TEST(DoGradientTest, NamesBlobsAsCaffe2) {
  EXPECT_EQ(DescribeBackwardPass(Product(), "Y"),
            "Do(Y,Y_grad,W,X,S)->X_grad,W_grad,S\n"
            "  net net_grad\n"
            "    TanhGradient(y,y/_DO_OPERATOR_INNER_GRAD_)->t_grad\n"
            "    MulGradient(t_grad,w,x)->w_grad,x_grad\n"
            "    Copy(x_grad)->x/_DO_OPERATOR_INNER_GRAD_COPY_\n"
            "    Copy(w_grad)->w/_DO_OPERATOR_INNER_GRAD_COPY_\n");
}

TEST(DoGradientTest, ListsTheBlobsThatOnlyTheNetKeeps) {
  const NetDef net = ParseNet(Do(R"(input: "X" input: "S" output: "Y" output: "S")",
                                 "strings: 'x' strings: 'y'", "ints: 0 ints: 1",
                                 R"(op { type: "Tanh" input: "x" output: "t" }
                                    op { type: "Mul" input: "t" input: "x" output: "y" })"));
  const BackwardPass pass = GetBackwardPass(net.op(), {{"Y", {.dense_ = "Y_grad"}}});
  ASSERT_EQ(pass.ops.size(), 1u);
  EXPECT_TRUE(pass.ops[0].is_gradient_op());
  EXPECT_EQ(ArgumentHelper(pass.ops[0]).GetRepeatedArgument<std::string>("saved_fwd_blobs"),
            std::vector<std::string>({"t"}));
}

TEST(DoGradientTest, PassesGradientsOn) {
  ExpectNetGradients(Do(R"(input: "X" input: "W" input: "S" output: "Y" output: "S")",
                        "strings: 'x' strings: 'w' strings: 'y'", "ints: 0 ints: 1 ints: 2",
                        R"(op { type: "Sum" input: "x" input: "w" output: "y" })") +
                         R"(op { type: "Sqr" input: "Y" output: "s" })",
                     FeedBlobs, {"X", "W"});
}

// Caffe2 rejects this.
TEST(DoGradientTest, DifferentiatesUpdatesInPlace) {
  ExpectNetGradients(R"(op { type: "Mul" input: "X" input: "W" output: "V" })" +
                         Do(R"(input: "V" input: "W" input: "S" output: "V" output: "S")",
                            "strings: 'v' strings: 'w'", "ints: 0 ints: 1",
                            R"(op { type: "Sum" input: "v" output: "old" }
                               op { type: "Mul" input: "old" input: "w" output: "v" })") +
                         R"(op { type: "Mul" input: "V" input: "X" output: "s" })",
                     FeedBlobs, {"X", "W"});
}

TEST(DoGradientTest, SwapsGradientsOfSwappedBlobs) {
  ExpectNetGradients(
      R"(op { type: "Sqr" input: "X" output: "A" } op { type: "Sqr" input: "W" output: "B" })" +
          Do(R"(input: "A" input: "B" input: "S" output: "A" output: "B" output: "S")",
             "strings: 'a' strings: 'b'", "ints: 0 ints: 1",
             R"(op { type: "Sum" input: "a" output: "old" } op { type: "Sum" input: "b" output: "a" }
                op { type: "Copy" input: "old" output: "b" })") +
          R"(op { type: "Mul" input: "A" input: "W" output: "C" } op { type: "Sum" input: "B" input: "C" output: "s" })",
      FeedBlobs, {"X", "W"});
}

// Each of the gradients has a name of its own, and both are exchanged in place.
TEST(DoGradientTest, ExchangesGradientsOfTheirOwnNames) {
  const std::string swap =
      Do(R"(input: "A" input: "B" input: "S" output: "A" output: "B" output: "S")",
         "strings: 'a' strings: 'b'", "ints: 0 ints: 1",
         R"(op { type: "Sum" input: "a" output: "old" } op { type: "Sum" input: "b" output: "a" }
            op { type: "Copy" input: "old" output: "b" })");
  const std::string before =
      R"(op { type: "Sqr" input: "X" output: "A" } op { type: "Mul" input: "W" input: "X" output: "B" })";
  const std::string after = R"(op { type: "Mul" input: "A" input: "W" output: "C" }
      op { type: "Sqr" input: "B" output: "D" } op { type: "Sum" input: "C" input: "D" output: "s" })";
  ExpectNetGradients(before + swap + after, FeedBlobs, {"X", "W"});
  std::string again = swap;  // with a scope of its own
  for (size_t at = again.find("\"S\""); at != std::string::npos; at = again.find("\"S\""))
    again.replace(at, 3, "\"T\"");
  ExpectNetGradients(before + swap + again + after, FeedBlobs, {"X", "W"});
}

TEST(DoGradientTest, RejectsWhatItCannotDifferentiate) {
  ExpectThrows(
      [&] {
        (void)DescribeBackwardPass(
            Do(R"(input: "X" input: "I" input: "S" output: "Y" output: "S")",
               "strings: 'x' strings: 'i' strings: 'y'", "ints: 0 ints: 1 ints: 2",
               R"(op { type: "Gather" input: "x" input: "i" output: "y" })"),
            "Y");
      },
      "the gradient of blob \"x\" in net \"net\" is sparse");
  ExpectThrows([&] { (void)DescribeBackwardPass(Product(), "S"); },
               "the scope \"S\" has a gradient");
}

}  // namespace
}  // namespace caffe2rt::test::do_gradient_test
