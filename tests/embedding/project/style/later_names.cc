// Names of the last Caffe2 versions, beside those of the other files.
#include <string>
#include <vector>

#include "c10/cuda/CUDAGuard.h"
#include "c10/util/Exception.h"
#include "caffe2/core/common_gpu.h"
#include "caffe2/core/operator.h"
#include "caffe2/core/workspace.h"
#include "caffe2/operators/conv_pool_op_base.h"
#include "caffe2/operators/no_default_engine_op.h"
#include "caffe2/utils/eigen_utils.h"
#include "caffe2/utils/map_utils.h"
#include "caffe2/utils/math.h"
#include "test.h"

namespace caffe2 {
namespace {

// An operator that PyTorch could call too.
template <class T, class Context>
class LaterMeanOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  explicit LaterMeanOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        is_test_(this->template GetSingleArgument<int>(OpSchema::Arg_IsTest, 0)) {}
  explicit LaterMeanOp(const c10::FunctionSchema& schema, std::vector<c10::IValue> inputs,
                       c10::List<at::Tensor> outputs)
      : Operator<Context>(schema, std::move(inputs), std::move(outputs)) {}
  bool RunOnDevice() override {
    const auto& X = Input(0);
    TORCH_CHECK(X.numel() > 0, "the input has ", X.numel(), " elements");
    auto* Y = OperatorBase::OutputTensor(0, {}, at::dtype<T>().device(CPU));
    T* y = Y->template mutable_data<T>();
    math::Sum<T, Context>(X.numel(), X.template data<T>(), y, &context_);
    math::ScaleFixedSize<T, Context, 1>(1, 1.f / static_cast<float>(X.numel()), y, y, &context_);
    return true;
  }

 private:
  const bool is_test_;
};
REGISTER_CPU_OPERATOR(LaterMean, LaterMeanOp<float, CPUContext>);
OPERATOR_SCHEMA(LaterMean)
    .NumInputs(1)
    .NumOutputs(1)
    .Arg(OpSchema::Arg_IsTest, "not used")
    .DisallowInputFillers()
    .TensorInferenceFunction(OpSchema::NeedsAllInputShapes([](const OperatorDef&,
                                                              const std::vector<TensorShape>& in) {
      return std::vector<TensorShape>{CreateTensorShape(std::vector<int64_t>(), in[0].data_type())};
    }));
class GetLaterMeanGradient : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    SetDense(0, GradientName(I(0)));
    return SingleGradientDef("LaterMeanGradient", "", std::vector<std::string>{I(0), GO(0)},
                             std::vector<std::string>{GradientName(I(0))});
  }
};
REGISTER_GRADIENT(LaterMean, GetLaterMeanGradient);

REGISTER_CPU_OPERATOR(LaterEngineOnly, NoDefaultEngineOp<CPUContext>);
OPERATOR_SCHEMA(LaterEngineOnly).NumInputs(0).NumOutputs(0);
OPERATOR_SCHEMA(LaterConv)
    .NumInputs(2, 3)
    .NumOutputs(1)
    .TensorInferenceFunction(ConvPoolOpBase<CPUContext>::TensorInferenceForConv)
    .CostInferenceFunction(ConvPoolOpBase<CPUContext>::CostInferenceForConv);

bool Throws(void (*function)()) {
  try {
    function();
  } catch (const c10::Error&) {
    return true;
  }
  return false;
}

STYLE_TEST(AnOperatorOfTheLastVersionsRuns) {
  Workspace ws;
  Tensor* x = BlobGetMutableTensor(ws.CreateBlob("x"), CPU);
  x->CopyFrom(TensorCPUFromValues<float>({4}, {1, 2, 3, 6}), false);
  const OperatorDef def = CreateOperatorDef("LaterMean", "", std::vector<std::string>{"x"},
                                            std::vector<std::string>{"y"});
  STYLE_EXPECT(ws.RunOperatorOnce(def));
  STYLE_EXPECT(BlobGetTensor(*ws.GetBlob("y"), CPU).data<float>()[0] == 3);
  const OpSchema* schema = OpSchemaRegistry::Schema("LaterMean");
  STYLE_EXPECT(schema->line() > 0 && OpSchema::inf() > 1000000);
  TensorShape unknown;
  unknown.set_unknown_shape(true);
  STYLE_EXPECT(schema->InferTensor(def, {unknown})[0].unknown_shape());
  const GradientOpsMeta gradient = GetGradientForOp(def, {GradientWrapper{"y_grad", "", ""}});
  STYLE_EXPECT(gradient.ops_[0].output(0) == "x_grad" && gradient.g_input_[0].dense_ == "x_grad");
  STYLE_EXPECT(Throws([] {
    Workspace empty;
    empty.RunOperatorOnce(CreateOperatorDef("LaterEngineOnly", "", std::vector<std::string>(),
                                            std::vector<std::string>()));
  }));
}

STYLE_TEST(TheCostOfAConvolutionIsInferred) {
  const OperatorDef def = CreateOperatorDef("LaterConv", "", std::vector<std::string>{"x", "w"},
                                            std::vector<std::string>{"y"},
                                            std::vector<Argument>{MakeArgument<int>("kernel", 3)});
  const std::vector<TensorShape> shapes = {
      CreateTensorShape(std::vector<int>{1, 2, 5, 5}, TensorProto::FLOAT),
      CreateTensorShape(std::vector<int>{4, 2, 3, 3}, TensorProto::FLOAT)};
  const OpSchema* schema = OpSchemaRegistry::Schema("LaterConv");
  // 4 channels of 3 x 3 elements, of 2 x 3 x 3 multiply-adds each.
  STYLE_EXPECT(schema->InferCost(def, shapes).flops == 2 * 4 * 9 * 18);
  STYLE_EXPECT(nElemBetweenDim(shapes[0], 1, 3) == 10 && nElemBetweenDim(shapes[0], 2) == 25);
}

STYLE_TEST(ChecksThrow) {
  STYLE_EXPECT(Throws([] { TORCH_CHECK(1 > 2, "1 is not above ", 2); }));
  STYLE_EXPECT(Throws([] { AT_ASSERT(false); }));
  STYLE_EXPECT(Throws([] { AT_ERROR("always"); }));
  TORCH_CHECK(true);
  C10_LOG_API_USAGE_ONCE("style.test");
  int logged = 0;
  const auto count = [&logged] { return ++logged; };
  for (int i = 0; i < 6; ++i) C10_LOG_EVERY_N(ERROR, 3) << "logged twice: " << count();
  for (int i = 0; i < 6; ++i) C10_LOG_FIRST_N(ERROR, 1) << "logged once: " << count();
  STYLE_EXPECT(logged == 3);
}

template <class T, int kRank>
void SetToRank(T* value) {
  *value = kRank;
}

STYLE_TEST(ValuesBecomeTemplateArguments) {
  float rank = 0;
  DISPATCH_FUNCTION_BY_VALUE_WITH_TYPE_1(3, SetToRank, float, &rank);
  STYLE_EXPECT(rank == 3);
  STYLE_EXPECT(Throws([] {
    int unused = 0;
    DISPATCH_FUNCTION_BY_VALUE_WITH_TYPE_1(9, SetToRank, int, &unused);
  }));
  const SimpleArray<int, 2> strides = {{6, 1}};
  STYLE_EXPECT(strides.data[0] == 6);
}

STYLE_TEST(SmallFunctionsOfTheLastVersions) {
  const std::map<std::string, int> sizes = {{"a", 1}};
  STYLE_EXPECT(get_default(sizes, "a", 7) == 1 && get_default(sizes, "b", 7) == 7);
  STYLE_EXPECT(math::IntegerNextHighestPowerOf2(5) == 8);
  STYLE_EXPECT(math::IntegerNextHighestPowerOf2(8) == 16);  // as in Caffe2: above 8
  const int dims[] = {2, 3, 4}, axes[] = {2, 0, 1};
  int index[] = {0, 2, 3}, strides[3];
  math::utils::IncreaseIndexInDims(3, dims, index);
  STYLE_EXPECT(index[0] == 1 && index[1] == 0 && index[2] == 0);
  STYLE_EXPECT(math::utils::GetIndexFromDims(3, dims, index) == 12);
  math::utils::ComputeTransposedStrides(3, dims, axes, strides);
  STYLE_EXPECT(strides[0] == 1 && strides[1] == 12 && strides[2] == 4);
  STYLE_EXPECT(GetDimFromOrderString("NCHW") == 1 && GetDimFromOrderString("NHWC") == 3);
  Tensor tensor(CPU);
  STYLE_EXPECT(!tensor && !tensor.dtype_initialized());
  tensor.Resize();
  STYLE_EXPECT(tensor && tensor.dim() == 0 && tensor.numel() == 1 && tensor.is_contiguous());
  NetDef net;
  net.add_external_input("x");
  net.add_external_input("x");
  net.add_external_output("y");
  net.add_external_output("nobody_writes_it");
  *net.add_op() = CreateOperatorDef("Sum", "", std::vector<std::string>{"x", "z"},
                                    std::vector<std::string>{"y"});
  cleanupExternalInputsAndOutputs(&net);
  STYLE_EXPECT(net.external_input_size() == 2 && net.external_input(1) == "z");
  STYLE_EXPECT(net.external_output_size() == 1 && net.external_output(0) == "y");
}

#ifdef CAFFE2RT_HAS_EIGEN
STYLE_TEST(ElementsOfArraysAreSelected) {
  const std::vector<int> indices = {2, 0};
  EArrXf values(3);
  values << 5, 0, 7;
  const EArrXf chosen = utils::GetSubArray(values, utils::AsEArrXt(indices));
  STYLE_EXPECT(chosen.size() == 2 && chosen[0] == 7 && chosen[1] == 5);
  STYLE_EXPECT((utils::GetArrayIndices(values) == std::vector<int>{0, 2}));
  EArrXXf rows(3, 2), two;
  rows << 1, 2, 3, 4, 5, 6;
  utils::GetSubArrayRows(rows, utils::AsEArrXt(indices), &two);
  STYLE_EXPECT(two.rows() == 2 && two(0, 1) == 6 && two(1, 0) == 1);
}
#endif

}  // namespace
}  // namespace caffe2
