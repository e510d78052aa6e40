// Elementwise operators made from functors: those of the first years return nothing and have forms
// for the older broadcasting, later ones return bool and have Forward and Backward.
#include <cmath>
#include <string>
#include <vector>

#include "caffe2/core/workspace.h"
#include "caffe2/image/transform_gpu.h"
#include "caffe2/operators/elementwise_op.h"
#include "caffe2/operators/softmax_op.h"
#include "caffe2/operators/top_k.h"
#include "test.h"

namespace caffe2 {

// The class and the function that sources replace for other types and contexts.
template <>
class TopKOp<int, CPUContext> : public Operator<CPUContext> {
 public:
  TopKOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {}
  bool RunOnDevice() override { return false; }
};
template <>
bool TopKGradientOp<double, CPUContext>::RunOnDevice() {
  return false;
}

namespace {

REGISTER_CPU_OPERATOR(StyleTopK, TopKOp<float, CPUContext>);
REGISTER_CPU_OPERATOR(StyleTopKGradient, TopKGradientOp<float, CPUContext>);
REGISTER_CPU_OPERATOR(StyleOwnTopK, TopKOp<int, CPUContext>);
REGISTER_CPU_OPERATOR(StyleOwnTopKGradient, TopKGradientOp<double, CPUContext>);
OPERATOR_SCHEMA(StyleTopK).NumInputs(1).NumOutputs(2, 3).Arg("k", "how many").Input(0, "X", "data");
OPERATOR_SCHEMA(StyleTopKGradient).NumInputs(3).NumOutputs(1);
OPERATOR_SCHEMA(StyleOwnTopK).NumInputs(1).NumOutputs(2, 3);
OPERATOR_SCHEMA(StyleOwnTopKGradient).NumInputs(3).NumOutputs(1);

struct TwiceFunctor {
  template <class T>
  void operator()(int n, const T* x, T* y, CPUContext* /*context*/) {
    for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
  }
};
struct PowerFunctor {
  explicit PowerFunctor(OperatorBase& op) : power(op.GetSingleArgument<float>("power", 2.f)) {}
  template <class T>
  bool operator()(const int n, const T* x, T* y, CPUContext* /*context*/) const {
    for (int i = 0; i < n; ++i) y[i] = std::pow(x[i], power);
    return true;
  }
  float power;
};
struct IsNegativeFunctor {
  template <class T>
  void operator()(int n, const T* x, bool* y, CPUContext* /*context*/) {
    for (int i = 0; i < n; ++i) y[i] = x[i] < 0;
  }
};
REGISTER_CPU_OPERATOR(StyleTwice,
                      UnaryElementwiseOp<TensorTypes<int, float>, CPUContext, TwiceFunctor>);
REGISTER_CPU_OPERATOR(StylePower,
                      UnaryElementwiseWithArgsOp<TensorTypes<float>, CPUContext, PowerFunctor>);
REGISTER_CPU_OPERATOR(
    StyleIsNegative,
    UnaryElementwiseOp<NumericTypes, CPUContext, IsNegativeFunctor, FixedType<bool>>);
OPERATOR_SCHEMA(StyleTwice).NumInputs(1).NumOutputs(1).AllowInplace({{0, 0}});
OPERATOR_SCHEMA(StylePower).NumInputs(1).NumOutputs(1).Arg("power", "the exponent");
OPERATOR_SCHEMA(StyleIsNegative).NumInputs(1).NumOutputs(1);

// a + 10 b, with the forms of the first years.
struct OldSumFunctor {
  template <bool b_is_scalar, class T, class R>
  void Run(size_t n, const T* a, const T* b, R* y, CPUContext* /*context*/) {
    for (size_t i = 0; i < n; ++i) y[i] = a[i] + 10 * b[b_is_scalar ? 0 : i];
  }
  template <class T, class R>
  void RunWithBroadcast(const T* a, const T* b, R* y, size_t pre, size_t n,
                        CPUContext* /*context*/) {
    for (size_t i = 0; i < pre * n; ++i) y[i] = a[i] + 10 * b[i % n];
  }
  template <class T, class R>
  void RunWithBroadcast2(const T* a, const T* b, R* y, size_t pre, size_t n, size_t post,
                         CPUContext* /*context*/) {
    for (size_t i = 0; i < pre * n * post; ++i) y[i] = a[i] + 10 * b[i / post % n];
  }
};
struct LessFunctor {
  template <class T, class Context>
  void operator()(size_t n, const T* a, const T* b, bool* y, Context* /*context*/) {
    for (size_t i = 0; i < n; ++i) y[i] = a[i] < b[i];
  }
};
// a + b and its gradient, as later.
struct NewSumFunctor {
  template <class T, class R, class Context>
  bool Forward(const std::vector<int>& A_dims, const std::vector<int>& B_dims, const T* a,
               const T* b, R* y, Context* context) const {
    math::Add(static_cast<int>(A_dims.size()), A_dims.data(), static_cast<int>(B_dims.size()),
              B_dims.data(), a, b, y, context);
    return true;
  }
  template <class G, class T, class R, class Context>
  bool Backward(const std::vector<int>& A_dims, const std::vector<int>& B_dims, const G* dy,
                const T* /*a*/, const T* /*b*/, const R* /*y*/, G* da, G* db,
                Context* /*context*/) const {
    int n = 1, m = 1;
    for (const int dim : A_dims) n *= dim;
    for (const int dim : B_dims) m *= dim;
    for (int i = 0; i < m; ++i) db[i] = 0;
    for (int i = 0; i < n; ++i) {
      da[i] = dy[i];
      db[i % m] += dy[i];
    }
    return true;
  }
};
REGISTER_CPU_OPERATOR(StyleOldSum, BinaryElementwiseOp<NumericTypes, CPUContext, OldSumFunctor>);
REGISTER_CPU_OPERATOR(
    StyleLess,
    BinaryElementwiseOp<NumericTypes, CPUContext, WithoutBroadcast<LessFunctor>, FixedType<bool>>);
REGISTER_CPU_OPERATOR(StyleNewSum,
                      BinaryElementwiseOp<TensorTypes<float>, CPUContext, NewSumFunctor>);
REGISTER_CPU_OPERATOR(StyleNewSumGradient,
                      BinaryElementwiseGradientOp<TensorTypes<float>, CPUContext, NewSumFunctor>);
OPERATOR_SCHEMA(StyleOldSum).NumInputs(2).NumOutputs(1).AllowInplace({{0, 0}});
OPERATOR_SCHEMA(StyleLess).NumInputs(2).NumOutputs(1);
OPERATOR_SCHEMA(StyleNewSum).NumInputs(2).NumOutputs(1);
OPERATOR_SCHEMA(StyleNewSumGradient).NumInputs(3).NumOutputs(2);

struct Given {
  std::string name;
  std::vector<int> dims;
  std::vector<float> values;
};
void Feed(Workspace* ws, const std::vector<Given>& blobs) {
  for (const Given& given : blobs) {
    auto* tensor = ws->CreateBlob(given.name)->GetMutable<TensorCPU>();
    tensor->Resize(given.dims);
    std::copy(given.values.begin(), given.values.end(), tensor->mutable_data<float>());
  }
}
// Runs the operator on blobs "a" and "b", and returns whether it succeeded.
bool Runs(Workspace* ws, OperatorDef def) {
  try {
    return ws->RunOperatorOnce(def);
  } catch (const EnforceNotMet&) {
    return false;
  }
}
OperatorDef Def(const std::string& type, std::vector<Argument> args = {}) {
  return CreateOperatorDef(type, "", std::vector<std::string>{"a", "b"},
                           std::vector<std::string>{"y"}, args);
}
template <class T>
std::vector<T> Values(Workspace* ws, const std::string& name) {
  const auto& tensor = ws->GetBlob(name)->Get<TensorCPU>();
  return std::vector<T>(tensor.template data<T>(), tensor.template data<T>() + tensor.size());
}

// A softmax times `factor`.
class ScaledSoftmaxOp final : public SoftmaxOp<float, CPUContext> {
 public:
  ScaledSoftmaxOp(const OperatorDef& def, Workspace* ws)
      : SoftmaxOp<float, CPUContext>(def, ws), factor_(GetSingleArgument<float>("factor", 1.f)) {}
  bool RunOnDevice() override {
    if (!SoftmaxOp<float, CPUContext>::RunOnDevice()) return false;
    float* y = Output(0)->template mutable_data<float>();
    math::Scale<float, CPUContext>(static_cast<int>(Output(0)->size()), factor_, y, y, &context_);
    return true;
  }

 private:
  const float factor_;
};
REGISTER_CPU_OPERATOR(StyleSoftmax, ScaledSoftmaxOp);
OPERATOR_SCHEMA(StyleSoftmax).NumInputs(1).NumOutputs(1);

STYLE_TEST(ClassesDerivedFromSoftmaxRun) {
  Workspace ws;
  Feed(&ws, {{"a", {2, 2}, {0, std::log(3.f), 5, 5}}});
  const std::vector<Argument> args = {MakeArgument<float>("factor", 8.f)};
  STYLE_EXPECT(ws.RunOperatorOnce(CreateOperatorDef(
      "StyleSoftmax", "", std::vector<std::string>{"a"}, std::vector<std::string>{"y"}, args)));
  const std::vector<float> expected = {2, 6, 4, 4}, y = Values<float>(&ws, "y");
  for (size_t i = 0; i < 4; ++i) STYLE_EXPECT(std::abs(y[i] - expected[i]) < 1e-5f);
}

STYLE_TEST(FunctorsOfOneInput) {
  Workspace ws;
  Feed(&ws, {{"a", {3}, {1, -2, 3}}});
  const std::vector<std::string> a = {"a"}, y = {"y"};
  STYLE_EXPECT(ws.RunOperatorOnce(CreateOperatorDef("StyleTwice", "", a, y)));
  STYLE_EXPECT((Values<float>(&ws, "y") == std::vector<float>{2, -4, 6}));
  const std::vector<Argument> cube = {MakeArgument<float>("power", 3.f)};
  STYLE_EXPECT(ws.RunOperatorOnce(CreateOperatorDef("StylePower", "", a, y, cube)));
  STYLE_EXPECT((Values<float>(&ws, "y") == std::vector<float>{1, -8, 27}));
  STYLE_EXPECT(ws.RunOperatorOnce(CreateOperatorDef("StyleIsNegative", "", a, y)));
  STYLE_EXPECT((Values<bool>(&ws, "y") == std::vector<bool>{false, true, false}));
  STYLE_EXPECT(ws.RunOperatorOnce(CreateOperatorDef("StyleTwice", "", a, a)));
  STYLE_EXPECT((Values<float>(&ws, "a") == std::vector<float>{2, -4, 6}));
}

STYLE_TEST(FunctorsOfTheFirstYearsBroadcast) {
  const Argument broadcast = MakeArgument<int>("broadcast", 1);
  Workspace ws;
  Feed(&ws, {{"a", {2, 3}, {1, 2, 3, 4, 5, 6}}, {"b", {2, 3}, {0, 1, 0, 1, 0, 1}}});
  STYLE_EXPECT(Runs(&ws, Def("StyleOldSum")));
  STYLE_EXPECT((Values<float>(&ws, "y") == std::vector<float>{1, 12, 3, 14, 5, 16}));
  Feed(&ws, {{"b", {3}, {1, 2, 3}}});
  STYLE_EXPECT(!Runs(&ws, Def("StyleOldSum")));
  STYLE_EXPECT(Runs(&ws, Def("StyleOldSum", {broadcast})));
  STYLE_EXPECT((Values<float>(&ws, "y") == std::vector<float>{11, 22, 33, 14, 25, 36}));
  Feed(&ws, {{"b", {2}, {1, 2}}});
  STYLE_EXPECT(!Runs(&ws, Def("StyleOldSum", {broadcast})));
  STYLE_EXPECT(Runs(&ws, Def("StyleOldSum", {broadcast, MakeArgument<int>("axis", 0)})));
  STYLE_EXPECT((Values<float>(&ws, "y") == std::vector<float>{11, 12, 13, 24, 25, 26}));
  Feed(&ws, {{"b", {1}, {2}}});
  STYLE_EXPECT(Runs(&ws, Def("StyleOldSum", {broadcast})));
  STYLE_EXPECT((Values<float>(&ws, "y") == std::vector<float>{21, 22, 23, 24, 25, 26}));
  STYLE_EXPECT(!Runs(&ws, Def("StyleLess", {broadcast})));
  Feed(&ws, {{"b", {2, 3}, {2, 2, 2, 5, 5, 5}}});
  STYLE_EXPECT(Runs(&ws, Def("StyleLess")));
  STYLE_EXPECT(
      (Values<bool>(&ws, "y") == std::vector<bool>{true, false, false, true, false, false}));
}

STYLE_TEST(TopKIsAClassToSpecialize) {
  Workspace ws;
  const std::vector<std::string> outputs = {"values", "indices", "flat"};
  Feed(&ws, {{"x", {2, 3}, {1, 5, 5, 7, 0, 9}}});
  const OperatorDef rows = CreateOperatorDef("StyleTopK", "", std::vector<std::string>{"x"},
                                             outputs, {MakeArgument<int>("k", 2)});
  STYLE_EXPECT(Runs(&ws, rows));
  STYLE_EXPECT((Values<float>(&ws, "values") == std::vector<float>{5, 5, 9, 7}));
  STYLE_EXPECT((Values<int64_t>(&ws, "indices") == std::vector<int64_t>{1, 2, 2, 0}));
  STYLE_EXPECT((Values<int64_t>(&ws, "flat") == std::vector<int64_t>{1, 2, 5, 3}));
  OperatorDef columns = rows;
  AddArgument("axis", 0, &columns);
  columns.mutable_arg(0)->set_i(3);  // more than there are
  STYLE_EXPECT(Runs(&ws, columns));
  STYLE_EXPECT((Values<float>(&ws, "values") == std::vector<float>{7, 5, 9, 1, 0, 5, 0, 0, 0}));
  STYLE_EXPECT(
      (Values<int64_t>(&ws, "flat") == std::vector<int64_t>{3, 1, 5, 0, 4, 2, -1, -1, -1}));

  const std::vector<std::string> inputs = {"dy", "indices", "x"};
  STYLE_EXPECT(Runs(&ws, rows));
  Feed(&ws, {{"dy", {2, 2}, {10, 20, 30, 40}}});
  STYLE_EXPECT(Runs(
      &ws, CreateOperatorDef("StyleTopKGradient", "", inputs, std::vector<std::string>{"dx"})));
  STYLE_EXPECT((Values<float>(&ws, "dx") == std::vector<float>{0, 10, 20, 40, 0, 30}));

  const char* own[] = {"StyleOwnTopK", "StyleOwnTopKGradient"};
  OperatorDef def = rows;
  def.set_type(own[0]);
  STYLE_EXPECT(!Runs(&ws, def));
  STYLE_EXPECT(!Runs(&ws, CreateOperatorDef(own[1], "", inputs, std::vector<std::string>{"dx"})));
}

STYLE_TEST(ASchemaIsWrittenAsText) {
  std::ostringstream text;
  text << *OpSchemaRegistry::Schema("StyleTopK");
  STYLE_EXPECT(text.str().find("Arguments:\n  k : how many\nInputs:\n  0, X : data\n") == 0);
}

// Two channels: (x - 1) * 2 and (x - 10) * 0.5.
STYLE_TEST(ImagesAreNormalizedOnTheirDevice) {
  CPUContext context;
  Workspace ws;
  Feed(&ws, {{"mean", {2}, {1, 10}}, {"scale", {2}, {2, 0.5f}}});
  auto image = ws.GetBlob("mean")->Get<TensorCPU>(), mean = image;
  auto scale = ws.GetBlob("scale")->Get<TensorCPU>(), out = image;
  image = TensorCPU(std::vector<int64_t>{1, 1, 2, 2}, CPU);
  uint8_t* pixels = image.mutable_data<uint8_t>();
  for (int i = 0; i < 4; ++i) pixels[i] = static_cast<uint8_t>(10 * i);
  out = TensorCPU(std::vector<int64_t>{0}, CPU);
  STYLE_EXPECT((TransformOnGPU<uint8_t, float, CPUContext>(image, &out, mean, scale, &context)));
  STYLE_EXPECT(out.dim32(1) == 2 && out.dim32(2) == 1 && out.dim32(3) == 2);
  const float* y = out.data<float>();
  STYLE_EXPECT(y[0] == -2 && y[1] == 38 && y[2] == 0 && y[3] == 10);
  STYLE_EXPECT((TransformOnGPU<uint8_t, float16>(image, &out, mean, scale, &context)));
  STYLE_EXPECT(static_cast<float>(out.data<float16>()[1]) == 38);
}

STYLE_TEST(LaterFunctorsBroadcast) {
  Workspace ws;
  Feed(&ws, {{"a", {2, 1}, {1, 2}}, {"b", {3}, {10, 20, 30}}});
  STYLE_EXPECT(Runs(&ws, Def("StyleNewSum")));
  STYLE_EXPECT((Values<float>(&ws, "y") == std::vector<float>{11, 21, 31, 12, 22, 32}));
  STYLE_EXPECT(ws.GetBlob("y")->Get<TensorCPU>().dim32(1) == 3);
  Feed(&ws, {{"b", {4}, {1, 1, 1, 1}}, {"a", {2, 3}, {1, 2, 3, 4, 5, 6}}});
  STYLE_EXPECT(!Runs(&ws, Def("StyleNewSum")));
  Feed(&ws, {{"b", {3}, {1, 1, 1}}, {"dy", {2, 3}, {1, 2, 3, 4, 5, 6}}});
  STYLE_EXPECT(Runs(
      &ws, CreateOperatorDef("StyleNewSumGradient", "", std::vector<std::string>{"dy", "a", "b"},
                             std::vector<std::string>{"da", "db"})));
  STYLE_EXPECT((Values<float>(&ws, "da") == std::vector<float>{1, 2, 3, 4, 5, 6}));
  STYLE_EXPECT((Values<float>(&ws, "db") == std::vector<float>{5, 7, 9}));
}

}  // namespace
}  // namespace caffe2
