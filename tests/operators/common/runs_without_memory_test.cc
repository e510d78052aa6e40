// Operators that run out of memory while they plan for inputs of another shape: afterwards they compute what an operator
// computes that never failed, on the old inputs and on the new ones. Under ASAN only the memory of tensors lacks.
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "tests/operators/common/long_calls.h"
#include "tests/support/allocation_sweep.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::runs_without_memory_test {
namespace {

// Of several operators, the last one runs without memory. The other inputs have more axes or elements.
struct ShortRow {
  std::string operators, inputs, others;
};

class RunsWithoutMemoryTest : public AllocationFailureTest {
 protected:
  void ExpectSameAfterFailures(const std::vector<ShortRow>& rows) {
    for (const ShortRow& row : rows) {
      SCOPED_TRACE(row.operators);
      operators_ = OperatorsOf({row.operators.c_str(), ""});
      for (OperatorDef& def : operators_) def.mutable_device_option()->set_device_type(device_);
      Sweep(row, ResultsOfNew(row.inputs), ResultsOfNew(row.others));
    }
  }

  DeviceTypeProto device_ = PROTO_CPU;

 private:
  using Results = std::vector<std::string>;

  void Sweep(const ShortRow& row, const Results& of_inputs, const Results& of_others) const {
    ASSERT_TRUE(of_inputs != of_others);
    bool failed = true;
    for (int64_t n = 0; failed; ++n) {
      for (const bool back : {false, true}) {
        SCOPED_TRACE(MakeString("without allocation ", n, back ? ", back" : ", onward"));
        Workspace ws;
        Feed(row.inputs, &ws);
        const std::unique_ptr<OperatorBase> op = CreateOperator(operators_.back(), &ws);
        ASSERT_TRUE(op->Run());
        Feed(row.others, &ws);
        failed = FailsWithout(n, op.get());
        if (back) {
          Feed(row.inputs, &ws);
          ASSERT_NO_THROW(op->Run());
          ASSERT_TRUE(ResultsIn(ws) == of_inputs) << "of the old inputs";
          Feed(row.others, &ws);
        }
        ASSERT_NO_THROW(op->Run());
        ASSERT_TRUE(ResultsIn(ws) == of_others) << "of the other inputs";
      }
    }
  }
  void Feed(const std::string& inputs, Workspace* ws) const {
    FeedInputs({"", inputs.c_str()}, ws);
    for (size_t i = 0; i + 1 < operators_.size(); ++i) {
      ASSERT_TRUE(ws->RunOperatorOnce(operators_[i]));
    }
  }
  // The shapes and bytes of the outputs of the last operator.
  Results ResultsIn(const Workspace& ws) const {
    Results results;
    for (const std::string& name : operators_.back().output()) {
      const Blob& blob = *ws.GetBlob(name);
      const bool quantized = blob.IsType<Int8TensorCPU>();
      Tensor plain(CPU);
      plain.CopyFrom(quantized ? blob.Get<Int8TensorCPU>().t : blob.Get<Tensor>());
      results.push_back(MakeString(plain.sizes(), ": "));
      results.back().append(static_cast<const char*>(plain.raw_data()), plain.nbytes());
    }
    return results;
  }
  Results ResultsOfNew(const std::string& inputs) const {
    Workspace ws;
    Feed(inputs, &ws);
    EXPECT_TRUE(CreateOperator(operators_.back(), &ws)->Run());
    return ResultsIn(ws);
  }
  static bool FailsWithout(int64_t n, OperatorBase* op) {
    const FailingAllocations failing(n, Mode::kOne);
    try {
      (void)op->Run();
    } catch (const EnforceNotMet&) {
    } catch (const std::bad_alloc&) {
    }
    return failing.asked() > n;
  }

  std::vector<OperatorDef> operators_;
};

TEST_F(RunsWithoutMemoryTest, ProductsPlanAfterwards) {
  ExpectSameAfterFailures({
      {"FC X W b -> Y", "X f 2,3; W f 5,3; b f 5", "X f 2,1,3,2; W f 4,1,6; b f 4"},
      {"FC X W b -> Y axis=2", "X f 2,3,4; W f 5,4; b f 5", "X f 3,3,2,2; W f 5,4; b f 5"},
      {"FCTransposed X W b -> Y", "X f 2,3; W f 3,5; b f 5", "X f 4,3,2; W f 6,5; b f 5"},
      {"FCFusion X W b -> Y activation=Relu", "X f 2,3; W f 5,3; b f 5",
       "X f 2,1,3,2; W f 4,6; b f 4"},
      {"FCFusion X W b -> Y precision=int8", "X f 2,3; W f 5,3; b f 5",
       "X f 40,1,3,2; W f 4,6; b f 4"},
      {"FCGradient X W G -> D E F", "X f 2,3; W f 5,3; G f 2,5", "X f 4,3,2; W f 3,6; G f 4,3"},
      {"MatMul A B -> Y", "A f 2,3; B f 3,4", "A f 7,2,2; B f 4,9"},
      {"BatchMatMul A B -> Y broadcast=1", "A f 2,3; B f 3,4", "A f 2,1,3,5; B f 4,5,2"},
      {"BatchMatMul A B -> Y", "A f 2,2,3; B f 2,3,4", "A f 2,3,2,3; B f 2,3,3,4"},
      {"MatMulInteger A B -> Y", "A u 2,3; B u 3,4", "A u 2,1,3,5; B u 4,5,2"},
      {"MultiHeadAttention Q K V M -> Y heads=2", "Q f 2,3,4; K f 2,5,4; V f 2,5,6; M f 3,5",
       "Q f 3,4,8; K f 3,7,8; V f 3,7,4; M f 3,1,4,7"},
  });
}

TEST_F(RunsWithoutMemoryTest, QuantizedOperatorsPlanAfterwards) {
  const std::string
      x = "Int8Quantize X -> x Y_scale=0.01 Y_zero_point=120 | ",
      w = x +
          "Int8Quantize W -> w Y_scale=0.01 Y_zero_point=110 | Int8GivenIntTensorFill -> b "
          "values=3,5,-70 shape=3, Y_scale=0.0001 | ",
      same = " Y_scale=0.01 Y_zero_point=120";
  ExpectSameAfterFailures({
      {w + "Int8FC x w b -> y Y_scale=0.02 Y_zero_point=5", "X f 2,4; W f 3,4",
       "X f 5,2,1,5; W f 3,10"},
      {w + "Int8Conv x w b -> y order=NHWC kernels=2,1 Y_scale=0.02 Y_zero_point=5",
       "X f 1,2,2,1; W f 3,2,1,1", "X f 2,5,6,4; W f 3,2,1,4"},
      {w + "Int8ConvTranspose x w b -> y order=NHWC kernel=2 Y_scale=0.02 Y_zero_point=5",
       "X f 1,1,2,1; W f 1,2,2,3", "X f 2,5,6,4; W f 4,2,2,3"},
      {x + "Int8MaxPool x -> y order=NHWC kernel=2" + same, "X f 1,2,2,1", "X f 2,5,6,4"},
      {x + "Int8AveragePool x -> y order=NHWC kernel=2" + same, "X f 1,2,2,1", "X f 2,5,6,4"},
      {x + "Int8ResizeNearest x -> y width_scale=2. height_scale=3." + same, "X f 1,2,1,1",
       "X f 2,5,6,4"},
      {x + "Int8Transpose x -> y" + same, "X f 2,3", "X f 2,3,4,5"},
      {x + "Int8Flatten x -> y" + same, "X f 2,3", "X f 2,3,4,5"},
      {x + "Int8Slice x -> y starts=1, ends=-1," + same, "X f 3,2", "X f 4,3,2,5"},
      {x + "Int8Softmax x -> y Y_scale=0.00390625", "X f 2,3", "X f 4,3,2,5"},
      {x + "Int8Quantize Z -> z Y_scale=0.03 Y_zero_point=99 | Int8Add x z -> y Y_scale=0.05",
       "X f 2,3; Z f 2,3", "X f 4,3,2,5; Z f 4,3,2,5"},
      {x + "Int8Concat x x -> y axis=1" + same, "X f 2,3", "X f 4,3,2,5"},
  });
}

TEST_F(RunsWithoutMemoryTest, WindowsPlanAfterwards) {
  ExpectSameAfterFailures({
      {"Conv X w b -> Y kernel=2", "X f 1,2,3,4; w f 3,2,2,2; b f 3",
       "X f 2,5,6,5; w f 4,5,2,2; b f 4"},
      {"Conv X w -> Y kernel=2 group=2 order=NHWC", "X f 1,3,4,2; w f 4,2,2,1",
       "X f 2,6,5,4; w f 6,2,2,2"},
      {"ConvFusion X w b S -> Y kernel=2 sum=1 activation=Relu",
       "X f 1,2,3,4; w f 3,2,2,2; b f 3; S f 1,3,2,3",
       "X f 2,5,6,5; w f 4,5,2,2; b f 4; S f 2,4,5,4"},
      {"ConvTranspose X w b -> Y kernel=2 stride=2", "X f 1,2,3,4; w f 2,3,2,2; b f 3",
       "X f 2,5,6,5; w f 5,4,2,2; b f 4"},
      {"ConvGradient X w G -> D E F kernel=2", "X f 1,2,3,4; w f 3,2,2,2; G f 1,3,2,3",
       "X f 2,5,6,5; w f 4,5,2,2; G f 2,4,5,4"},
      {"ConvTransposeGradient X w G -> D E F kernel=2", "X f 1,2,3,4; w f 2,3,2,2; G f 1,3,4,5",
       "X f 2,5,6,5; w f 5,4,2,2; G f 2,4,7,6"},
      {"ConvRelu X w b -> Y kernel=2", "X f 1,2,3,4; w f 3,2,2,2; b f 3",
       "X f 2,5,6,5; w f 4,5,2,2; b f 4"},
      {"LC X w b -> Y kernel=2", "X f 1,2,3,4; w f 2,3,5,2,2,2; b f 2,3,5",
       "X f 2,3,4,4; w f 3,3,6,3,2,2; b f 3,3,6"},
      {"LCGradient X w G -> D E F kernel=2", "X f 1,2,3,4; w f 2,3,5,2,2,2; G f 1,5,2,3",
       "X f 2,3,4,4; w f 3,3,6,3,2,2; G f 2,6,3,3"},
      {"MaxPool X -> Y kernel=2", "X f 1,2,3,4", "X f 2,5,6,5"},
      {"AveragePool X -> Y kernel=2 order=NHWC", "X f 1,3,4,2", "X f 2,6,5,5"},
      {"LpPool X -> Y kernel=2", "X f 1,2,3,4", "X f 2,5,6,5"},
      {"MaxPoolWithIndex X -> Y I kernel=2", "X f 1,2,3,4", "X f 2,5,6,5"},
      {"ConvInteger X w -> Y", "X u 1,2,3,4; w u 3,2,2,2", "X u 2,5,6,5; w u 4,5,2,2"},
  });
}

TEST_F(RunsWithoutMemoryTest, NormalizationsPlanAfterwards) {
  ExpectSameAfterFailures({
      {"LayerNorm X -> Y m s", "X f 2,3", "X f 5,3,2,4"},
      {"SpatialBN X s b m v -> Y is_test=1", "X f 1,2,3; s f 2; b f 2; m f 2; v p 2",
       "X f 3,4,3,5; s f 4; b f 4; m f 4; v p 4"},
      {"GroupNorm X s b -> Y m i group=2", "X f 1,2,3; s f 2; b f 2", "X f 3,4,3,5; s f 4; b f 4"},
      {"InstanceNorm X s b -> Y m i order=NHWC", "X f 1,3,2; s f 2; b f 2",
       "X f 3,5,3,4; s f 4; b f 4"},
      {"LRN X -> Y S size=3", "X f 1,2,3,4", "X f 2,5,6,5"},
      {"Softmax X -> Y", "X f 2,3", "X f 5,3,2,4"},
      {"Normalize X -> Y axis=1", "X f 2,3", "X f 5,3,2,4"},
  });
}

TEST_F(RunsWithoutMemoryTest, OperatorsOnIdeepPlanAfterwards) {
  device_ = PROTO_IDEEP;
  const std::string copy = "CopyFromCPUInput X -> x | ";
  const std::string small = "X f 1,2,3,4", large = "X f 2,20,6,5";
  ExpectSameAfterFailures({
      {copy + "Softmax x -> Y axis=1", small, large},
      {copy + "Softmax x -> Y", "X f 2,3", large},
      {copy + "LRN x -> Y size=3", small, large},
      {copy + "SpatialBN x s b m v -> Y is_test=1", small + "; s f 2; b f 2; m f 2; v p 2",
       large + "; s f 20; b f 20; m f 20; v p 20"},
      {copy + "MaxPool x -> Y kernel=2", small, large},
      {copy + "AveragePool x -> Y kernel=2", small, large},
      {copy + "Conv x w b -> Y kernel=2", small + "; w f 3,2,2,2; b f 3",
       large + "; w f 18,20,2,2; b f 18"},
      {copy + "ConvFusion x w b x -> Y kernel=1 sum=1", small + "; w f 2,2,1,1; b f 2",
       large + "; w f 20,20,1,1; b f 20"},
      {copy + "FC x W b -> Y", small + "; W f 5,24; b f 5", large + "; W f 7,600; b f 7"},
      {copy + "Relu x -> Y", small, large},
      {copy + "Sum x x -> Y", small, large},
      {copy + "Concat x x -> Y i axis=1", small, large},
      {copy + "ResizeNearest x -> Y width_scale=2. height_scale=3.", small, large},
      {copy + "Flatten x -> Y", small, large},
      {copy + "PRelu x s -> Y", small + "; s f 2", large + "; s f 20"},
      {copy + "ChannelShuffle x -> Y group=2 kernel=1", small, large},
      {copy + "UpsampleNearest x -> Y scale=2", small, large},
      {copy + "Dropout x -> Y is_test=1", small, large},
      {copy + "Copy x -> Y", small, large},
      {copy + "Mul x s -> Y broadcast=1 axis=1", small + "; s f 2", large + "; s f 20"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::runs_without_memory_test
