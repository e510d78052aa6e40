// Operators of sources in which Tensor is a template over the context.
#include <cstdlib>

#include "../style/test.h"
#include "caffe2/core/db.h"
#include "caffe2/operators/conv_pool_op_base.h"
#include "caffe2/operators/filler_op.h"
#include "caffe2/operators/prefetch_op.h"
#include "caffe2/utils/math.h"

namespace caffe2 {
namespace {

template <class Context>
class TemplatedWindowOp final : public ConvPoolOpBase<Context> {
 public:
  USE_CONV_POOL_BASE_FUNCTIONS(Context);
  TemplatedWindowOp(const OperatorDef& operator_def, Workspace* ws)
      : ConvPoolOpBase<Context>(operator_def, ws) {
    OPERATOR_NEEDS_FEATURE(order_ == StorageOrder::NCHW, "only NCHW");
  }
  bool RunOnDeviceWithOrderNCHW() override {
    const Tensor<Context>& X = Input(0);
    Tensor<Context>* Y = Output(0);
    ConvPoolOpBase<Context>::SetOutputSize(X, Y, 8);
    ConvPoolOpBase<Context>::template SetBiasMultiplier<float>(Y->dim32(2), &ones_);
    math::Set<float, Context>(Y->size(), static_cast<float>(kernel_h()),
                              Y->template mutable_data<float>(), &context_);
    return ones_.size() == Y->dim(2);
  }

 private:
  Tensor<Context> ones_;
};
REGISTER_CPU_OPERATOR(TemplatedWindow, TemplatedWindowOp<CPUContext>);
OPERATOR_SCHEMA(TemplatedWindow)
    .NumInputs(1)
    .NumOutputs(1)
    .TensorInferenceFunction(ConvPoolOpBase<CPUContext>::TensorInferenceForPool);

template <class Context>
class TemplatedRampOp final : public FillerOp<Context> {
 public:
  TemplatedRampOp(const OperatorDef& operator_def, Workspace* ws)
      : FillerOp<Context>(operator_def, ws) {}
  bool Fill(Tensor<Context>* output) override {
    float* data = output->template mutable_data<float>();
    for (int i = 0; i < output->size(); ++i) data[i] = static_cast<float>(i);
    return true;
  }
};
REGISTER_CPU_OPERATOR(TemplatedRamp, TemplatedRampOp<CPUContext>);
OPERATOR_SCHEMA(TemplatedRamp).NumInputs(0, 1).NumOutputs(1);

template <class Context>
class TemplatedReaderOp final : public PrefetchOperator<Context> {
 public:
  using OperatorBase::OutputSize;
  using PrefetchOperator<Context>::context_;
  using PrefetchOperator<Context>::prefetch_thread_;
  TemplatedReaderOp(const OperatorDef& operator_def, Workspace* ws)
      : PrefetchOperator<Context>(operator_def, ws) {}
  ~TemplatedReaderOp() { PrefetchOperator<Context>::Finalize(); }
  bool Prefetch() override {
    prefetched_count_.Resize(1);
    prefetched_count_.mutable_data<int>()[0] = ++count_;
    return true;
  }
  bool CopyPrefetched() override {
    STYLE_EXPECT(prefetch_thread_ != nullptr);
    auto* out = OperatorBase::Output<Tensor<Context>>(0);
    out->CopyFrom(prefetched_count_, &context_);
    return true;
  }

 private:
  TensorCPU prefetched_count_;
  int count_ = 0;
};
REGISTER_CPU_OPERATOR(TemplatedReader, TemplatedReaderOp<CPUContext>);
OPERATOR_SCHEMA(TemplatedReader).NumInputs(0).NumOutputs(1);

template <class Context>
class TemplatedPickOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  TemplatedPickOp(const OperatorDef& operator_def, Workspace* ws)
      : Operator<Context>(operator_def, ws),
        OP_SINGLE_ARG(int, "axis", axis_, 0),
        index_(OperatorBase::GetRepeatedArgument<TIndex>("index")) {}
  bool RunOnDevice() override {
    return DispatchHelper<TensorTypes<int, long, float>>::call(this, Input(DATA));
  }
  template <typename T>
  bool DoRunWithType() {
    const Tensor<Context>& data = Input(DATA);
    const TensorCPU& offset = OperatorBase::Input<TensorCPU>(OFFSET);
    const int axis = data.canonical_axis_index(axis_);
    Tensor<Context>* out = Output(0);
    out->Resize(vector<TIndex>{static_cast<TIndex>(index_.size())});
    T* to = out->template mutable_data<T>();
    for (int i = 0; i < index_.size(); ++i) {
      to[i] = data.template data<T>()[index_[i] * data.size_from_dim(axis + 1)] +
              static_cast<T>(offset.template data<float>()[0]);
    }
    return this->template InputIsType<TensorCPU>(OFFSET);
  }

 private:
  int axis_;
  vector<TIndex> index_;
  INPUT_TAGS(DATA, OFFSET);
};
REGISTER_CPU_OPERATOR(TemplatedPick, TemplatedPickOp<CPUContext>);
OPERATOR_SCHEMA(TemplatedPick).NumInputs(2).NumOutputs(1);
SHOULD_NOT_DO_GRADIENT(TemplatedPick);

// Forwards the arguments of its constructor. Reads the records of a database, and returns the length
// of the next one and a bias for each record read.
template <class Context>
class TemplatedRecordOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  template <class... Args>
  explicit TemplatedRecordOp(Args&&... args)
      : Operator<Context>(std::forward<Args>(args)...),
        twice_(this->template GetSingleArgument<bool>("twice", 0)) {}
  bool RunOnDevice() override {
    const db::DBReader& reader = OperatorBase::Input<db::DBReader>(READER);
    string key, value;
    reader.Read(&key, &value);
    OperatorBase::Output<TensorCPU>(1)->Resize(1);
    int* length = OperatorBase::Output<TensorCPU>(1)->template mutable_data<int>();
    *length = static_cast<int>(value.size()) * (twice_ ? 2 : 1);
    const auto& W = Input(BIAS);
    Output(0)->Resize(0, 4);
    float* none = Output(0)->template mutable_data<float>();
    const float* bias = W.template data<float>();
    return Output(0)->size() == 0 && bias[0] == 10 && (none == nullptr || none != bias);
  }

 private:
  bool twice_;
  INPUT_TAGS(READER, BIAS);
};
REGISTER_CPU_OPERATOR(TemplatedRecord, TemplatedRecordOp<CPUContext>);
OPERATOR_SCHEMA(TemplatedRecord)
    .NumInputs(1, 3)
    .NumOutputs({1, 2})
    .AllowInplace({{1, 0}})
    .Arg("twice", "whether the length is doubled", true)
    .Input(0, "reader", "the database")
    .SetDoc(R"DOC(
Reads a record.
)DOC")
    .TensorInferenceFunction([](const OperatorDef& /*def*/, const vector<TensorShape>& in) {
      return vector<TensorShape>{in[0]};
    });
NO_GRADIENT(TemplatedRecord) SHOULD_NOT_DO_GRADIENT(TemplatedOther);

}  // namespace
}  // namespace caffe2

using namespace caffe2;  // NOLINT: as users write

STYLE_TEST(TemplatedOperatorsInThreeFilesRun) {
  Workspace ws;
  auto* x = ws.CreateBlob("x")->GetMutable<TensorCPU>();
  x->Resize(1, 3);
  for (int i = 0; i < 3; ++i) x->mutable_data<float>()[i] = static_cast<float>(i);
  OperatorDef def =
      CreateOperatorDef("TemplatedAffine", "", {"x"}, {"y", "shape"},
                        {MakeArgument<float>("scale", 2), MakeArgument<int>("offset", 1)});
  STYLE_EXPECT(ws.RunOperatorOnce(def));
  STYLE_EXPECT(ws.GetBlob("y")->Get<TensorCPU>().data<float>()[2] == 5);
  STYLE_EXPECT(ws.GetBlob("shape")->Get<Tensor<CPUContext>>().data<int>()[1] == 3);
  vector<GradientWrapper> g(1);
  def.mutable_output()->RemoveLast();
  g[0].dense_ = "y_grad";
  auto meta = GetGradientForOp(def, g);
  ws.CreateBlob("y_grad")->GetMutable<TensorCPU>()->CopyFrom(*x);
  STYLE_EXPECT(ws.RunOperatorOnce(meta.ops_[0]));
  STYLE_EXPECT(ws.GetBlob("x_grad")->Get<TensorCPU>().data<float>()[2] == 4);
}

STYLE_TEST(TemplatedBaseClassesWork) {
  Workspace ws;
  ws.CreateBlob("x")->GetMutable<TensorCPU>()->Resize(1, 3, 9, 9);
  ws.CreateBlob("x")->GetMutable<TensorCPU>()->mutable_data<float>();
  STYLE_EXPECT(ws.RunOperatorOnce(
      CreateOperatorDef("TemplatedWindow", "", {"x"}, {"y"},
                        {MakeArgument<int>("kernel", 3), MakeArgument<int>("stride", 2),
                         MakeArgument<int>("pad", 1)})));
  const auto& y = ws.GetBlob("y")->Get<TensorCPU>();
  STYLE_EXPECT(y.dims() == (std::vector<TIndex>{1, 8, 5, 5}) && y.data<float>()[7] == 3);
  STYLE_EXPECT(
      ws.RunOperatorOnce(CreateOperatorDef("TemplatedRamp", "", std::vector<string>{}, {"ramp"},
                                           {MakeArgument<std::vector<int>>("shape", {2, 2})})));
  STYLE_EXPECT(ws.GetBlob("ramp")->Get<TensorCPU>().data<float>()[3] == 3);
  auto reader = CreateOperator(
      CreateOperatorDef("TemplatedReader", "", std::vector<string>{}, {"count"}), &ws);
  for (int i = 1; i <= 3; ++i) {
    STYLE_EXPECT(reader->Run());
    STYLE_EXPECT(ws.GetBlob("count")->Get<TensorCPU>().data<int>()[0] == i);
  }
}

STYLE_TEST(TemplatedOperatorsDispatchOnTheType) {
  Workspace ws;
  ws.CreateBlob("x")->Reset(new TensorCPU({2, 2}, std::vector<int>{1, 2, 3, 4}, nullptr));
  ws.CreateBlob("o")->Reset(new TensorCPU({1}, std::vector<float>{10}, nullptr));
  STYLE_EXPECT(ws.RunOperatorOnce(CreateOperatorDef(
      "TemplatedPick", "", {"x", "o"}, {"y"}, {MakeArgument<std::vector<int>>("index", {1, 0})})));
  const int* y = ws.GetBlob("y")->Get<TensorCPU>().data<int>();
  STYLE_EXPECT(y[0] == 13 && y[1] == 11);
}

STYLE_TEST(TemplatedOperatorsReadDatabases) {
  char folder[] = "/tmp/caffe2_style_XXXXXX";
  const string path = string(mkdtemp(folder)) + "/db";
  {
    auto db = db::CreateDB("minidb", path, db::NEW);
    auto transaction = db->NewTransaction();
    transaction->Put("k", "value");
    transaction->Commit();
  }
  Workspace ws;
  ws.CreateBlob("reader")->Reset(new db::DBReader("minidb", path));
  ws.CreateBlob("bias")->Reset(new TensorCPU({1}, std::vector<float>{10}, nullptr));
  STYLE_EXPECT(ws.RunOperatorOnce(CreateOperatorDef("TemplatedRecord", "", {"reader", "bias"},
                                                    {"none", "length"},
                                                    {MakeArgument<bool>("twice", true)})));
  STYLE_EXPECT(ws.GetBlob("length")->Get<TensorCPU>().data<int>()[0] == 10);
  STYLE_EXPECT(ws.GetBlob("none")->Get<TensorCPU>().dims() == (vector<TIndex>{0, 4}));
}

STYLE_TEST(TemplatedWindowsHaveInferredShapes) {
  TensorShape image, filter;
  for (int dim : {2, 3, 9, 9}) image.add_dims(dim);
  for (int dim : {8, 3, 3, 3}) filter.add_dims(dim);
  const OperatorDef def =
      CreateOperatorDef("TemplatedWindow", "", {"x"}, {"y"},
                        {MakeArgument<int>("kernel", 3), MakeArgument<int>("stride", 2)});
  // (9 - 3) / 2 + 1 = 4
  const auto pooled = OpSchemaRegistry::Schema("TemplatedWindow")->InferTensor(def, {image});
  STYLE_EXPECT(pooled[0].dims_size() == 4 && pooled[0].dims(1) == 3 && pooled[0].dims(3) == 4);
  const auto convolved = ConvPoolOpBase<CPUContext>::TensorInferenceForConv(def, {image, filter});
  STYLE_EXPECT(convolved[0].dims(0) == 2 && convolved[0].dims(1) == 8 && convolved[0].dims(2) == 4);
}
