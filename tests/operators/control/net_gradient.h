#pragma once
// Compares the gradients of a net with central differences.

#include <functional>
#include <string>
#include <vector>

#include "caffe2_core/graph/backward_pass.h"
#include "caffe2_core/model/device_placement.h"
#include "caffe2_core/runtime/net.h"
#include "tests/support/device_run.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test {

// Runs `net` and its backward pass over the blobs that `feed` makes, and expects that the gradient
// of blob "s" with respect to each of `blobs` agrees with central differences. "s" has one element,
// or several that are added up. The backward pass runs on the test device (device_run.h), twice,
// because operators keep state between runs.
inline void ExpectNetGradients(const std::string& net_text,
                               const std::function<void(Workspace*)>& feed,
                               const std::vector<std::string>& blobs, double tolerance = 5e-3) {
  NetDef forward = ParseNet(net_text);
  forward.set_name("net");
  NetDef both = forward;
  const GradientMap gradients = AddGradientOperators(&both, {{"s", {}}});
  if (TestDevice() != CPU) {
    DeviceOption device;
    device.set_device_type(TestDevice());
    (void)PlaceNet(&both, device);
  }
  Workspace ws;
  feed(&ws);
  NetBase* const net = ws.CreateNet(both);
  const auto value = [&](const std::string& blob, size_t element, float by) {
    Workspace moved;
    feed(&moved);
    moved.GetBlob(blob)->GetMutable<Tensor>()->mutable_data<float>()[element] += by;
    EXPECT_TRUE(moved.RunNetOnce(forward));
    double sum = 0;
    for (const float v : Fetch<float>(moved, "s")) sum += v;
    return sum;
  };
  for (int run = 0; run < 2; ++run) {
    feed(&ws);
    ASSERT_TRUE(net->Run());
  }
  for (const std::string& blob : blobs) {
    SCOPED_TRACE("gradient of \"" + blob + "\"");
    ASSERT_TRUE(gradients.contains(blob));
    Tensor* const gradient = ws.CreateBlob("gradient on the CPU")->GetMutableTensor(CPU);
    gradient->CopyFrom(ws.GetBlob(gradients.at(blob).dense_)->Get<Tensor>());
    const std::vector<float> got = Fetch<float>(ws, "gradient on the CPU");
    Workspace fresh;
    feed(&fresh);
    ASSERT_EQ(got.size(), Fetch<float>(fresh, blob).size());
    for (size_t i = 0; i < got.size(); ++i) {
      const float step = 1.0f / 128;
      const double want = (value(blob, i, step) - value(blob, i, -step)) / (2 * step);
      EXPECT_NEAR(got[i], want, tolerance * std::max(1.0, std::abs(want))) << "element " << i;
    }
  }
}

// The operators of the backward pass of a net, one line for each, with those of inner nets indented.
inline std::string DescribeBackwardPass(const std::string& net_text, const std::string& blob) {
  const NetDef net = ParseNet(net_text);
  std::string text;
  const std::function<void(const OperatorDef&, const std::string&)> describe =
      [&](const OperatorDef& op, const std::string& indent) {
        const auto join = [](const auto& names) {
          std::string joined;
          for (const std::string& name : names) joined += (joined.empty() ? "" : ",") + name;
          return joined;
        };
        text += indent + op.type() + "(" + join(op.input()) + ")->" + join(op.output()) + "\n";
        for (const Argument& arg : op.arg()) {
          if (!arg.has_n()) continue;
          text += indent + "  " + arg.name() + " " + arg.n().name() + "\n";
          for (const OperatorDef& inner : arg.n().op()) describe(inner, indent + "    ");
        }
      };
  for (const OperatorDef& op :
       GetBackwardPass(net.op(), {{blob, {.dense_ = blob + "_grad"}}}).ops) {
    describe(op, "");
  }
  return text;
}

}  // namespace caffe2rt::test
