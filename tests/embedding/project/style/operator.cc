// Operators, schemas and gradients.
#include "caffe2/core/db.h"
#include "caffe2/operators/conv_pool_op_base.h"
#include "caffe2/operators/prefetch_op.h"
#include "test.h"
#include "three_file_op.h"

namespace caffe2 {
namespace {

template <class Context>
class StyleSplitOp : public Operator<Context> {
 public:
  USE_OPERATOR_FUNCTIONS(Context);
  template <class... Args>
  explicit StyleSplitOp(Args&&... args)
      : Operator<Context>(std::forward<Args>(args)...),
        flag_(this->template GetSingleArgument<bool>("flag", 0)),
        sizes_(OperatorBase::GetRepeatedArgument<int>("sizes")) {}
  bool RunOnDevice() override {
    return DispatchHelper<TensorTypes<int32_t, int64_t, float>>::call(this, Input(0));
  }
  template <typename T>
  bool DoRunWithType() {
    auto& X = Input(0);
    const T* x = X.template data<T>();
    Output(1)->Resize(0, 4);
    float* p = Output(1)->template mutable_data<float>();
    (void)p;
    auto* Y = Output(0, {int64_t(sizes_.size())}, at::dtype<T>());
    T* y = Y->template mutable_data<T>();
    for (size_t i = 0; i < sizes_.size(); ++i) y[i] = flag_ ? x[0] : T(sizes_[i]);
    STYLE_EXPECT(InputSize() == 2 && OutputSize() == 2);
    const Tensor& first = OperatorBase::Input<Tensor>(1, CPU);  // on the CPU on every device
    y[0] += static_cast<T>(first.data<float>()[0]);
    return true;
  }

 private:
  bool flag_;
  vector<int> sizes_;
  INPUT_TAGS(DATA, LABEL);
};
REGISTER_CPU_OPERATOR(StyleSplit, StyleSplitOp<CPUContext>);
REGISTER_CPU_OPERATOR_WITH_ENGINE(StyleSplit, FAST, StyleSplitOp<CPUContext>);

class StyleReaderOp final : public Operator<CPUContext> {
 public:
  StyleReaderOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {}
  bool RunOnDevice() override {
    const db::DBReader& reader = OperatorBase::Input<db::DBReader>(0);
    string key, value;
    reader.Read(&key, &value);
    OperatorBase::Output<Tensor>(0, CPU)->Resize(1);
    OperatorBase::Output<TensorCPU>(0)->mutable_data<int>()[0] = static_cast<int>(value.size());
    return true;
  }
};
REGISTER_CPU_OPERATOR(StyleReader, StyleReaderOp);

template <class Context>
class StyleWindowOp final : public ConvPoolOpBase<Context> {
 public:
  USE_CONV_POOL_BASE_FUNCTIONS(Context);
  StyleWindowOp(const OperatorDef& def, Workspace* ws) : ConvPoolOpBase<Context>(def, ws) {}
  bool RunOnDeviceWithOrderNCHW() override {
    const auto& X = Input(0);
    auto* Y = Output(0);
    this->SetOutputSize(X, Y, 8);
    Y->template mutable_data<float>();
    return kernel_h() > pad_t();
  }
};
REGISTER_CPU_OPERATOR(StyleWindow, StyleWindowOp<CPUContext>);

class StyleCountOp final : public PrefetchOperator<CPUContext> {
 public:
  StyleCountOp(const OperatorDef& def, Workspace* ws) : PrefetchOperator<CPUContext>(def, ws) {}
  ~StyleCountOp() override { Finalize(); }
  bool Prefetch() override {
    ++next_;
    return true;
  }
  bool CopyPrefetched() override {
    auto* y = OperatorBase::Output<Tensor>(0, CPU);
    y->Resize(1);
    *y->mutable_data<int>() = next_;
    return true;
  }

 private:
  int next_ = 0;
};
REGISTER_CPU_OPERATOR(StyleCount, StyleCountOp);

// Has no context, and defines only Run.
class StyleBareOp final : public OperatorBase {
 public:
  StyleBareOp(const OperatorDef& def, Workspace* ws) : OperatorBase(def, ws) {}
  bool Run(int /*stream_id*/ = 0) override {
    *OperatorBase::Output<int>(0) = 7;
    return true;
  }
};
REGISTER_CPU_OPERATOR(StyleBare, StyleBareOp);

}  // namespace

OPERATOR_SCHEMA(StyleBare).NumInputs(0).NumOutputs(1).SetDoc("Returns 7.");
OPERATOR_SCHEMA(StyleSplit).NumInputs(2).NumOutputs(2);
OPERATOR_SCHEMA(StyleReader).NumInputs(1).NumOutputs(1);
OPERATOR_SCHEMA(StyleWindow)
    .NumInputs(1)
    .NumOutputs(1)
    .TensorInferenceFunction(ConvPoolOpBase<CPUContext>::TensorInferenceForPool);
OPERATOR_SCHEMA(StyleCount).NumInputs(0).NumOutputs(1).ScalarType(TensorProto::INT32);

}  // namespace caffe2

using namespace caffe2;  // NOLINT: as users write

STYLE_TEST(OperatorsRegisteredByMacrosRun) {
  Workspace ws;
  BlobSetTensor(ws.CreateBlob("x"), TensorCPUFromValues<float>({2}, std::vector<float>{1, 2}));
  auto affine =
      CreateOperatorDef("EmbeddingAffine", "", {"x"}, {"y"},
                        {MakeArgument<float>("scale", 2), MakeArgument<int>("offset", 1)});
  STYLE_EXPECT(ws.RunOperatorOnce(affine));
  STYLE_EXPECT(ws.GetBlob("y")->Get<Tensor>().data<float>()[1] == 5);
  auto splitting =
      CreateOperatorDef("StyleSplit", "", {"x", "x"}, {"a", "b"},
                        {MakeArgument<std::vector<int>>("sizes", {7, 8})}, DeviceOption(), "FAST");
  auto op = CreateOperator(splitting, &ws);
  STYLE_EXPECT(op->Run() && op->engine() == "FAST");
  STYLE_EXPECT(ws.GetBlob("a")->Get<Tensor>().data<float>()[0] == 7 + 1);
  STYLE_EXPECT(ws.GetBlob("a")->Get<Tensor>().data<float>()[1] == 8);
  STYLE_EXPECT(ws.GetBlob("b")->Get<Tensor>().dim(1) == 4);
  NetDef net;
  net.set_name("bare");
  *net.add_op() = CreateOperatorDef("StyleBare", "", std::vector<string>{}, {"seven"});
  STYLE_EXPECT(ws.RunNetOnce(net) && ws.GetBlob("seven")->Get<int>() == 7);
  const char* text = OpSchemaRegistry::Schema("StyleBare")->doc();
  STYLE_EXPECT(text == string("Returns 7."));
  STYLE_EXPECT(CPUOperatorRegistry()->Has("EmbeddingAffine") &&
               gDeviceTypeRegistry()->count(CPU) == 1);
}

STYLE_TEST(WindowsAndPrefetchingHaveTheirBases) {
  Workspace ws;
  BlobGetMutableTensor(ws.CreateBlob("x"), {1, 3, 9, 9}, at::dtype<float>());
  STYLE_EXPECT(ws.RunOperatorOnce(
      CreateOperatorDef("StyleWindow", "", {"x"}, {"y"},
                        {MakeArgument<int>("kernel", 3), MakeArgument<int>("stride", 2),
                         MakeArgument<int>("pad", 1)})));
  STYLE_EXPECT(ws.GetBlob("y")->Get<Tensor>().dims() == (std::vector<int64_t>{1, 8, 5, 5}));
  NetDef net;
  net.set_name("count");
  *net.add_op() = CreateOperatorDef("StyleCount", "", std::vector<string>{}, {"c"});
  ws.CreateNet(net);
  for (int i = 1; i <= 3; ++i) {
    STYLE_EXPECT(ws.RunNet("count"));
    STYLE_EXPECT(*ws.GetBlob("c")->Get<Tensor>().data<int>() == i);
  }
}

STYLE_TEST(GradientsAreMadeByTheirMakers) {
  OperatorDef op =
      CreateOperatorDef("EmbeddingAffine", "", {"x"}, {"y"}, {MakeArgument<float>("scale", 2)});
  vector<GradientWrapper> g(op.output_size());
  g[0].dense_ = op.output(0) + "_grad";
  auto meta = GetGradientForOp(op, g);
  NetDef net;
  net.add_op()->CopyFrom(meta.ops_[0]);
  STYLE_EXPECT(meta.g_input_[0].IsDense() && meta.g_input_[0].dense_ == "x_grad");
  STYLE_EXPECT(net.op(0).type() == "EmbeddingAffineGradient" && net.op(0).is_gradient_op());
  STYLE_EXPECT(net.op(0).arg_size() == 1 && net.op(0).input(0) == "y_grad");
}

STYLE_TEST(StyleWindowsHaveInferredShapes) {
  TensorShape image, filter;
  for (int dim : {2, 3, 9, 9}) image.add_dims(dim);
  for (int dim : {8, 3, 3, 3}) filter.add_dims(dim);
  const OperatorDef def =
      CreateOperatorDef("StyleWindow", "", {"x"}, {"y"},
                        {MakeArgument<int>("kernel", 3), MakeArgument<int>("stride", 2)});
  // (9 - 3) / 2 + 1 = 4
  const auto pooled = OpSchemaRegistry::Schema("StyleWindow")->InferTensor(def, {image});
  STYLE_EXPECT(pooled[0].dims_size() == 4 && pooled[0].dims(1) == 3 && pooled[0].dims(3) == 4);
  const auto convolved = ConvPoolOpBase<CPUContext>::TensorInferenceForConv(def, {image, filter});
  STYLE_EXPECT(convolved[0].dims(0) == 2 && convolved[0].dims(1) == 8 && convolved[0].dims(2) == 4);
}
