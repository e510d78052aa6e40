#pragma once
// Nets on the counting device (20), and the waits that are planned for them, as text.
//
//   EXPECT_EQ(PlanText(Op(R"(type: "Relu" input: "a" output: "b")"), InOrderOfNet(1)), "end: 0-0");

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/executors/device_waits.h"
#include "caffe2_core/runtime/net.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test {

// The operators of a net, in a workspace with the blobs that the net reads first.
struct PlannedNet {
  explicit PlannedNet(const std::string& text, Workspace* in = nullptr)
      : ws(in != nullptr ? in : &own),
        def(std::make_shared<const NetDef>(ParseNet("name: \"n\" " + text))) {
    const NetBlobs blobs(*def);
    for (const uint32_t blob : blobs.read_first()) ws->CreateBlob(blobs.name(blob));
    operators = std::make_unique<NetOperators>(def, ws);
  }
  DeviceWaits Plan(const ExecutionOrder& order) const {
    return PlanDeviceWaits(operators->all(), operators->FindDependencies(), order);
  }

  Workspace own;
  Workspace* const ws;
  const std::shared_ptr<const NetDef> def;
  std::unique_ptr<NetOperators> operators;
};

// Formats the waits, for example "2: 0-1; end: 3-3".
inline std::string Text(const DeviceWaits& waits) {
  std::string text;
  const auto add = [&](const std::string& place, const std::vector<DeviceWork>& work) {
    for (const DeviceWork& piece : work) {
      text += MakeString(text.empty() ? "" : "; ", place, ": ", piece.first_position, "-",
                         piece.last_position, piece.on_device ? " on the device" : "");
      EXPECT_EQ(piece.last->net_position(), static_cast<int>(piece.last_position));
    }
  };
  for (size_t i = 0; i < waits.before.size(); ++i) {
    EXPECT_EQ(waits.AreBefore(i), !waits.before[i].empty());
    add(std::to_string(i), waits.before[i]);
  }
  add("end", waits.at_end);
  return text;
}

inline std::string PlanText(const std::string& net, const ExecutionOrder& order) {
  return Text(PlannedNet(net).Plan(order));
}

inline std::string Op(const std::string& rest, int device = 20) {
  return MakeString("op { ", rest, " device_option { device_type: ", device, " } } ");
}
inline std::string OnCPU(const std::string& rest) { return "op { " + rest + " } "; }

}  // namespace caffe2rt::test
