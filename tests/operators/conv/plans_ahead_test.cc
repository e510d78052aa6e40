// Operators that are planned before their first run: outputs have the shape, type and memory of a run, constant
// weights are prepared and others are not, and the runs after it compute what they always compute.
#include "caffe2_core/runtime/plans_ahead.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "caffe2_core/tensor/prepared_forms.h"
#include "contexts/onednn/onednn_tensor.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::plans_ahead_test {
namespace {

struct AheadRow {
  const char* name;
  const char* op;
  int prepares;  // forms of a constant weight, or -1 for some
  bool on_ideep = false;
  bool in_bytes = false;  // the product of floats
};

const AheadRow kAheadRows[] = {
    {"Conv",
     R"(type: "Conv" input: "X" input: "W" input: "b" output: "Y" arg { name: "kernel" i: 3 })",
     -1},
    {"ConvFusion",
     R"(type: "ConvFusion" input: "X" input: "W" input: "b" output: "Y" arg { name: "kernel" i: 3 }
        arg { name: "activation" s: "Relu" })",
     -1},
    {"ConvTranspose",
     R"(type: "ConvTranspose" input: "X" input: "W" input: "b" output: "Y" arg { name: "kernel" i: 3 })",
     0},
    {"FCFusion", R"(type: "FCFusion" input: "M" input: "V" input: "b" output: "Y")", -1},
    {"FCFusion in bytes",
     R"(type: "FCFusion" input: "M" input: "V" input: "b" output: "Y" arg { name: "precision" s: "int8" })",
     -1, false, true},
    {"Int8Conv",
     R"(type: "Int8Conv" input: "QX" input: "QW" input: "qb" output: "Y" arg { name: "kernel" i: 3 }
        arg { name: "Y_scale" f: 0.75 } arg { name: "Y_zero_point" i: 30 } arg { name: "order" s: "NHWC" })",
     1},
    {"Int8ConvRelu of groups",
     R"(type: "Int8ConvRelu" input: "QX" input: "QG" input: "qb" output: "Y" arg { name: "kernel" i: 3 }
        arg { name: "group" i: 2 } arg { name: "Y_scale" f: 0.75 } arg { name: "Y_zero_point" i: 30 } arg { name: "order" s: "NHWC" })",
     -1},
    {"Int8Conv, depthwise",
     R"(type: "Int8Conv" input: "QX" input: "QD" input: "qb" output: "Y" arg { name: "kernel" i: 3 }
        arg { name: "group" i: 16 } arg { name: "Y_scale" f: 0.25 } arg { name: "Y_zero_point" i: 30 } arg { name: "order" s: "NHWC" })",
     -1},
    {"Int8ConvTranspose",
     R"(type: "Int8ConvTranspose" input: "QX" input: "QW" input: "qb" output: "Y" arg { name: "kernel" i: 3 }
        arg { name: "Y_scale" f: 0.75 } arg { name: "Y_zero_point" i: 30 } arg { name: "order" s: "NHWC" })",
     1},
    {"Int8FC",
     R"(type: "Int8FC" input: "QM" input: "QV" input: "qb" output: "Y" arg { name: "Y_scale" f: 0.75 }
        arg { name: "Y_zero_point" i: 30 })",
     1},
    {"Conv on IDEEP",
     R"(type: "Conv" input: "X" input: "W" input: "b" output: "Y" arg { name: "kernel" i: 3 })", -1,
     true},
    {"ConvFusion on IDEEP",
     R"(type: "ConvFusion" input: "X" input: "W" input: "b" input: "S" output: "Y" arg { name: "kernel" i: 3 }
        arg { name: "pad" i: 1 } arg { name: "sum" i: 1 })",
     -1, true},
    {"MaxPool on IDEEP", R"(type: "MaxPool" input: "X" output: "Y" arg { name: "kernel" i: 3 })", 0,
     true},
    {"AveragePool on IDEEP",
     R"(type: "AveragePool" input: "X" output: "Y" arg { name: "kernel" i: 2 } arg { name: "stride" i: 2 })",
     0, true},
    {"AveragePool of whole images on IDEEP",
     R"(type: "AveragePool" input: "X" output: "Y" arg { name: "global_pooling" i: 1 })", 0, true},
    {"FC on IDEEP", R"(type: "FC" input: "X" input: "U" input: "b" output: "Y")", 0, true},
};

void FeedQuantized(Workspace* ws, const std::string& name, const std::vector<int64_t>& dims,
                   uint32_t seed) {
  auto* const value = ws->CreateBlob(name)->GetMutable<Int8TensorCPU>();
  value->scale = 0.05f;
  value->zero_point = 110;
  value->t.Resize(dims);
  const auto values = RandomValues(value->t.numel(), 0, 256, seed);
  std::copy(values.begin(), values.end(), value->t.mutable_data<uint8_t>());
}

void FeedAhead(Workspace* ws, int64_t batch, bool on_ideep, uint32_t seed) {
  for (const char* const name : {"X", "S"}) {
    const std::vector<int64_t> dims = {batch, 16, 9, 8};
    if (!on_ideep) {
      FeedRandom(ws, name, dims, -1, 1, seed++);
      continue;
    }
    Workspace plain;
    const Tensor* const values = FeedRandom(&plain, name, dims, -1, 1, seed++);
    ws->CreateBlob(name)->GetMutableTensor(IDEEP)->CopyFrom(*values);
  }
  FeedRandom(ws, "W", {16, 16, 3, 3}, -1, 1, seed + 1);
  FeedRandom(ws, "b", {16}, -1, 1, seed + 2);
  FeedRandom(ws, "M", {8 * batch, 40}, -1, 1, seed + 3);
  FeedRandom(ws, "V", {16, 40}, -1, 1, seed + 4);
  FeedRandom(ws, "U", {16, 16 * 9 * 8}, -1, 1, seed + 5);
  FeedQuantized(ws, "QX", {batch, 9, 8, 16}, seed + 6);
  FeedQuantized(ws, "QW", {16, 3, 3, 16}, seed + 7);
  FeedQuantized(ws, "QG", {16, 3, 3, 8}, seed + 8);
  FeedQuantized(ws, "QD", {16, 3, 3, 1}, seed + 9);
  FeedQuantized(ws, "QM", {3 * batch, 40}, seed + 10);
  FeedQuantized(ws, "QV", {16, 40}, seed + 11);
  auto* const bias = ws->CreateBlob("qb")->GetMutable<Int8TensorCPU>();
  bias->t.Resize(16);
  for (int i = 0; i < 16; ++i) bias->t.mutable_data<int32_t>()[i] = 300 * i - 2000;
}

const Tensor& OutputOf(const Workspace& ws) {
  const Blob* const blob = ws.GetBlob("Y");
  return blob->IsType<Int8TensorCPU>() ? blob->Get<Int8TensorCPU>().t : blob->Get<Tensor>();
}

std::vector<double> ValuesOf(const Tensor& y) {
  Tensor plain(CPU);
  plain.CopyFrom(y);
  std::vector<double> values;
  for (int64_t i = 0; i < plain.numel(); ++i) {
    values.push_back(plain.IsType<uint8_t>() ? plain.data<uint8_t>()[i] : plain.data<float>()[i]);
  }
  return values;
}

OperatorDef DefOf(const AheadRow& row) {
  OperatorDef def = ParseOp(row.op);
  if (row.on_ideep) def.mutable_device_option()->set_device_type(IDEEP);
  return def;
}

// What an operator that was not planned computes.
std::vector<double> Computed(const AheadRow& row, int64_t batch, uint32_t seed) {
  Workspace ws;
  FeedAhead(&ws, batch, row.on_ideep, seed);
  EXPECT_TRUE(ws.RunOperatorOnce(DefOf(row)));
  return ValuesOf(OutputOf(ws));
}

class PlannedOperator {
 public:
  PlannedOperator(const AheadRow& row, int64_t batch, bool constant) : row_(row) {
    Feed(batch, 1);
    op_ = CreateOperator(DefOf(row), &ws_);
    const int64_t before = PreparedForms::Count().made;
    const std::vector<bool> inputs = {false, constant, constant, false};
    dynamic_cast<PlansAhead&>(*op_).PlanAhead(AheadInputs(inputs));
    made_ = PreparedForms::Count().made - before;
  }
  void Feed(int64_t batch, uint32_t seed) { FeedAhead(&ws_, batch, row_.on_ideep, seed); }
  bool Run() { return op_->Run(); }
  const Tensor& y() const { return OutputOf(ws_); }
  const Workspace& ws() const { return ws_; }
  int64_t made() const { return made_; }
  bool prepares_weights() const { return dynamic_cast<const PlansAhead&>(*op_).PreparesWeights(); }

 private:
  const AheadRow& row_;
  Workspace ws_;
  std::unique_ptr<OperatorBase> op_;
  int64_t made_ = 0;
};

TEST(PlansAheadTest, GivesOutputsTheirMemoryBeforeTheRun) {
  for (const AheadRow& row : kAheadRows) {
    SCOPED_TRACE(row.name);
    for (const int64_t batch : {1, 3, 0}) {
      SCOPED_TRACE(batch);
      PlannedOperator planned(row, batch, true);
      const std::vector<int64_t> dims = planned.y().dims();
      const TypeMeta type = planned.y().dtype();
      const size_t nbytes = planned.y().storage()->capacity_bytes();
      const auto storage = planned.y().storage();
      if (planned.ws().GetBlob("Y")->IsType<Int8TensorCPU>()) {
        EXPECT_EQ(planned.ws().GetBlob("Y")->Get<Int8TensorCPU>().zero_point, 30);
      }
      EXPECT_TRUE(batch == 0 || nbytes > 0);
      ASSERT_TRUE(planned.Run());
      EXPECT_EQ(planned.y().dims(), dims);
      EXPECT_TRUE(planned.y().dtype() == type);
      EXPECT_EQ(planned.y().storage(), storage);
      EXPECT_EQ(planned.y().storage()->capacity_bytes(), nbytes);
      EXPECT_EQ(ValuesOf(planned.y()), Computed(row, batch, 1));
    }
  }
}

TEST(PlansAheadTest, PreparesConstantWeightsOnly) {
  for (const AheadRow& row : kAheadRows) {
    SCOPED_TRACE(row.name);
    PlannedOperator constant(row, 1, true), variable(row, 1, false), empty(row, 0, true);
    if (row.prepares >= 0) EXPECT_EQ(constant.made(), row.prepares);
    EXPECT_EQ(constant.prepares_weights(), row.prepares != 0);
    EXPECT_EQ(variable.made(), 0);
    EXPECT_EQ(empty.made(), 0);
    const int64_t before = PreparedForms::Count().made;
    ASSERT_TRUE(constant.Run());
    EXPECT_EQ(PreparedForms::Count().made, before) << "in the run";
    ASSERT_TRUE(variable.Run());
    EXPECT_EQ(PreparedForms::Count().made - before, constant.made()) << "in the run";
  }
}

// Planned for one batch, run with other weights, then with another batch.
TEST(PlansAheadTest, RunsMayHaveOtherInputs) {
  for (const AheadRow& row : kAheadRows) {
    SCOPED_TRACE(row.name);
    for (const bool constant : {true, false}) {
      PlannedOperator planned(row, 1, constant);
      for (const int64_t batch : {1, 3, 0, 2}) {
        SCOPED_TRACE(batch);
        planned.Feed(batch, 20 + static_cast<uint32_t>(batch));
        ASSERT_TRUE(planned.Run());
        // FCFusion leaves weights that change as they are.
        EXPECT_THAT(ValuesOf(planned.y()),
                    testing::Pointwise(testing::DoubleNear(row.in_bytes ? 0.1 : 2e-5),
                                       Computed(row, batch, 20 + static_cast<uint32_t>(batch))));
      }
    }
  }
}

// A plan that fails has the message of a run, and leaves no part of a plan.
TEST(PlansAheadTest, FailsAsARunDoes) {
  for (const AheadRow& row : kAheadRows) {
    SCOPED_TRACE(row.name);
    const OperatorDef def = DefOf(row);
    Workspace ws;
    FeedAhead(&ws, 1, row.on_ideep, 1);
    const std::string weight = def.input_size() > 1 ? def.input(1) : "X";
    if (weight == "X") continue;
    if (ws.GetBlob(weight)->IsType<Int8TensorCPU>()) {
      FeedQuantized(&ws, weight, {5, 7}, 1);
    } else {
      FeedRandom(&ws, weight, {5, 7});
    }
    const std::unique_ptr<OperatorBase> op = CreateOperator(def, &ws),
                                        other = CreateOperator(def, &ws);
    const std::string message = MessageOf([&] { (void)op->Run(); });
    EXPECT_NE(message, "(nothing was thrown)");
    EXPECT_EQ(
        MessageOf([&] {
          dynamic_cast<PlansAhead&>(*other).PlanAhead(AheadInputs({false, true, true, false}));
        }),
        message);
    FeedAhead(&ws, 1, row.on_ideep, 1);
    ASSERT_TRUE(other->Run());
    EXPECT_EQ(ValuesOf(OutputOf(ws)), Computed(row, 1, 1));
  }
}

}  // namespace
}  // namespace caffe2rt::test::plans_ahead_test
