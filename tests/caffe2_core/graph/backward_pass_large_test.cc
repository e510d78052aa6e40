// AddGradientOperators on a net of thousands of operators of the type Direct (backward_pass_test.cc).
#include <gtest/gtest.h>

#include <string>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/backward_pass.h"

namespace caffe2rt::backward_pass_large_test {
namespace {

TEST(AddGradientOperatorsTest, HandlesABlobWithManyReaders) {
  constexpr int kReaders = 2000;
  NetDef net;
  for (int i = 0; i < kReaders; ++i) {
    *net.add_op() = CreateOperatorDef("Direct", "", {"x"}, {"y" + std::to_string(i)});
  }
  OperatorDef* const last = net.add_op();
  last->set_type("Direct");
  for (int i = 0; i < kReaders; ++i) last->add_input("y" + std::to_string(i));
  last->add_output("loss");
  const GradientMap gradients = AddGradientOperators(&net, {{"loss", {}}});
  EXPECT_EQ(net.op_size(), 2 * kReaders + 4);
  EXPECT_EQ(net.op(net.op_size() - 1).input_size(), kReaders);
  EXPECT_EQ(gradients.at("x").dense_, "x_grad");
}

}  // namespace
}  // namespace caffe2rt::backward_pass_large_test
