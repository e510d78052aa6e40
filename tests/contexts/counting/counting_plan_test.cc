// Plans over nets of several devices: the copies that are inserted into the nets cause no races.
#include <gtest/gtest.h>

#include "caffe2_core/plan/plan_executor.h"
#include "tests/contexts/counting/counting_context.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::counting_plan_test {
namespace {

// The net NAME computes d = relu(x) on the device, then OUTPUT = d + x on the CPU. x is copied to
// x_counting_0.
void AddMixedNet(const std::string& name, const std::string& output, PlanDef* plan) {
  *plan->add_network() =
      ParseNet(MakeString(R"(name: ")", name, R"("
    op { type: "Relu" input: "x" output: "d_)",
                          output, R"(" device_option { device_type: 20 } }
    op { type: "Add" input: "d_)",
                          output, R"(" input: "x" output: ")", output, R"(" })"));
}

TEST(CountingPlanTest, ConcurrentNetsHaveCopiesOfTheirOwn) {
  Workspace ws;
  Feed<float>(&ws, "x", {3}, {-1, 2, 3});
  PlanDef plan;
  AddMixedNet("a", "y", &plan);
  AddMixedNet("b", "z", &plan);
  ExecutionStep* const step = plan.add_execution_step();
  step->set_concurrent_substeps(true);
  for (const char* net : {"a", "b"}) {
    ExecutionStep* const substep = step->add_substep();
    substep->add_network(net);
    substep->set_num_iter(20);
  }
  EXPECT_TRUE(ws.RunPlan(plan));
  ExpectTensor<float>(ws, "y", {3}, {-1, 4, 6});
  ExpectTensor<float>(ws, "z", {3}, {-1, 4, 6});
  EXPECT_FALSE(ws.HasBlob("x_counting_0"));
}

TEST(CountingPlanTest, CopiesInChildWorkspacesHideThoseOfTheParent) {
  Workspace ws;
  Feed<float>(&ws, "x", {3}, {-1, 2, 3});
  Feed<float>(&ws, "x_counting_0", {1}, {7});
  PlanDef plan;
  AddMixedNet("a", "y", &plan);
  ExecutionStep* const step = plan.add_execution_step();
  step->set_num_concurrent_instances(4);
  step->add_substep()->add_network("a");
  step->mutable_substep(0)->set_create_workspace(true);
  EXPECT_TRUE(ws.RunPlan(plan));
  ExpectTensor<float>(ws, "x_counting_0", {1}, {7});
}

// The values of these blobs are read on the host.
TEST(CountingPlanTest, RejectsAStopBlobAndANodeIdOnADevice) {
  Workspace ws;
  Tensor* const stop = ws.CreateBlob("stop")->GetMutableTensor(kCounting);
  stop->Resize(1);
  stop->mutable_data<bool>();
  PlanDef plan;
  plan.add_network()->set_name("n");
  ExecutionStep* const step = plan.add_execution_step();
  step->add_network("n");
  step->set_should_stop_blob("stop");
  ExpectThrows([&] { ws.RunPlan(plan); }, "should_stop_blob \"stop\" is on the device");
  Tensor* const node = ws.CreateBlob("NODE_ID")->GetMutableTensor(kCounting);
  node->Resize(1);
  node->mutable_data<int32_t>();
  step->clear_should_stop_blob();
  step->set_create_workspace(true);
  ExpectThrows([&] { ws.RunPlan(plan); }, "blob \"NODE_ID\" is on the device");
}

}  // namespace
}  // namespace caffe2rt::test::counting_plan_test
