#include "tests/support/gradient_test.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "tests/support/operator_test.h"

namespace caffe2rt::test {
namespace {

bool HasRealElements(const Tensor& tensor) {
  return tensor.IsType<float>() || tensor.IsType<double>();
}

const Tensor& TensorOf(const Workspace& ws, const std::string& name) {
  const Blob* const blob = ws.GetBlob(name);
  CAFFE_ENFORCE(blob != nullptr, "blob \"", name, "\" is not in the workspace");
  return blob->Get<Tensor>();
}

std::vector<double> RealValues(const Tensor& tensor) {
  std::vector<double> values(static_cast<size_t>(tensor.numel()));
  if (tensor.IsType<double>()) {
    std::copy_n(tensor.data<double>(), values.size(), values.begin());
  } else {
    std::copy_n(tensor.data<float>(), values.size(), values.begin());
  }
  return values;
}

// Sets element i and returns the number that was stored.
double Store(Tensor* tensor, int64_t i, double value) {
  if (tensor->IsType<double>()) return tensor->mutable_data<double>()[i] = value;
  return static_cast<double>(tensor->mutable_data<float>()[i] = static_cast<float>(value));
}

std::string ArgumentText(const Argument& argument) {
  if (argument.has_f()) return MakeString(argument.name(), "=", argument.f());
  if (argument.has_i()) return MakeString(argument.name(), "=", argument.i());
  return MakeString(argument.name(), "=\"", argument.s(), "\"");
}

class GradientComparison {
 public:
  GradientComparison(Workspace* ws, const std::string& text, const GradientCheck& check)
      : ws_(ws), def_(ParseOp(text)), check_(check) {
    for (const std::string& name : def_.input()) saved_[name].CopyFrom(TensorOf(*ws, name));
  }

  void Run() {
    RunForward();
    const std::vector<GradientWrapper> given = FeedGradientsOfOutputs();
    const GradientOpsMeta gradient = GetGradientForOp(def_, given);
    for (const OperatorDef& op : gradient.ops_) RunOp(ws_, op);
    int compared = 0;
    for (int i = 0; i < def_.input_size(); ++i) {
      const std::string& name = def_.input(i);
      const GradientWrapper& wrapper = gradient.g_input_[static_cast<size_t>(i)];
      if (!IsChecked(name, wrapper)) continue;
      ++compared;
      SCOPED_TRACE("gradient of input " + std::to_string(i) + " \"" + name + "\"");
      ASSERT_FALSE(wrapper.IsEmpty()) << "the maker returns none";
      Compare(name, Dense(name, wrapper));
    }
    EXPECT_GT(compared, 0) << "no gradient was compared";
    RestoreInputs();
  }

 private:
  bool IsChecked(const std::string& name, const GradientWrapper& wrapper) const {
    if (!check_.inputs.empty()) return std::ranges::count(check_.inputs, name) > 0;
    return HasRealElements(saved_.at(name)) && !wrapper.IsEmpty();
  }

  void RestoreInputs() {
    for (const auto& [name, tensor] : saved_) {
      ws_->CreateBlob(name)->GetMutableTensor(CPU)->CopyFrom(tensor);
    }
  }

  void RunForward() {
    RestoreInputs();
    RunOp(ws_, def_);
  }

  // Feeds dY of each output that receives one, before the gradient operators run.
  std::vector<GradientWrapper> FeedGradientsOfOutputs() {
    std::vector<GradientWrapper> given(static_cast<size_t>(def_.output_size()));
    for (int i = 0; i < def_.output_size(); ++i) {
      const std::string& name = def_.output(i);
      if (std::ranges::count(check_.outputs_without_gradient, name) > 0) continue;
      const Tensor& y = TensorOf(*ws_, name);
      if (!HasRealElements(y)) continue;
      const std::string gradient = name + "_grad";
      const std::vector<float> values =
          RandomValues(y.numel(), 0.25f, 1, static_cast<uint32_t>(i + 1));
      // Signs alternate, so that sums of dY do not hide errors.
      Tensor* const dy = ws_->CreateBlob(gradient)->GetMutableTensor(CPU);
      dy->Resize(y.sizes());
      dy->raw_mutable_data(y.dtype());
      std::vector<double>& weights = weights_[name];
      for (int64_t k = 0; k < y.numel(); ++k) {
        const double value = static_cast<double>(values[static_cast<size_t>(k)]);
        weights.push_back(Store(dy, k, k % 2 == 0 ? value : -value));
      }
      given[static_cast<size_t>(i)].dense_ = gradient;
    }
    return given;
  }

  // The computed gradient of an input, with the elements of a sparse one in their places.
  std::vector<double> Dense(const std::string& input, const GradientWrapper& wrapper) const {
    const Tensor& x = saved_.at(input);
    if (wrapper.IsDense()) {
      const Tensor& dx = TensorOf(*ws_, wrapper.dense_);
      EXPECT_EQ(dx.dims(), x.dims()) << "shape of " << wrapper.dense_;
      return RealValues(dx);
    }
    const Tensor& indices = TensorOf(*ws_, wrapper.indices_);
    const std::vector<double> rows = RealValues(TensorOf(*ws_, wrapper.values_));
    const size_t length = static_cast<size_t>(x.size_from_dim(1));
    std::vector<double> result(static_cast<size_t>(x.numel()));
    for (int64_t k = 0; k < indices.numel(); ++k) {
      const int64_t row = indices.IsType<int32_t>() ? int64_t{indices.data<int32_t>()[k]}
                                                    : indices.data<int64_t>()[k];
      for (size_t j = 0; j < length; ++j) {
        result[static_cast<size_t>(row) * length + j] += rows[static_cast<size_t>(k) * length + j];
      }
    }
    return result;
  }

  // The outputs with element i of an input set to `value`.
  std::map<std::string, std::vector<double>> OutputsAt(const std::string& input, int64_t i,
                                                       double value, double* stored) {
    RestoreInputs();
    *stored = Store(ws_->GetBlob(input)->GetMutableTensor(CPU), i, value);
    RunOp(ws_, def_);
    std::map<std::string, std::vector<double>> outputs;
    for (const auto& [name, weights] : weights_) outputs[name] = RealValues(TensorOf(*ws_, name));
    return outputs;
  }

  // The difference quotient at element i. Adds to *rounding a bound for the effect of the rounding
  // of the outputs.
  double Quotient(const std::string& input, int64_t i, double step, double* rounding) {
    const Tensor& x = saved_.at(input);
    const double epsilon = x.IsType<double>()
                               ? std::numeric_limits<double>::epsilon()
                               : static_cast<double>(std::numeric_limits<float>::epsilon());
    const double at = RealValues(x)[static_cast<size_t>(i)];
    double low = 0, high = 0;
    const auto below = OutputsAt(input, i, at - step, &low);
    const auto above = OutputsAt(input, i, at + step, &high);
    double difference = 0, size = 0;
    for (const auto& [name, weights] : weights_) {
      const std::vector<double>&a = above.at(name), &b = below.at(name);
      for (size_t k = 0; k < weights.size(); ++k) {
        if (a[k] == b[k]) continue;
        difference += weights[k] * (a[k] - b[k]);
        size += std::abs(weights[k]) * std::max(std::abs(a[k]), std::abs(b[k]));
      }
    }
    *rounding += 4 * epsilon * size / (high - low);
    return difference / (high - low);
  }

  void Compare(const std::string& input, const std::vector<double>& got) {
    ASSERT_EQ(static_cast<int64_t>(got.size()), saved_.at(input).numel());
    int reported = 0;
    for (size_t i = 0; i < got.size() && reported < 5; ++i) {
      double rounding = 0;
      const double wide = Quotient(input, static_cast<int64_t>(i), check_.step, &rounding);
      const double narrow = Quotient(input, static_cast<int64_t>(i), check_.step / 2, &rounding);
      // Richardson's extrapolation removes the error of second order.
      const double want = narrow + (narrow - wide) / 3;
      const double size = std::max(1.0, std::abs(want));
      if (std::abs(narrow - wide) > 0.05 * size + rounding) {
        ++reported;
        ADD_FAILURE() << "the function is not smooth at element " << i
                      << ": the difference quotient is " << wide << " with step " << check_.step
                      << " and " << narrow << " with half of it";
      } else if (!(std::abs(got[i] - want) <= check_.tolerance * size + rounding)) {
        ++reported;
        ADD_FAILURE() << "element " << i << " is " << got[i] << ", want " << want;
      }
    }
  }

  Workspace* const ws_;
  const OperatorDef def_;
  const GradientCheck& check_;
  std::map<std::string, Tensor> saved_;                 // the inputs
  std::map<std::string, std::vector<double>> weights_;  // dY of each output that receives one
};

}  // namespace

std::string DescribeGradient(const std::string& text, std::vector<GradientWrapper> given) {
  const OperatorDef def = ParseOp(text);
  if (given.empty()) {
    for (const std::string& output : def.output()) given.push_back({output + "_grad", "", ""});
  }
  const GradientOpsMeta gradient = GetGradientForOp(def, given);
  std::vector<std::string> ops, inputs;
  for (const OperatorDef& op : gradient.ops_) {
    ops.push_back(MakeString(op.type(), "(", absl::StrJoin(op.input(), ","), ")->",
                             absl::StrJoin(op.output(), ",")));
    for (const Argument& argument : op.arg()) ops.back() += " " + ArgumentText(argument);
  }
  for (const GradientWrapper& input : gradient.g_input_) {
    inputs.push_back(input.IsSparse() ? input.indices_ + "+" + input.values_
                                      : (input.IsDense() ? input.dense_ : "-"));
  }
  return absl::StrJoin(ops, "; ") + " | " + absl::StrJoin(inputs, " ");
}

void ExpectGradientMatches(Workspace* ws, const std::string& text, const GradientCheck& check) {
  GradientComparison(ws, text, check).Run();
}

}  // namespace caffe2rt::test
