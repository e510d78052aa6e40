#include "binaries/demo/stripes.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace caffe2rt::demo {
namespace {

constexpr int kKernel = 9;
constexpr int kResponses = 4;  // per direction: even and odd filter, both signs
constexpr int kFilters = kDirections * kResponses;
constexpr double kWavelength = 11;  // pixels; about the mean period of the stripes drawn
constexpr double kSigma = 3;
constexpr double kGain = 0.6;  // logit per grey level of mean response

// The direction in which the brightness changes, as a unit vector (x to the right, y down).
struct Wave {
  double x, y;
};
constexpr double kDiagonal = std::numbers::sqrt2 / 2;
constexpr Wave kWaves[kDirections] = {
    {0, 1}, {1, 0}, {kDiagonal, kDiagonal}, {kDiagonal, -kDiagonal}};

// A small random number generator (Marsaglia's xorshift32), so that every compiler and standard
// library gives the same numbers.
class Random {
 public:
  explicit Random(uint32_t seed) : state_(seed * 2654435761u + 1) {
    if (state_ == 0) state_ = 1;
    for (int i = 0; i < 8; ++i) Next();
  }
  double Uniform(double low, double high) {
    return low + (high - low) * (Next() >> 8) / 16777216.0;
  }

 private:
  uint32_t Next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 17;
    state_ ^= state_ << 5;
    return state_;
  }
  uint32_t state_;
};

// One Gabor filter with zero sum and absolute sum 1.
std::vector<double> GaborFilter(const Wave& wave, bool odd) {
  std::vector<double> filter;
  for (int y = 0; y < kKernel; ++y) {
    for (int x = 0; x < kKernel; ++x) {
      const double dx = x - kKernel / 2, dy = y - kKernel / 2;
      const double phase = 2 * std::numbers::pi * (wave.x * dx + wave.y * dy) / kWavelength;
      const double window = std::exp(-(dx * dx + dy * dy) / (2 * kSigma * kSigma));
      filter.push_back(window * (odd ? std::sin(phase) : std::cos(phase)));
    }
  }
  double mean = 0, size = 0;
  for (const double value : filter) mean += value / static_cast<double>(filter.size());
  for (double& value : filter) size += std::abs(value -= mean);
  for (double& value : filter) value /= size;
  return filter;
}

void AddFill(NetDef* net, const std::string& name, const std::vector<int64_t>& shape,
             const std::vector<float>& values) {
  OperatorDef* op = net->add_op();
  op->set_type("GivenTensorFill");
  op->add_output(name);
  Argument* arg = op->add_arg();
  arg->set_name("shape");
  for (const int64_t dim : shape) arg->add_ints(dim);
  arg = op->add_arg();
  arg->set_name("values");
  for (const float value : values) arg->add_floats(value);
}

OperatorDef* AddOp(NetDef* net, const std::string& type, const std::vector<std::string>& inputs,
                   const std::string& output) {
  OperatorDef* op = net->add_op();
  op->set_type(type);
  for (const std::string& input : inputs) op->add_input(input);
  op->add_output(output);
  return op;
}

void AddInt(OperatorDef* op, const std::string& name, int64_t value) {
  Argument* arg = op->add_arg();
  arg->set_name(name);
  arg->set_i(value);
}

}  // namespace

const std::vector<std::string>& DirectionNames() {
  static const std::vector<std::string> names = {"horizontal stripes", "vertical stripes",
                                                 "rising stripes", "falling stripes"};
  return names;
}

StripesImage DrawStripes(int direction, uint32_t seed) {
  Random random(seed * kDirections + static_cast<uint32_t>(direction));
  const double period = random.Uniform(8, 15), phase = random.Uniform(0, 1);
  const double tilt = random.Uniform(-0.12, 0.12);  // radians, about 7 degrees
  const Wave wave = {kWaves[direction].x * std::cos(tilt) - kWaves[direction].y * std::sin(tilt),
                     kWaves[direction].x * std::sin(tilt) + kWaves[direction].y * std::cos(tilt)};
  // Two colours that differ by at least 70 grey levels on average.
  double dark[3], light[3];
  for (int c = 0; c < 3; ++c) {
    dark[c] = random.Uniform(0, 120);
    light[c] = std::min(255.0, dark[c] + random.Uniform(70, 135));
  }
  StripesImage image{.direction = direction, .rgb = {}};
  image.rgb.reserve(kImageSize * kImageSize * 3);
  for (int y = 0; y < kImageSize; ++y) {
    for (int x = 0; x < kImageSize; ++x) {
      const double along = (wave.x * x + wave.y * y) / period + phase;
      const bool is_light = along - std::floor(along) < 0.5;
      for (int c = 0; c < 3; ++c) {
        const double value = (is_light ? light[c] : dark[c]) + random.Uniform(-20, 20);
        image.rgb.push_back(static_cast<uint8_t>(std::clamp(value, 0.0, 255.0)));
      }
    }
  }
  return image;
}

NetDef StripesInitNet() {
  NetDef net;
  net.set_name("stripes_init");
  std::vector<float> conv, sum(kDirections * kFilters, 0.f);
  for (int direction = 0; direction < kDirections; ++direction) {
    for (int response = 0; response < kResponses; ++response) {
      const std::vector<double> filter = GaborFilter(kWaves[direction], response / 2 == 1);
      const double sign = response % 2 == 0 ? 1 : -1;
      for (int channel = 0; channel < 3; ++channel) {  // grey is the mean of the three
        for (const double value : filter) conv.push_back(static_cast<float>(sign * value / 3));
      }
      const int column = direction * kResponses + response;
      sum[static_cast<size_t>(direction * kFilters + column)] = static_cast<float>(kGain);
    }
  }
  AddFill(&net, "filters", {kFilters, 3, kKernel, kKernel}, conv);
  AddFill(&net, "filters_bias", {kFilters}, std::vector<float>(kFilters, 0.f));
  AddFill(&net, "sum", {kDirections, kFilters}, sum);
  AddFill(&net, "sum_bias", {kDirections}, std::vector<float>(kDirections, 0.f));
  for (const char* name : {"filters", "filters_bias", "sum", "sum_bias"})
    net.add_external_output(name);
  return net;
}

NetDef StripesPredictNet() {
  NetDef net;
  net.set_name("stripes");
  for (const char* name : {"data", "filters", "filters_bias", "sum", "sum_bias"}) {
    net.add_external_input(name);
  }
  OperatorDef* conv = AddOp(&net, "Conv", {"data", "filters", "filters_bias"}, "responses");
  AddInt(conv, "kernel", kKernel);
  AddInt(conv, "stride", 2);
  AddOp(&net, "Relu", {"responses"}, "responses");
  AddInt(AddOp(&net, "AveragePool", {"responses"}, "energy"), "global_pooling", 1);
  AddOp(&net, "FC", {"energy", "sum", "sum_bias"}, "logits");
  AddOp(&net, "Softmax", {"logits"}, "direction");
  net.add_external_output("direction");
  return net;
}

}  // namespace caffe2rt::demo
