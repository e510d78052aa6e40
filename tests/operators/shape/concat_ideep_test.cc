#include <algorithm>
#include <cstring>
#include <memory>
#include <tuple>
#include <utility>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/operators/common/onednn_run.h"

namespace caffe2rt::concat_ideep_test {
namespace {

using namespace test;  // used throughout this file

class OnednnConcatTest : public OnednnTest {
 protected:
  std::vector<int64_t> WithChannels(int64_t channels) const {
    return {GetParam().batch, channels, GetParam().height, GetParam().width};
  }
};

constexpr char kConcat[] = R"(type: "Concat" input: "X" input: "Z" input: "V" output: "Y"
                              output: "split_info" )";

TEST_P(OnednnConcatTest, JoinsChannels) {
  const std::string layout = GetParam().layout;
  FeedImage("X");
  for (const auto& [second, third] : {std::pair{16, 32}, {5, 16}, {16, 7}, {0, 3}}) {
    FeedImage("Z", WithChannels(second), layout, 2);
    FeedImage("V", WithChannels(third), layout, 3);
    ExpectSameAsCpu(kConcat);
    ExpectTensor<int32_t>(onednn_, "split_info", {3},
                          {static_cast<int32_t>(GetParam().channels), second, third});
  }
  FeedImage("V", WithChannels(48), "nhwc", 4);
  ExpectSameAsCpu(kConcat);
  FeedImage("V", WithChannels(48), "nchw", 4);
  ExpectSameAsCpu(kConcat);
}

// In blocks if all images but the last have whole blocks.
TEST_P(OnednnConcatTest, JoinsBlocksWhereThatIsAsked) {
  const std::string op = std::string(kConcat) + R"(arg { name: "blocked_inputs" i: 0 })";
  const std::string layout = GetParam().layout;
  for (const int64_t channels : {16, 32, 21}) {
    for (const char* second : {"nhwc", "nChw16c", "nchw"}) {
      FeedImage("X", WithChannels(channels), layout);
      FeedImage("Z", WithChannels(48), second, 2);
      FeedImage("V", WithChannels(19), second, 3);
      ExpectSameAsCpu(op);
      if (GetParam().height == 1 || GetParam().batch == 0) continue;
      const OnednnFormat format = FormatOf(onednn_.GetBlob("Y")->Get<Tensor>());
      if (channels % 16 == 0) {
        EXPECT_EQ(format, OnednnFormat::kBlocked16);
      } else if (layout == "nhwc" && std::string(second) == "nhwc") {
        EXPECT_EQ(format, OnednnFormat::kNhwc);
      }
    }
  }
}

TEST_P(OnednnConcatTest, JoinsOtherDimensions) {
  FeedImage("X");
  FeedImage("Z", 2);
  FeedImage("V", 3);
  for (const int add_axis : {0, 1}) {
    for (int axis = -4 - add_axis; axis < 4 + add_axis; ++axis) {
      ExpectSameAsCpu(MakeString(kConcat, "arg { name: 'axis' i: ", axis,
                                 " } arg { name: 'add_axis' i: ", add_axis, " }"));
    }
  }
}

TEST_P(OnednnConcatTest, SplitsChannels) {
  FeedImage("X", WithChannels(53), GetParam().layout);
  for (const char* sizes : {"ints: 16 ints: 37", "ints: 32 ints: 21", "ints: 5 ints: 48"}) {
    const std::string text = std::string(R"(type: "Split" input: "X" output: "Y" output: "Z"
                                           arg { name: "split" )") +
                             sizes + " }";
    ExpectSameAsCpu(text);
    ExpectSameAsCpu(text, 0, "Z");
  }
  FeedImage("X", WithChannels(54), GetParam().layout);
  ExpectSameAsCpu(R"(type: "Split" input: "X" output: "Z" output: "Y")");
}

TEST_P(OnednnConcatTest, SplitsOtherDimensions) {
  FeedImage("X", {2, 20, 4, 6}, GetParam().layout);
  ExpectSameAsCpu(R"(type: "Split" input: "X" output: "Y" output: "Z" arg { name: "axis" i: 2 })",
                  0, "Z");
}

TEST_P(OnednnConcatTest, FlattensToRowMajorOrder) {
  FeedImage("X");
  ExpectSameAsCpu(R"(type: "Flatten" input: "X" output: "Y")");
  ExpectSameAsCpu(R"(type: "Flatten" input: "X" output: "Y" arg { name: "axis" i: 2 })");
}

// One operator, which plans for the first sizes.
TEST_P(OnednnConcatTest, SplitsOtherPiecesOfTheImageInTheNextRun) {
  FeedImage("X", WithChannels(53), GetParam().layout);
  const std::string text = R"(type: "Split" input: "X" input: "S" output: "Y" output: "Z")";
  OperatorDef def = ParseOp(text);
  def.mutable_device_option()->set_device_type(IDEEP);
  std::unique_ptr<OperatorBase> op;
  for (const int32_t first : {16, 32, 5, 53, 0, 16}) {
    SCOPED_TRACE(first);
    for (Workspace* ws : {&cpu_, &onednn_}) Feed<int32_t>(ws, "S", {2}, {first, 53 - first});
    if (op == nullptr) op = CreateOperator(def, &onednn_);
    RunOp(&cpu_, text);
    ASSERT_TRUE(op->Run());
    ExpectSame("Y", 0);
    ExpectSame("Z", 0);
  }
}

// One operator on images, on tensors of another rank, and on images again.
TEST_P(OnednnConcatTest, JoinsPlainTensorsAfterImages) {
  OperatorDef def = ParseOp(kConcat);
  def.mutable_device_option()->set_device_type(IDEEP);
  const auto feed_images = [&](uint32_t seed) {
    FeedImage("X", seed);
    FeedImage("Z", WithChannels(16), GetParam().layout, seed + 1);
    FeedImage("V", WithChannels(32), GetParam().layout, seed + 2);
  };
  feed_images(1);
  const std::unique_ptr<OperatorBase> op = CreateOperator(def, &onednn_);
  for (int run = 0; run < 3; ++run) {
    if (run == 1) {
      float value = 0;
      for (const auto& [name, columns] : {std::pair{"X", 3}, {"Z", 1}, {"V", 2}}) {
        const std::vector<int64_t> dims = {2, columns};
        Tensor* const plain = FeedRange<float>(&cpu_, name, dims, value += 10);
        Tensor* const tensor = onednn_.CreateBlob(name)->GetMutableTensor(IDEEP);
        std::copy_n(plain->data<float>(), plain->numel(), PrepareOutput(tensor, dims, nullptr));
      }
    } else {
      feed_images(static_cast<uint32_t>(run + 4));
    }
    RunOp(&cpu_, kConcat);
    ASSERT_TRUE(op->Run());
    ExpectSame("Y", 0);
    EXPECT_EQ(Fetch<int32_t>(onednn_, "split_info"), Fetch<int32_t>(cpu_, "split_info"));
  }
}

// One operator, of whose inputs one changes its layout or its channels.
TEST_P(OnednnConcatTest, FollowsTheLayoutOfEachInput) {
  OperatorDef def = ParseOp(kConcat);
  def.mutable_device_option()->set_device_type(IDEEP);
  const std::vector<std::string> names = {"X", "Z", "V"};
  for (const std::string& name : names) FeedImage(name, WithChannels(16), GetParam().layout);
  const std::unique_ptr<OperatorBase> op = CreateOperator(def, &onednn_);
  for (const std::string& changed : names) {
    for (const char* layout : {"nchw", "nChw16c", "nhwc", "nchw"}) {
      for (const int64_t channels : {16, 32, 5}) {
        SCOPED_TRACE(MakeString(changed, " ", layout, " ", channels));
        FeedImage(changed, WithChannels(channels), layout, 7);
        RunOp(&cpu_, kConcat);
        ASSERT_TRUE(op->Run());
        ExpectSame("Y", 0);
      }
    }
    FeedImage(changed, WithChannels(16), GetParam().layout);
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, OnednnConcatTest, testing::ValuesIn(OnednnCases()));

// In blocks only if all channels are multiples of 16; otherwise the floats are joined.
TEST(OnednnConcatReducedTest, JoinsImagesOfBf16) {
  for (const auto& [layout, second, kept] : {std::tuple{"nhwc", 5, true},
                                             {"nhwc", 16, true},
                                             {"nChw16c", 16, true},
                                             {"nChw16c", 64, true},
                                             {"nChw16c", 24, false}}) {
    Workspace onednn, cpu;
    int64_t seed = 0;
    for (const auto& [name, channels] : {std::pair{"X", 32}, {"Z", second}, {"V", 48}}) {
      const std::vector<int64_t> dims{2, channels, 3, 5};
      Tensor* const plain = FeedRandom(&cpu, name, dims, -1, 1, static_cast<uint32_t>(++seed));
      const dnnl::memory::desc desc =
          DescIn(ParseOnednnFormat(layout), dims, dnnl::memory::data_type::bf16);
      Tensor* const tensor = onednn.CreateBlob(name)->GetMutableTensor(IDEEP);
      void* const to = PrepareOutputMemory(tensor, dims, OnednnLayout::New(desc));
      Reorder(DescIn(OnednnFormat::kNchw, dims), plain->data<float>(), desc, to);
      plain->CopyFrom(*tensor);
    }
    RunOp(&cpu, kConcat);
    const std::string asks = R"( arg { name: "output_precision" s: "bf16" } )";
    for (int run = 0; run < 2; ++run) {
      RunOp(&onednn, kConcat + asks + "device_option { device_type: 5 }");
    }
    const Tensor& joined = onednn.GetBlob("Y")->Get<Tensor>();
    EXPECT_EQ(IsReduced(joined), kept) << layout << second;
    const Tensor y(joined, CPU);
    const std::vector<float> got(y.data<float>(), y.data<float>() + y.numel());
    EXPECT_EQ(got, Fetch<float>(cpu, "Y")) << layout << second;
  }
}

// Bytes are joined if all have one scale and zero point; otherwise the floats that they stand for.
TEST(OnednnConcatReducedTest, JoinsBytesOfOneScale) {
  const OnednnQuantization one{.scale = 0.5f, .zero_point = 3};
  for (const auto& [other, kept] : {std::pair{one, true},
                                    {OnednnQuantization{.scale = 0.25f, .zero_point = 3}, false},
                                    {OnednnQuantization{.scale = 0.5f, .zero_point = 4}, false}}) {
    for (size_t odd = 0; odd < 3; ++odd) {  // the input with the other scale
      Workspace onednn, cpu;
      size_t i = 0;
      for (const auto& [name, channels] : {std::pair{"X", 32}, {"Z", 5}, {"V", 16}}) {
        const std::vector<int64_t> dims{2, channels, 3, 5};
        const dnnl::memory::desc desc =
            DescIn(OnednnFormat::kNhwc, dims, dnnl::memory::data_type::u8);
        Tensor* const tensor = onednn.CreateBlob(name)->GetMutableTensor(IDEEP);
        auto* const to = static_cast<uint8_t*>(
            PrepareOutputMemory(tensor, dims, OnednnLayout::New(desc, i == odd ? other : one)));
        for (int64_t k = 0; k < 30 * channels; ++k) to[k] = static_cast<uint8_t>(k * 7 % 256);
        cpu.CreateBlob(name)->GetMutableTensor(CPU)->CopyFrom(*tensor);
        ++i;
      }
      // Channel 1 of the first pixel holds byte 7.
      const OnednnQuantization& first = odd == 0 ? other : one;
      EXPECT_EQ(Fetch<float>(cpu, "X")[15], static_cast<float>(7 - first.zero_point) * first.scale);
      RunOp(&cpu, kConcat);
      RunOp(&onednn, std::string(kConcat) + R"( arg { name: "output_precision" s: "int8" }
                                                device_option { device_type: 5 })");
      const Tensor& joined = onednn.GetBlob("Y")->Get<Tensor>();
      EXPECT_EQ(IsQuantized(joined), kept) << odd;
      const Tensor y(joined, CPU);
      const std::vector<float> got(y.data<float>(), y.data<float>() + y.numel());
      EXPECT_EQ(got, Fetch<float>(cpu, "Y")) << odd;
    }
  }
}

// Only the inputs that are in the layout of the output already.
TEST(OnednnConcatPlacementTest, PlacesBlockedInputsInTheOutput) {
  OperatorDef def = ParseOp(kConcat);
  def.mutable_device_option()->set_device_type(IDEEP);
  const auto shape = [](int64_t channels) {
    return CreateTensorShape(std::vector<int64_t>{1, channels, 3, 2}, TensorProto_DataType_FLOAT);
  };
  const auto places = [&](int blocked) {
    *GetMutableArgument("blocked_inputs", true, &def) = MakeArgument("blocked_inputs", blocked);
    std::string found;
    for (const MemoryTraits::Part& part : MemoryTraitsOf("Concat").input_parts(
             def, {shape(32), shape(16), shape(48)}, {shape(96), shape(3)})) {
      found += MakeString(part.index, ":", part.offset_bytes, " ");
    }
    return found;
  };
  EXPECT_EQ(places(-1), "0:0 1:768 2:1152 ");
  EXPECT_EQ(places(0), "");
  EXPECT_EQ(places(1), "0:0 ");
  EXPECT_EQ(places(9), "0:0 1:768 2:1152 ");
}

// Inputs whose memory is part of the output's, as a memory plan places them.
TEST(OnednnConcatPlacementTest, CopiesNoInputThatIsInItsPlace) {
  Workspace ws;
  const std::vector<int64_t> dims = {1, 16, 3, 2}, joined = {1, 32, 3, 2};
  alignas(64) static float memory[2 * 96 + 16];
  for (int i = 0; i < 192; ++i) memory[i] = static_cast<float>(i);
  const auto place = [&](const char* name, const std::vector<int64_t>& shape, size_t offset) {
    Tensor* const tensor = ws.CreateBlob(name)->GetMutableTensor(IDEEP);
    tensor->Resize(shape);
    const size_t nbytes = static_cast<size_t>(tensor->numel()) * sizeof(float);
    tensor->ShareExternalPointer(memory + offset, TypeMeta::Make<float>(), nbytes);
    PrepareOutput(tensor, OnednnLayout::New(DescIn(OnednnFormat::kBlocked16, shape)));
  };
  place("A", dims, 0);
  place("B", dims, 96);
  place("Y", joined, 0);
  OperatorDef def = ParseOp(R"(type: "Concat" input: "A" input: "B" output: "Y" output: "info")");
  def.mutable_device_option()->set_device_type(IDEEP);
  ASSERT_TRUE(ws.RunOperatorOnce(def));
  const Tensor& y = ws.GetBlob("Y")->Get<Tensor>();
  EXPECT_EQ(OnednnData(y), memory);
  for (int i = 0; i < 192; ++i) ASSERT_EQ(memory[i], static_cast<float>(i));
  Tensor plain(CPU);
  plain.CopyFrom(y);
  EXPECT_EQ(plain.data<float>()[16 * 6], 96.0f);  // channel 16, pixel 0
  EXPECT_EQ(plain.data<float>()[7], 17.0f);       // channel 1, pixel 1
}

// Inputs in each other's places would be overwritten before they are read.
TEST(OnednnConcatPlacementTest, CopiesInputsThatLieInOtherPlaces) {
  for (const bool blocked : {true, false}) {
    SCOPED_TRACE(blocked);
    Workspace ws;
    const std::vector<int64_t> dims = {1, 16, 3, 2}, joined = {1, 32, 3, 2};
    alignas(64) float memory[2 * 96 + 16];
    for (int i = 0; i < 192; ++i) memory[i] = static_cast<float>(i);
    const auto place = [&](const char* name, const std::vector<int64_t>& shape, size_t offset) {
      Tensor* const tensor = ws.CreateBlob(name)->GetMutableTensor(IDEEP);
      tensor->Resize(shape);
      const size_t nbytes = static_cast<size_t>(tensor->numel()) * sizeof(float);
      tensor->ShareExternalPointer(memory + offset, TypeMeta::Make<float>(), nbytes);
      if (blocked)
        PrepareOutput(tensor, OnednnLayout::New(DescIn(OnednnFormat::kBlocked16, shape)));
    };
    place("A", dims, 96);
    place("B", dims, 0);
    place("Y", joined, 0);
    OperatorDef def = ParseOp(R"(type: "Concat" input: "A" input: "B" output: "Y" output: "info")");
    def.mutable_device_option()->set_device_type(IDEEP);
    ASSERT_TRUE(ws.RunOperatorOnce(def));
    const auto* const y = static_cast<const float*>(OnednnMemory(ws.GetBlob("Y")->Get<Tensor>()));
    ASSERT_NE(y, memory);
    for (int i = 0; i < 192; ++i) ASSERT_EQ(y[i], static_cast<float>(i < 96 ? i + 96 : i - 96));
  }
}

// The same for images of bf16, which take half of the memory: B begins after 192 elements of two bytes.
TEST(OnednnConcatPlacementTest, CopiesNoImageOfBf16ThatIsInItsPlace) {
  Workspace ws;
  alignas(64) static uint16_t memory[2 * 192];
  for (int i = 0; i < 384; ++i) memory[i] = static_cast<uint16_t>(0x3f80 + i);
  const auto place = [&](const char* name, const std::vector<int64_t>& shape, size_t offset) {
    Tensor* const tensor = ws.CreateBlob(name)->GetMutableTensor(IDEEP);
    tensor->Resize(shape);
    const size_t nbytes = static_cast<size_t>(tensor->numel()) * sizeof(uint16_t);
    tensor->ShareExternalPointer(memory + offset, TypeMeta::Make<float>(), nbytes);
    const auto bf16 = dnnl::memory::data_type::bf16;
    (void)PrepareOutputMemory(tensor, shape,
                              OnednnLayout::New(DescIn(OnednnFormat::kBlocked16, shape, bf16)));
    EXPECT_EQ(OnednnMemory(*tensor), memory + offset);
  };
  place("A", {1, 32, 3, 2}, 0);
  place("B", {1, 32, 3, 2}, 192);
  place("Y", {1, 64, 3, 2}, 0);
  OperatorDef def = ParseOp(R"(type: "Concat" input: "A" input: "B" output: "Y" output: "info"
                               arg { name: "output_precision" s: "bf16" })");
  def.mutable_device_option()->set_device_type(IDEEP);
  ASSERT_TRUE(ws.RunOperatorOnce(def));
  EXPECT_EQ(OnednnMemory(ws.GetBlob("Y")->Get<Tensor>()), memory);
  for (int i = 0; i < 384; ++i) ASSERT_EQ(memory[i], 0x3f80 + i);
  // B where A lies: both are copied out of the memory of Y.
  place("B", {1, 32, 3, 2}, 0);
  ASSERT_TRUE(ws.RunOperatorOnce(def));
  const Tensor& y = ws.GetBlob("Y")->Get<Tensor>();
  const auto* const joined = static_cast<const uint16_t*>(OnednnMemory(y));
  ASSERT_NE(joined, memory);
  for (int i = 0; i < 384; ++i) ASSERT_EQ(joined[i], 0x3f80 + i % 192);
}

// Sizes along the axis, of whichever axis.
TEST(OnednnConcatSizesTest, AreThoseOfTheAxis) {
  for (const int axis : {0, 1, 2, -1}) {
    Workspace ws;
    std::vector<int64_t> first = {2, 3, 4}, second = first;
    second[static_cast<size_t>(axis < 0 ? axis + 3 : axis)] = 7;
    for (const auto& [name, dims] : {std::pair{"A", first}, {"B", second}}) {
      Tensor* const tensor = ws.CreateBlob(name)->GetMutableTensor(IDEEP);
      std::fill_n(PrepareOutput(tensor, dims, nullptr), CheckedProduct(dims), 1.0f);
    }
    OperatorDef def = ParseOp(MakeString("type: 'Concat' input: 'A' input: 'B' output: 'Y' ",
                                         "output: 'info' arg { name: 'axis' i: ", axis, " }"));
    def.mutable_device_option()->set_device_type(IDEEP);
    ASSERT_TRUE(ws.RunOperatorOnce(def));
    const auto size = static_cast<int32_t>(first[static_cast<size_t>(axis < 0 ? 2 : axis)]);
    ExpectTensor<int32_t>(ws, "info", {2}, {size, 7});
  }
}

}  // namespace
}  // namespace caffe2rt::concat_ideep_test
