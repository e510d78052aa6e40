#include "caffe2_core/inspect/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/backward_pass.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {
namespace {

bool HasRealElements(const Tensor& tensor) {
  return tensor.IsShaped() && tensor.HasData() &&
         (tensor.IsType<float>() || tensor.IsType<double>());
}

// Element i of floats or doubles.
double RealElement(const Tensor& tensor, int64_t i) {
  return tensor.IsType<double>() ? tensor.data<double>()[i]
                                 : static_cast<double>(tensor.data<float>()[i]);
}

// Sets element i and returns the number that was stored.
double SetElement(Tensor* tensor, int64_t i, double value) {
  if (tensor->IsType<double>()) return tensor->mutable_data<double>()[i] = value;
  return static_cast<double>(tensor->mutable_data<float>()[i] = static_cast<float>(value));
}

// The weight of element i of a loss: signs alternate, so that sums do not hide errors (Weyl's
// sequence).
double WeightOf(int64_t i, int64_t count) {
  if (count == 1) return 1;
  const double part = std::fmod(static_cast<double>(i + 1) * 0.6180339887498949, 1.0);
  return (i % 2 == 0 ? 1 : -1) * (0.25 + 0.75 * part);
}

// Moves the operators at the beginning of the net that have no inputs to a net of their own.
NetDef TakeFills(NetDef* net) {
  NetDef fills;
  fills.set_name(net->name() + "_fills");
  *fills.mutable_device_option() = net->device_option();
  int count = 0;
  while (count < net->op_size() && net->op(count).input_size() == 0) ++count;
  for (int i = 0; i < count; ++i) *fills.add_op() = net->op(i);
  net->mutable_op()->DeleteSubrange(0, count);
  // They are inputs now; a net that lists some inputs must list all.
  for (const OperatorDef& op : fills.op()) {
    if (net->external_input_size() == 0) break;
    for (const std::string& output : op.output()) net->add_external_input(output);
  }
  return fills;
}

class GradientCheck {
 public:
  GradientCheck(const NetDef& net, const std::vector<std::string>& losses,
                const GradientCheckOptions& options, Workspace* ws)
      : forward_(net), losses_(losses), options_(options), ws_(*ws) {
    CAFFE_ENFORCE(!losses.empty(), "argument losses of CheckGradients is empty");
    forward_.clear_external_output();
    const NetDef fills = TakeFills(&forward_);
    if (fills.op_size() > 0)
      CAFFE_ENFORCE(ws_.RunNetOnce(fills), "net \"", fills.name(), "\" failed");
    forward_.set_name(forward_.name() + "_forward");
    for (const std::string& name : InputsOf(forward_)) {
      const std::shared_ptr<Blob> blob = ws_.FindBlob(name);
      if (blob == nullptr || !blob->IsType<Tensor>()) continue;
      if (blob->Get<Tensor>().IsShaped() && blob->Get<Tensor>().HasData())
        saved_[name] = blob->Get<Tensor>().Clone();
    }
  }

  std::vector<CheckedGradient> Run() {
    CompileForward();
    SetWeights();
    const GradientMap gradients = RunBackward();
    std::vector<CheckedGradient> checked;
    for (const auto& [blob, gradient] : gradients) {
      if (!IsChecked(blob)) continue;
      checked.push_back(Compare(blob, gradient));
    }
    RestoreInputs();
    CAFFE_ENFORCE(!checked.empty(), "no input of net \"", forward_.name(),
                  "\" has a gradient that can be checked, want a float input");
    return checked;
  }

 private:
  struct Loss {
    double value = 0;
    double size = 0;  // the sum of the absolute values, which bounds the rounding
  };

  // Difference quotients at an element: of both neighbours, and of one and the element itself.
  struct Slopes {
    double both = 0, below = 0, above = 0;
  };

  const Tensor& TensorIn(const std::string& name) const {
    const std::shared_ptr<Blob> blob = ws_.FindBlob(name);
    CAFFE_ENFORCE(blob != nullptr && blob->IsType<Tensor>() && HasRealElements(blob->Get<Tensor>()),
                  "blob \"", name, "\" is not a tensor of float or double, which a gradient needs");
    CAFFE_ENFORCE(blob->Get<Tensor>().GetDeviceType() == CPU, "blob \"", name,
                  "\" is not on the CPU, where gradients are checked");
    return blob->Get<Tensor>();
  }

  void RestoreInputs() {
    for (const auto& [name, tensor] : saved_)
      ws_.CreateBlob(name)->GetMutableTensor(tensor.GetDeviceType())->CopyFrom(tensor);
  }

  void CompileForward() {
    net_ = CreateNet(forward_, &ws_);
    CAFFE_ENFORCE(net_ != nullptr, "net \"", forward_.name(), "\" has type \"", forward_.type(),
                  "\", which is not known");
  }

  // Runs the net, whose inputs have been set.
  Loss RunForward() {
    CAFFE_ENFORCE(net_->Run(), "net \"", forward_.name(), "\" failed");
    Loss loss;
    for (const std::string& name : losses_) {
      const Tensor& tensor = TensorIn(name);
      for (int64_t i = 0; i < tensor.numel(); ++i) {
        const double term = WeightOf(i, tensor.numel()) * RealElement(tensor, i);
        loss.value += term;
        loss.size += std::abs(term);
      }
    }
    return loss;
  }

  // Runs the net twice, and feeds the gradients of the losses.
  void SetWeights() {
    RestoreInputs();
    const Loss first = RunForward();
    RestoreInputs();
    const Loss second = RunForward();
    CAFFE_ENFORCE(first.value == second.value, "two runs of net \"", forward_.name(),
                  "\" give the losses ", first.value, " and ", second.value,
                  ", want the same: random operators cannot be checked");
    base_loss_ = first.value;
    for (const std::string& name : losses_) {
      const Tensor& loss = TensorIn(name);
      Tensor weights(loss.dims(), CPU);
      weights.raw_mutable_data(loss.dtype());
      for (int64_t i = 0; i < loss.numel(); ++i) SetElement(&weights, i, WeightOf(i, loss.numel()));
      *ws_.CreateBlob(WeightsName(name))->GetMutableTensor(CPU) = std::move(weights);
    }
  }

  static std::string WeightsName(const std::string& loss) { return loss + "_check_weights"; }

  GradientMap RunBackward() {
    NetDef net = forward_;
    net.set_name(net.name() + "_backward");
    net.clear_external_input();
    GradientStart start;
    for (const std::string& loss : losses_) start.push_back({loss, {WeightsName(loss), "", ""}});
    GradientMap gradients = AddGradientOperators(&net, start, {.wrt = options_.wrt});
    RestoreInputs();
    const std::unique_ptr<NetBase> backward = CreateNet(net, &ws_);
    CAFFE_ENFORCE(backward != nullptr && backward->Run(), "net \"", net.name(), "\" failed");
    return gradients;
  }

  bool IsChecked(const std::string& blob) const {
    const auto saved = saved_.find(blob);
    const bool is_input = saved != saved_.end() && HasRealElements(saved->second) &&
                          saved->second.GetDeviceType() == CPU;
    const bool is_named = std::ranges::count(options_.wrt, blob) > 0;
    CAFFE_ENFORCE(is_input || !is_named, "blob \"", blob,
                  "\" is not an input of float or double of net \"", forward_.name(),
                  "\", so that its gradient cannot be checked");
    return is_input;
  }

  // The computed gradient, with the elements of a sparse one in their places.
  std::vector<double> ComputedGradient(const std::string& blob,
                                       const GradientWrapper& gradient) const {
    const Tensor& x = saved_.at(blob);
    std::vector<double> result(static_cast<size_t>(x.numel()));
    if (gradient.IsDense()) {
      const Tensor& dx = TensorIn(gradient.dense_);
      CAFFE_ENFORCE(dx.dims() == x.dims(), "gradient \"", gradient.dense_, "\" has the shape ",
                    dx.sizes(), ", want ", x.sizes(), ", as \"", blob, "\"");
      for (size_t i = 0; i < result.size(); ++i)
        result[i] = RealElement(dx, static_cast<int64_t>(i));
      return result;
    }
    const Tensor& values = TensorIn(gradient.values_);
    const Tensor& indices = ws_.FindBlob(gradient.indices_)->Get<Tensor>();
    const int64_t length = x.dim() > 0 ? x.size_from_dim(1) : 0;
    CAFFE_ENFORCE_EQ(values.numel(), indices.numel() * length, "elements of gradient \"",
                     gradient.values_, "\", want a row of \"", blob, "\" for each index");
    for (int64_t k = 0; k < indices.numel(); ++k) {
      const int64_t row = indices.IsType<int32_t>() ? int64_t{indices.data<int32_t>()[k]}
                                                    : indices.data<int64_t>()[k];
      CAFFE_ENFORCE(row >= 0 && row < x.dim(0), "index ", row, " of gradient \"", gradient.indices_,
                    "\" is out of range, want 0 to ", x.dim(0) - 1);
      for (int64_t j = 0; j < length; ++j)
        result[static_cast<size_t>(row * length + j)] += RealElement(values, k * length + j);
    }
    return result;
  }

  // A large float has no neighbours at a smaller distance than its rounding.
  double StepAt(const Tensor& x, int64_t i) const {
    if (!x.IsType<float>()) return options_.step;
    return std::max(options_.step, std::abs(RealElement(x, i)) * 0x1p-19);
  }

  // The difference quotients at element i. Adds a bound for the effect of rounding on `both`.
  Slopes SlopesAt(const std::string& blob, int64_t i, double step, double* rounding) {
    const Tensor& x = saved_.at(blob);
    const double at = RealElement(x, i);
    const auto loss_at = [&](double value, double* stored) {
      RestoreInputs();
      *stored = SetElement(ws_.CreateBlob(blob)->GetMutableTensor(CPU), i, value);
      return RunForward();
    };
    double low = 0, high = 0;
    const Loss below = loss_at(at - step, &low), above = loss_at(at + step, &high);
    constexpr double kRoundings = 16;  // of the operators between the input and the loss
    *rounding += kRoundings * static_cast<double>(std::numeric_limits<float>::epsilon()) *
                 std::max(below.size, above.size) / (high - low);
    return {.both = (above.value - below.value) / (high - low),
            .below = (base_loss_ - below.value) / (at - low),
            .above = (above.value - base_loss_) / (high - at)};
  }

  // Whether a kink explains that `got` differs from the quotient by `difference`: it is the slope at
  // one side or between them, and the quotients do not converge as those of a smooth function. Its
  // quotients of both sides differ little, and those of one side by half as much at half the step.
  // Of two slopes that meet at any place within `wide`, the difference is less than the sum of these
  // two deviations.
  static bool IsKink(const Slopes& wide, const Slopes& narrow, double got, double difference,
                     double tolerance) {
    const auto [low, high] = std::minmax({wide.below, wide.above, narrow.below, narrow.above});
    if (!(got >= low - tolerance && got <= high + tolerance)) return false;
    const double of_sides = 2 * (narrow.above - narrow.below) - (wide.above - wide.below);
    return difference <= std::abs(narrow.both - wide.both) + std::abs(of_sides);
  }

  CheckedGradient Compare(const std::string& blob, const GradientWrapper& gradient) {
    const std::vector<double> computed = ComputedGradient(blob, gradient);
    CheckedGradient checked{.blob = blob,
                            .gradient = gradient.IsDense() ? gradient.dense_ : gradient.values_};
    const auto size = static_cast<int64_t>(computed.size());
    const int64_t count = std::min(size, options_.most_elements);
    double largest = 0;
    for (const double value : computed) {
      if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    }
    double worst = -1;
    for (int64_t k = 0; k < count; ++k) {
      const int64_t i = k * size / count;
      double rounding = 0;
      const double step = StepAt(saved_.at(blob), i);
      const Slopes wide = SlopesAt(blob, i, step, &rounding);
      const Slopes narrow = SlopesAt(blob, i, step / 2, &rounding);
      // Richardson's extrapolation removes the error of second order.
      const double change = narrow.both - wide.both, quotient = narrow.both + change / 3;
      const double scale = std::max(largest, std::abs(quotient));
      const double got = computed[static_cast<size_t>(i)];
      const double difference = std::isfinite(got) ? std::abs(got - quotient) : HUGE_VAL;
      const double tolerance = options_.tolerance * scale + rounding;
      const bool is_wrong = !(difference <= tolerance);
      ++checked.elements;
      if (std::abs(change) > 0.05 * scale + rounding ||
          (is_wrong && IsKink(wide, narrow, got, difference, tolerance))) {
        ++checked.not_smooth;
        continue;
      }
      if (is_wrong) ++checked.wrong;
      if (difference <= worst) continue;
      worst = difference;
      checked.worst = {.index = i, .computed = got, .quotient = quotient};
    }
    return checked;
  }

  NetDef forward_;  // without the operators at its beginning that fill inputs
  const std::vector<std::string> losses_;
  const GradientCheckOptions options_;
  Workspace& ws_;
  std::map<std::string, Tensor> saved_;  // the inputs
  std::unique_ptr<NetBase> net_;  // not one of the workspace, which may have one of that name
  double base_loss_ = 0;          // with the inputs as they are
};

}  // namespace

std::vector<CheckedGradient> CheckGradients(const NetDef& net,
                                            const std::vector<std::string>& losses,
                                            const GradientCheckOptions& options, Workspace* ws) {
  CAFFE_ENFORCE(ws != nullptr,
                "argument ws of CheckGradients is null, want the workspace of the inputs");
  CAFFE_ENFORCE(options.step > 0 && options.tolerance > 0 && options.most_elements > 0,
                "step, tolerance and most_elements of CheckGradients are ", options.step, ", ",
                options.tolerance, " and ", options.most_elements, ", want more than 0");
  return GradientCheck(net, losses, options, ws).Run();
}

}  // namespace caffe2rt
