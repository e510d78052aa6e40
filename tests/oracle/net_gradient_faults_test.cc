// Backward passes in which the original is wrong. What it makes of these nets was asked of Caffe2.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/oracle/replay.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::net_gradient_faults_test {
namespace {

using testing::HasSubstr;

std::string Op(const std::string& type, const std::vector<std::string>& inputs,
               const std::string& output) {
  std::string text = "op { type: '" + type + "' output: '" + output + "'";
  for (const std::string& input : inputs) text += " input: '" + input + "'";
  return text + " }\n";
}

std::string Net(const std::string& argument, const std::string& name, const std::string& ops) {
  return " arg { name: '" + argument + "' n { name: '" + name + "' " + ops + "} }";
}

oracle::GradientEntry Entry(const std::string& blob, const std::string& gradient) {
  oracle::GradientEntry entry;
  entry.set_blob(blob);
  entry.mutable_gradient()->set_dense(gradient);
  return entry;
}

// The backward pass of "y", whose gradient is given.
oracle::NetGradientCase Rejected(const std::string& net, const std::string& error) {
  oracle::NetGradientCase recorded;
  recorded.set_net_before(ParseNet(net).SerializeAsString());
  *recorded.add_y() = Entry("y", "y_grad");
  recorded.set_throws(true);
  recorded.set_error(error);
  return recorded;
}

oracle::NetGradientCase Made(const std::string& net, const std::string& gradient_op,
                             const std::vector<std::pair<std::string, std::string>>& gradients) {
  oracle::NetGradientCase recorded = Rejected(net, "");
  recorded.clear_throws();
  recorded.set_net_after(ParseNet(net + gradient_op).SerializeAsString());
  for (const auto& [blob, gradient] : gradients) *recorded.add_gradient() = Entry(blob, gradient);
  return recorded;
}

std::string If(const std::string& then_ops, const std::string& else_ops) {
  return "op { type: 'If' input: 'c' input: 'x' input: 'w' output: 'y'" +
         Net("then_net", "t", then_ops) + Net("else_net", "e", else_ops) + " }\n";
}

std::string IfGradient(const std::string& blobs, const std::string& then_ops,
                       const std::string& else_ops) {
  return "op { type: 'If' is_gradient_op: true " + blobs + Net("then_net", "t_grad", then_ops) +
         Net("else_net", "e_grad", else_ops) + " }\n";
}

void ExpectKnownWrong(const oracle::NetGradientCase& recorded, const std::string& reason) {
  const CaseResult result = ReplayNetGradient(recorded);
  EXPECT_EQ(result.status, CaseStatus::kKnownWrong);
  EXPECT_THAT(result.what, HasSubstr(reason));
}

void ExpectFailed(const oracle::NetGradientCase& recorded, const std::string& what) {
  const CaseResult result = ReplayNetGradient(recorded);
  EXPECT_EQ(result.status, CaseStatus::kFailed);
  EXPECT_THAT(result.what, HasSubstr(what));
}

const char kUnknownName[] = "Blob name \"t\" not in the scope of operator: input: \"c\"";
const char kNotAnException[] = "exceptions must derive from BaseException";
const char kTwice[] = "Reusage of outer blob name x_grad in Do op";

TEST(NetGradientFaultsTest, KnowsRejections) {
  const std::string local =
      If(Op("Sigmoid", {"x"}, "t") + Op("Mul", {"t", "t"}, "y"), Op("Tanh", {"x"}, "y"));
  const std::string shares = If(Op("Sum", {"x", "w"}, "y"), Op("Tanh", {"x"}, "y"));
  const std::string plain = If(Op("Tanh", {"x"}, "y"), Op("Sigmoid", {"x"}, "y"));
  ExpectKnownWrong(Rejected(local, kUnknownName), "has a value of its own");
  ExpectKnownWrong(Rejected(shares, kNotAnException), "name the gradient of a blob differently");
  for (const char* const error : {kUnknownName, kNotAnException, kTwice}) {
    ExpectFailed(Rejected(plain, error), "made gradients, want an error");
  }
  ExpectFailed(Rejected(local, "another error"), "made gradients, want an error: another error");
}

TEST(NetGradientFaultsTest, KnowsRejectionsOfBlobsThatDoUpdates) {
  const std::string net =
      "op { type: 'Do' input: 'y' input: 'x' input: 'S' output: 'y' output: 'S' "
      "arg { name: 'inner_blobs' strings: 'a' strings: 'b' } "
      "arg { name: 'outer_blobs_idx' ints: 0 ints: 1 } arg { name: 'copy_external_blobs' i: 1 }" +
      Net("net", "n", Op("Tanh", {"b"}, "t") + Op("Mul", {"t", "t"}, "a")) + " }";
  ExpectKnownWrong(Rejected(net, "Reusage of outer blob name y_grad in Do op"),
                   "a Do updates a blob");
}

// If runs one net only, so that the blob of the other one does not exist.
TEST(NetGradientFaultsTest, KnowsFillsOfTheOtherBranch) {
  const std::string net =
      If(Op("Copy", {"x"}, "t") + Op("Sigmoid", {"t"}, "y"), Op("Sum", {"x", "x"}, "y"));
  const char* const blobs =
      "input: 'c' input: 'y' input: 'x' input: 'y_grad' output: 't_grad' output: 'x_grad'";
  const std::string then_ops = Op("SigmoidGradient", {"y", "y_grad"}, "t_grad") +
                               Op("CopyOnDeviceLike", {"t_grad", "x"}, "x_grad");
  const std::string fill =
      "op { type: 'ConstantFill' input: 't' output: 't_grad' arg { name: 'value' f: 0 } }";
  const auto record = [&](const std::string& sum) {
    return Made(net, IfGradient(blobs, then_ops, Op("Sum", {"y_grad", sum}, "x_grad") + fill),
                {{"x", "x_grad"}, {"y", "y_grad"}});
  };
  ExpectKnownWrong(record("y_grad"), "does not exist if the first net has not run");
  ExpectFailed(record("x_grad"), "operator 1: got If(");
}

// The gradient of "w" is 0 if "then_net" has run.
TEST(NetGradientFaultsTest, KnowsGradientsThatIgnoreABranch) {
  const auto record = [](const std::string& then_ops) {
    return Made(If(then_ops, Op("Sum", {"x", "x", "w"}, "y")),
                IfGradient("input: 'c' input: 'y' input: 'y_grad' output: 'x_grad'",
                           Op("TanhGradient", {"y", "y_grad"}, "x_grad"),
                           Op("Sum", {"y_grad", "y_grad"}, "x_grad")),
                {{"w", "y_grad"}, {"x", "x_grad"}, {"y", "y_grad"}});
  };
  ExpectKnownWrong(record(Op("Tanh", {"x"}, "y")), "whichever net has run");
  ExpectKnownWrong(record(Op("Relu", {"w"}, "unused") + Op("Tanh", {"x"}, "y")),
                   "whichever net has run");
  ExpectFailed(record(Op("Mul", {"x", "w"}, "y")), "operator 1: got If(");
}

// The original lists them in the order of a hash table.
TEST(NetGradientFaultsTest, AllowsAnyOrderOfTheBlobsOfIf) {
  const std::string plain = If(Op("Tanh", {"x"}, "y"), Op("Sigmoid", {"x"}, "y"));
  const auto record = [&](const std::string& blobs, const std::string& type) {
    return Made(
        plain,
        IfGradient(blobs + " output: 'x_grad'", Op("TanhGradient", {"y", "y_grad"}, "x_grad"),
                   Op(type, {"y", "y_grad"}, "x_grad")),
        {{"x", "x_grad"}, {"y", "y_grad"}});
  };
  for (const char* const blobs :
       {"input: 'c' input: 'y' input: 'y_grad'", "input: 'c' input: 'y_grad' input: 'y'"}) {
    EXPECT_EQ(ReplayNetGradient(record(blobs, "SigmoidGradient")).what, "");
    ExpectFailed(record(blobs, "TanhGradient"), "operator 1: got If(");
  }
  ExpectFailed(record("input: 'c' input: 'y_grad'", "SigmoidGradient"), "operator 1: got If(");
}

// A type without a maker in the original, and one that is unknown here.
TEST(ReplayGradientTest, RequiresNoMakerIfTheOriginalHasNone) {
  oracle::GradientCase recorded;
  recorded.set_throws(true);
  recorded.set_error("caffe2::GradientRegistry()->Has(def.type()). ");
  const auto status = [&](const std::string& op) {
    recorded.set_op(ParseOp(op).SerializeAsString());
    return ReplayGradient(recorded).status;
  };
  EXPECT_EQ(status("type: 'ONNXWhile' input: 'n' input: 'c'"), CaseStatus::kPassed);
  EXPECT_EQ(status("type: 'NoSuchTypeAnywhere'"), CaseStatus::kNotImplemented);
  recorded.set_error("another error");
  EXPECT_EQ(status("type: 'ONNXWhile' input: 'n' input: 'c'"), CaseStatus::kNotImplemented);
}

}  // namespace
}  // namespace caffe2rt::test::net_gradient_faults_test
