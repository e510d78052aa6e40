// Errors of contexts and tensors of oneDNN, whole.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "caffe2rt/caffe2.pb.h"
#include "contexts/onednn/onednn_context.h"
#include "contexts/onednn/onednn_library.h"
#include "contexts/onednn/onednn_tensor.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::onednn_refusals_test {
namespace {

using Desc = dnnl::memory::desc;
using Element = dnnl::memory::data_type;

TEST(OnednnRefusalsTest, OfContexts) {
  DeviceOption cpu, second, first;
  second.set_device_type(IDEEP);
  second.set_device_id(1);
  first.set_device_type(IDEEP);
  const IDEEPContext accepted(first);
  IDEEPContext context;
  char byte = 5;
  ExpectRefusals({
      {[&] { IDEEPContext other(cpu); },
       "device type of an IDEEPContext's device option: got 0, want 5"},
      {[&] { IDEEPContext other(second); },
       "device id of an IDEEPContext's device option: got 1, want 0"},
      {[&] { context.CopyBytesSameDevice(2048, nullptr, &byte); }, "copy of 2 KiB from or to null"},
      {[&] { context.CopyBytesSameDevice(1, &byte, nullptr); }, "copy of 1 byte from or to null"},
      {[] {
         GuardOnednn("a part", [] { throw dnnl::error(dnnl_invalid_arguments, "no reason"); });
       },
       "oneDNN failed in a part: no reason (status 2)"},
  });
  context.CopyBytesSameDevice(0, nullptr, nullptr);
}

TEST(OnednnRefusalsTest, OfLayouts) {
  const Desc bytes = DescIn(OnednnFormat::kNhwc, {1, 2, 3, 4}, Element::u8);
  const auto scaled = [&](float scale) {
    return [&bytes, scale] { OnednnLayout layout(bytes, {scale, 0}); };
  };
  const std::string elements =
      "the descriptor of a layout must be blocked, without offset, with elements of type f32, "
      "bf16, u8 or s8";
  const Desc whole({4, 4}, Element::f32, dnnl::memory::dims{4, 1});
  ExpectRefusals({
      {[] { (void)ParseOnednnFormat("NCHW"); }, "layout \"NCHW\", want nchw, nhwc or nChw16c"},
      {[] { (void)ParseOnednnFormat("other"); }, "layout \"other\", want nchw, nhwc or nChw16c"},
      {[] {
         OnednnLayout layout(Desc({2, 3}, Element::s32, dnnl::memory::dims{3, 1}));
       },
       elements},
      {[&] {
         OnednnLayout layout(whole.submemory_desc({2, 4}, {1, 0}));
       },
       elements},
      {scaled(0), "the scale of a layout is 0, want a number above 0"},
      {scaled(-0.5f), "the scale of a layout is -0.5, want a number above 0"},
      {scaled(INFINITY), "the scale of a layout is inf, want a number above 0"},
      {scaled(NAN), "the scale of a layout is nan, want a number above 0"},
  });
  EXPECT_EQ(OnednnLayout(whole.submemory_desc({2, 4}, {0, 0})).dims(),
            (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(OnednnLayout(bytes, {1e-30f, 0}).quantization().scale, 1e-30f);
}

TEST(OnednnRefusalsTest, OfTensorsAndOutputs) {
  Tensor tensor(IDEEP), reshaped(IDEEP);
  const auto bytes = OnednnLayout::New(DescIn(OnednnFormat::kNhwc, {1, 2, 3, 4}, Element::u8));
  PrepareOutput(&reshaped, OnednnLayout::New(DescIn(OnednnFormat::kNhwc, {1, 4, 2, 2})));
  reshaped.Reshape({1, 2, 4, 2});
  ExpectRefusals({
      {[&] { (void)DescOf(reshaped); },
       "a tensor of shape [1, 2, 4, 2] was written in the layout nhwc with shape [1, 4, 2, 2]: "
       "copy it to the CPU before it is reshaped"},
      {[&] { PrepareOutput(&tensor, nullptr); }, "an output without layout needs dims"},
      {[&] { PrepareOutput(&tensor, bytes); },
       "an output in the layout nhwc of u8 has no floats to write"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::onednn_refusals_test
