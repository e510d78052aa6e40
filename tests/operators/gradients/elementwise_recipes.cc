// Recipes for operators that work on each element.

#include <algorithm>
#include <map>

#include "tests/operators/gradients/draft.h"

namespace caffe2rt::test {
namespace {

struct Range {
  double low = -1, high = 1;
};

// Where a function without arguments is compared, if not from -2 to 2: inside its domain, and where
// its derivatives are not large.
Range RangeOf(const std::string& type) {
  static const std::map<std::string, Range> ranges = {
      {"Acosh", {1.5, 3}}, {"Atanh", {-0.7, 0.7}}, {"Acos", {-0.7, 0.7}},     {"Asin", {-0.7, 0.7}},
      {"Cbrt", {0.5, 2}},  {"Log", {0.5, 2}},      {"Logit", {0.2, 0.8}},     {"Tan", {-1, 1}},
      {"Rsqrt", {0.5, 2}}, {"Sqrt", {0.5, 2}},     {"Reciprocal", {0.75, 2}},
  };
  const auto found = ranges.find(type);
  return found != ranges.end() ? found->second : Range{-2, 2};
}

void DraftSmooth(Draft& draft, const std::string& type) {
  const Range range = RangeOf(type);
  draft.FeedSmooth("X", draft.Dims(type == "Logit" ? 1 : 0, 4), range.low, range.high);
  draft.SetOperator(type, {"X"}, {"Y"});
}

// Functions with a kink at 0, or at the multiples of 1/8 that the arguments name.
void DraftKinked(Draft& draft, const std::string& type) {
  draft.FeedApart("X", draft.Dims(0, 4, 3));
  draft.SetOperator(type, {"X"}, {"Y"});
  if (type == "Clip") draft.Argument("min", -0.25f).Argument("max", 0.5f);
  if (type == "LeakyRelu" || type == "Elu") draft.Argument("alpha", draft.Real(0.1f, 1));
  if (type == "ThresholdedRelu") draft.Argument("alpha", 0.25f);
  if (type == "HardSigmoid") draft.Argument("alpha", 0.5f).Argument("beta", 0.5f);
  if (type == "ReluN") draft.Argument("n", 0.5f);
}

void DraftGelu(Draft& draft, const std::string& type) {
  draft.FeedSmooth("X", draft.Dims(0, 3), -2, 2);
  draft.SetOperator(type, {"X"}, {"Y"}).Argument("fast_gelu", draft.Coin());
}

void DraftScale(Draft& draft, const std::string& type) {
  draft.FeedSmooth("X", draft.Dims(0, 4));
  draft.SetOperator(type, {"X"}, {"Y"}).Argument("scale", draft.Real(-2, 2));
}

void DraftPow(Draft& draft, const std::string& type) {
  draft.FeedSmooth("X", draft.Dims(0, 3), 0.5, 2);
  draft.SetOperator(type, {"X"}, {"Y"}).Argument("exponent", draft.Real(-2, 3));
}

void DraftPowOfTwo(Draft& draft, const std::string& type) {
  const std::vector<int64_t> dims = draft.Dims(1, 3);
  draft.FeedSmooth("A", dims, 0.5, 2);
  draft.FeedSmooth("B", {dims.back()}, -2, 2);
  draft.SetOperator(type, {"A", "B"}, {"Y"}).Argument("broadcast", 1);
}

// Two operands of the same shape, or numpy's broadcast of dimensions of size 1 and missing ones.
void DraftNumpyBroadcast(Draft& draft, const std::string& type) {
  const std::vector<int64_t> dims = draft.Dims(1, 4);
  std::vector<int64_t> a = dims, b = dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t choice = draft.Int(0, 3);
    if (choice == 0) a[i] = 1;
    if (choice == 1) b[i] = 1;
  }
  if (draft.Coin()) b.erase(b.begin());
  draft.FeedSmooth("A", a, -2, 2);
  draft.FeedSmooth("B", b, 0.75, 2);
  draft.SetOperator(type, {"A", "B"}, {"C"});
}

// The older rules: the dimensions of B are those of A from `axis` on.
void DraftLegacyBroadcast(Draft& draft, const std::string& type) {
  const std::vector<int64_t> a = draft.Dims(1, 4);
  const int64_t rank = static_cast<int64_t>(a.size());
  const int64_t first = draft.Int(0, rank - 1), end = draft.Int(first + 1, rank);
  draft.FeedSmooth("A", a, -2, 2);
  draft.FeedSmooth("B", std::vector<int64_t>(a.begin() + first, a.begin() + end), 0.75, 2);
  draft.SetOperator(type, {"A", "B"}, {"C"}).Argument("broadcast", 1).Argument("axis", first);
}

// All inputs have one shape; an element of one input never equals one of another.
void DraftOfSeveral(Draft& draft, const std::string& type) {
  const std::vector<int64_t> dims = draft.Dims(0, 3, 3);
  std::vector<std::string> inputs;
  const int64_t count = draft.Int(1, 4);
  for (int64_t i = 0; i < count; ++i) {
    inputs.push_back("X" + std::to_string(i));
    draft.FeedApart(inputs.back(), dims);
    // Shifted by a part of a step of FeedApart, so that the elements of all inputs differ.
    Tensor* const x = draft.workspace()->GetBlob(inputs.back())->GetMutableTensor(CPU);
    for (int64_t k = 0; k < x->numel(); ++k) {
      const double shift = static_cast<double>(i) / 32;
      if (x->IsType<double>()) x->mutable_data<double>()[k] += shift;
      if (x->IsType<float>()) x->mutable_data<float>()[k] += static_cast<float>(shift);
    }
  }
  draft.SetOperator(type, inputs, {"Y"});
  draft.check.step = 1.0 / 128;
}

void DraftPRelu(Draft& draft, const std::string& type) {
  std::vector<int64_t> dims = draft.Dims(2, 4, 3);
  const bool nhwc = draft.Coin();
  const int64_t channels = nhwc ? dims.back() : dims[1];
  draft.FeedApart("X", dims);
  draft.FeedSmooth("W", {draft.Coin() ? channels : 1});
  draft.SetOperator(type, {"X", "W"}, {"Y"}).Argument("order", nhwc ? "NHWC" : "NCHW");
}

void DraftCast(Draft& draft, const std::string& type) {
  draft.FeedSmooth("X", draft.Dims(0, 3));
  constexpr int kFloat = 1, kDouble = 13;  // of TensorProto.DataType
  draft.SetOperator(type, {"X"}, {"Y"})
      .Argument("to", draft.Coin() ? kFloat : kDouble)
      .Argument("from_type", draft.doubles() ? kDouble : kFloat);
}

void DraftDropout(Draft& draft, const std::string& type) {
  draft.FeedSmooth("X", draft.Dims(1, 3));
  // With ratio 0 nothing is random.
  draft.SetOperator(type, {"X"}, {"Y", "mask"}).Argument("ratio", 0.0f).Argument("is_test", 0);
}

void DraftSquareRootDivide(Draft& draft, const std::string& type) {
  const std::vector<int64_t> dims = draft.Dims(1, 3);
  draft.FeedSmooth("X", dims);
  const std::vector<int64_t> scale(static_cast<size_t>(dims[0]), draft.Int(0, 9));
  draft.FeedInt64("S", {dims[0]}, scale);
  draft.SetOperator(type, {"X", "S"}, {"Y"});
}

}  // namespace

std::vector<Recipe> ElementwiseRecipes() {
  std::vector<Recipe> recipes;
  for (const char* type :
       {"Acosh",    "Asinh",    "Atanh",    "Acos",       "Alias", "Asin",    "Atan", "Cbrt",
        "Copy",     "Cos",      "Cosh",     "Cube",       "Erf",   "Exp",     "Log",  "Logit",
        "Mish",     "NanCheck", "Negative", "Reciprocal", "Rsqrt", "Sigmoid", "Sin",  "Sinh",
        "Softplus", "Sqr",      "Sqrt",     "Swish",      "Tan",   "Tanh"}) {
    recipes.push_back({type, "", DraftSmooth});
  }
  for (const char* type : {"Abs", "Clip", "Elu", "HardSigmoid", "LeakyRelu", "Relu", "ReluN",
                           "Selu", "Softsign", "ThresholdedRelu"}) {
    recipes.push_back({type, "", DraftKinked});
  }
  for (const char* type : {"Add", "Sub", "Mul", "Div"}) {
    recipes.push_back({type, "", DraftNumpyBroadcast});
    recipes.push_back({type, "Legacy", DraftLegacyBroadcast});
  }
  for (const char* type : {"Max", "Min", "Mean", "Sum"}) {
    recipes.push_back({type, "", DraftOfSeveral});
  }
  recipes.push_back({"Gelu", "", DraftGelu});
  recipes.push_back({"Scale", "", DraftScale});
  recipes.push_back({"Pow", "", DraftPow});
  recipes.push_back({"Pow", "OfTwo", DraftPowOfTwo});
  recipes.push_back({"SquareRootDivide", "", DraftSquareRootDivide});
  recipes.push_back({"PRelu", "", DraftPRelu});
  recipes.push_back({"Cast", "", DraftCast});
  recipes.push_back({"Dropout", "", DraftDropout});
  return recipes;
}

}  // namespace caffe2rt::test
