#include "tests/benchmarks/resnet50_net.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"

namespace caffe2rt::test {
namespace {

class Builder {
 public:
  Builder() {
    nets_.init.set_name("resnet50_init");
    nets_.predict.set_name("resnet50");
    nets_.predict.add_external_input("data");
  }

  std::string Conv(const std::string& x, const std::string& name, int in, int out, int kernel,
                   int stride) {
    const double scale = std::sqrt(2.0 / (in * kernel * kernel));
    Weight(name + "_w", {out, in, kernel, kernel}, 0, scale);
    Operator("Conv", {x, name + "_w"}, name,
             {MakeArgument("kernel", kernel), MakeArgument("stride", stride),
              MakeArgument("pad", kernel / 2)});
    return Normalize(name, out);
  }
  std::string Relu(const std::string& x) { return Operator("Relu", {x}, x, {}); }
  std::string Add(const std::string& x, const std::string& y, const std::string& name) {
    return Operator("Sum", {x, y}, name, {});
  }
  std::string Pool(const std::string& type, const std::string& x, int kernel, int stride, int pad) {
    return Operator(
        type, {x}, x + "_pool",
        {MakeArgument("kernel", kernel), MakeArgument("stride", stride), MakeArgument("pad", pad)});
  }
  std::string Classify(const std::string& x, int in, int out) {
    Weight("pred_w", {out, in}, 0, 0.02);
    Weight("pred_b", {out}, 0, 0.01);
    Operator("FC", {x, "pred_w", "pred_b"}, "pred", {});
    return Operator("Softmax", {"pred"}, "softmax", {});
  }
  ModelNets Finish(const std::string& output) {
    nets_.predict.add_external_output(output);
    return std::move(nets_);
  }

 private:
  std::string Normalize(const std::string& x, int channels) {
    const std::string name = x + "_bn";
    std::vector<std::string> inputs = {x};
    for (const char* suffix : {"_s", "_b", "_rm", "_riv"}) {
      const bool positive = suffix[1] == 's' || suffix == std::string("_riv");
      Weight(name + suffix, {channels}, positive ? 1 : 0, 0.05);
      inputs.push_back(name + suffix);
    }
    return Operator("SpatialBN", inputs, name,
                    {MakeArgument("is_test", 1), MakeArgument("epsilon", 1e-5f)});
  }

  std::string Operator(const std::string& type, const std::vector<std::string>& inputs,
                       const std::string& output, const std::vector<Argument>& arguments) {
    *nets_.predict.add_op() = CreateOperatorDef(type, "", inputs, {output}, arguments);
    return output;
  }

  // Uniform in mean +- width.
  void Weight(const std::string& name, const std::vector<int64_t>& shape, double mean,
              double width) {
    OperatorDef* op = nets_.init.add_op();
    *op = CreateOperatorDef("GivenTensorFill", "", {}, {name}, {MakeArgument("shape", shape)});
    Argument* values = op->add_arg();
    values->set_name("values");
    int64_t count = 1;
    for (const int64_t dim : shape) count *= dim;
    values->mutable_floats()->Reserve(static_cast<int>(count));
    for (int64_t i = 0; i < count; ++i) {
      state_ = state_ * 6364136223846793005u + 1442695040888963407u;
      const double unit = static_cast<double>(state_ >> 40) / (1 << 23) - 1;
      values->add_floats(static_cast<float>(mean + width * unit));
    }
    nets_.predict.add_external_input(name);
  }

  ModelNets nets_;
  uint64_t state_ = 1;
};

}  // namespace

ModelNets ResNet50() {
  Builder net;
  std::string x = net.Relu(net.Conv("data", "conv1", 3, 64, 7, 2));
  x = net.Pool("MaxPool", x, 3, 2, 1);
  const int depths[] = {3, 4, 6, 3};
  int in = 64;
  for (int stage = 0; stage < 4; ++stage) {
    const int middle = 64 << stage, out = 4 * middle;
    for (int block = 0; block < depths[stage]; ++block) {
      const std::string name = MakeString("res", stage + 2, "_", block);
      const int stride = block == 0 && stage > 0 ? 2 : 1;
      const std::string shortcut =
          block == 0 ? net.Conv(x, name + "_branch1", in, out, 1, stride) : x;
      std::string y = net.Relu(net.Conv(x, name + "_a", in, middle, 1, 1));
      y = net.Relu(net.Conv(y, name + "_b", middle, middle, 3, stride));
      y = net.Conv(y, name + "_c", middle, out, 1, 1);
      x = net.Relu(net.Add(y, shortcut, name));
      in = out;
    }
  }
  x = net.Pool("AveragePool", x, 7, 1, 0);
  return net.Finish(net.Classify(x, in, 1000));
}

}  // namespace caffe2rt::test
