// Creates, checks and runs nets, plans and predictors while allocations fail.
#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "caffe2_core/graph/device_copies.h"
#include "caffe2_core/graph/net_summary.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/inspect/net_validation.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/runtime/net.h"
#include "tests/support/allocation_sweep.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::allocation_failure_test {
namespace {

using test::AllocationFailureTest;
using test::On;
using test::ParseNet;

// --- create and run ---

// x is [2,3], w is [4,3], b is [4].
const char kInit[] = R"(name: "init"
  op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 2 ints: 3 }
       arg { name: "value" f: 1 } }
  op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: 4 ints: 3 }
       arg { name: "values" floats: 1 floats: 1 floats: 1 floats: 1 floats: 1 floats: 1
             floats: 1 floats: 1 floats: 1 floats: 1 floats: 1 floats: 1 } }
  op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 4 } }
  op { type: "GivenTensorStringFill" output: "s" arg { name: "shape" ints: 1 }
       arg { name: "values" strings: "a string that is longer than its object" } })";
const char kMany[] = R"(name: "many"
  op { type: "FC" input: "x" input: "w" input: "b" output: "y" }
  op { type: "Relu" input: "y" output: "y" }
  op { type: "Concat" input: "y" input: "y" output: "c" output: "c_dims" arg { name: "axis" i: 1 } }
  op { type: "Transpose" input: "c" output: "t" }
  op { type: "ReduceBackSum" input: "c" output: "sum" }
  op { type: "Softmax" input: "y" output: "z" }
  op { type: "Tile" input: "s" output: "strings" arg { name: "tiles" i: 3 }
       arg { name: "axis" i: 0 } }
  external_input: "x" external_input: "w" external_input: "b" external_input: "s"
  external_output: "z" external_output: "sum" external_output: "strings")";

// All four classes are equally likely, each row sums to 8 threes, and the string occurs 3 times.
void VerifyMany(const Workspace& ws) {
  EXPECT_FLOAT_EQ(ws.GetBlob("z")->Get<Tensor>().data<float>()[7], 0.25F);
  EXPECT_FLOAT_EQ(ws.GetBlob("sum")->Get<Tensor>().data<float>()[1], 24);
  EXPECT_EQ(ws.GetBlob("strings")->Get<Tensor>().data<std::string>()[2],
            "a string that is longer than its object");
}

// A text that is truncated when memory runs out could name a different file or key.
TEST_F(AllocationFailureTest, NoTextIsCutShort) {
  const std::string part(300, 'a');
  const std::string whole = "0" + part + "1" + part + "2";
  bool failed = true;
  for (int64_t n = 0; failed; ++n) {
    const test::FailingAllocations failing(n, Mode::kOne);
    std::string text;
    try {
      text = MakeString(0, part, 1, part, 2);
    } catch (const std::bad_alloc&) {
      text = whole;
    }
    EXPECT_TRUE(text == whole);
    failed = failing.asked() > n;
  }
}

class NetWithoutMemoryTest : public AllocationFailureTest {
 protected:
  static std::shared_ptr<Workspace> Filled() {
    auto ws = std::make_shared<Workspace>();
    ws->RunNetOnce(ParseNet(kInit));
    return ws;
  }
};

TEST_F(NetWithoutMemoryTest, IsMade) {
  const NetDef net = ParseNet(kMany);
  Sweep([&] {
    return On<Workspace>(
        Filled(), [&](Workspace& ws) { ASSERT_NE(ws.CreateNet(net, true), nullptr); },
        [](Workspace& ws) {
          EXPECT_TRUE(ws.RunNet("many"));
          VerifyMany(ws);
        });
  });
}

TEST_F(NetWithoutMemoryTest, RunsForTheFirstTime) {
  const NetDef net = ParseNet(kMany);
  Sweep([&] {
    const std::shared_ptr<Workspace> ws = Filled();
    ws->CreateNet(net);
    return On<Workspace>(
        ws, [](Workspace& w) { EXPECT_TRUE(w.RunNet("many")); }, VerifyMany);
  });
}

TEST_F(NetWithoutMemoryTest, RunsOnce) {
  const NetDef init = ParseNet(kInit), net = ParseNet(kMany);
  Sweep([&] {
    return On<Workspace>(
        std::make_shared<Workspace>(),
        [&](Workspace& ws) { EXPECT_TRUE(ws.RunNetOnce(init) && ws.RunNetOnce(net)); }, VerifyMany);
  });
}

TEST_F(NetWithoutMemoryTest, IsCheckedAndInferred) {
  const NetDef net = ParseNet(kMany);
  const NetDef softmax = ParseNet(R"(op { type: "Softmax" input: "y" output: "z" })");
  const std::vector<const NetDef*> nets = {&softmax};
  const size_t findings = ValidateNet(net).size();
  Sweep([&] {
    auto given = std::make_shared<ShapeMap>();
    TensorShape& y = (*given)["y"];
    for (const int64_t dim : {2, 4}) y.add_dims(dim);
    y.set_data_type(TensorProto_DataType_FLOAT);
    return On<ShapeMap>(
        given,
        [&](ShapeMap& shapes) {
          (void)ValidateNet(net);  // may report that there is no memory
          InferOpShapes(nets, &shapes);
        },
        [&](ShapeMap& shapes) {
          EXPECT_EQ(ValidateNet(net).size(), findings);
          EXPECT_EQ(shapes.at("z").dims(1), 4);
        });
  });
}

TEST_F(NetWithoutMemoryTest, RunsPlans) {
  PlanDef plan;
  ASSERT_TRUE(ParseProtoFromText(R"(name: "plan"
    network { name: "one" op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 1 }
              arg { name: "value" f: 1 } } }
    network { name: "a" op { type: "Add" input: "x" input: "x" output: "x" } }
    network { name: "b" op { type: "Copy" input: "one" output: "y" } }
    network { name: "start" op { type: "ConstantFill" output: "one" arg { name: "shape" ints: 1 }
              arg { name: "value" f: 3 } } }
    execution_step { name: "s0" network: "one" network: "start" }
    execution_step { name: "s1" concurrent_substeps: true
      substep { name: "left" network: "a" num_iter: 3 } substep { name: "right" network: "b" } })",
                                 &plan));
  Sweep([&] {
    return On<Workspace>(
        std::make_shared<Workspace>(), [&](Workspace& ws) { EXPECT_TRUE(ws.RunPlan(plan)); },
        [](Workspace& ws) {
          EXPECT_EQ(ws.GetBlob("x")->Get<Tensor>().data<float>()[0], 8);
          EXPECT_EQ(ws.GetBlob("y")->Get<Tensor>().data<float>()[0], 3);
        });
  });
}

// --- functions that change or describe nets ---

class GraphWithoutMemoryTest : public AllocationFailureTest {
 protected:
  const NetDef init_ = ParseNet(kInit), net_ = ParseNet(kMany);
};

TEST_F(GraphWithoutMemoryTest, SummarizesANet) {
  const std::vector<const NetDef*> init_nets = {&init_};
  Sweep([&] {
    return On<NetSummary>(
        std::make_shared<NetSummary>(),
        [&](NetSummary& summary) { summary = SummarizeNet(init_nets, net_, {}); },
        [&](NetSummary& summary) {
          EXPECT_EQ(summary.ops.size(), static_cast<size_t>(net_.op_size()));
        });
  });
}

TEST_F(GraphWithoutMemoryTest, AddsCopiesBetweenDevices) {
  Sweep([&] {
    return On<NetDef>(
        std::make_shared<NetDef>(),
        [&](NetDef& net) {
          EXPECT_FALSE(HasSeveralDevices(net_));
          net = InjectCrossDeviceCopies(net_);
        },
        [&](NetDef& net) { EXPECT_EQ(net.op_size(), net_.op_size()); });
  });
}

// --- predictors ---

class PredictorWithoutMemoryTest : public AllocationFailureTest {
 protected:
  static Tensor Input() {
    Tensor x(std::vector<int64_t>{2, 3}, CPU);
    for (int i = 0; i < 6; ++i) x.mutable_data<float>()[i] = 1;
    return x;
  }
  static void VerifyOutputs(const std::vector<Tensor>& out) {
    ASSERT_EQ(out.size(), 3u);
    EXPECT_FLOAT_EQ(out[0].data<float>()[7], 0.25F);
    EXPECT_FLOAT_EQ(out[1].data<float>()[1], 24);
  }
  const NetDef init_ = ParseNet(kInit), net_ = ParseNet(kMany);
};

TEST_F(PredictorWithoutMemoryTest, IsMade) {
  const Tensor input = Input();
  Sweep([&] {
    return On<std::optional<Predictor>>(
        std::make_shared<std::optional<Predictor>>(),
        [&](std::optional<Predictor>& predictor) { predictor.emplace(init_, net_); },
        [&](std::optional<Predictor>& predictor) {
          std::vector<Tensor> out;
          EXPECT_TRUE((*predictor)({input}, &out));
          VerifyOutputs(out);
        });
  });
}

TEST_F(PredictorWithoutMemoryTest, IsCalled) {
  const std::vector<Tensor> input = {Input()};
  struct Call {
    Predictor predictor;
    std::vector<Tensor> out, held;
  };
  Sweep([&] {
    return On<Call>(
        std::make_shared<Call>(Call{Predictor(init_, net_), {}, {}}),
        [&](Call& call) {
          EXPECT_TRUE(call.predictor(input, &call.out));
          call.held.swap(call.out);  // so that the next call needs new memory
          EXPECT_TRUE(call.predictor(input, &call.out));
        },
        [](Call& call) {
          VerifyOutputs(call.out);
          VerifyOutputs(call.held);
        });
  });
}

}  // namespace
}  // namespace caffe2rt::allocation_failure_test
