// The operators of operators/shape on CUDA. Their kernels move bytes without knowing types or
// shapes. The tests cover odd sizes, wide and narrow words, many pieces, empty tensors, and inputs
// and outputs on the CPU.
#include <cstring>

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "contexts/cuda/pinned_allocator.h"
#include "tests/contexts/cuda/cuda_testing.h"
#include "tests/support/devices_agree.h"

// Defined by tests/fake_cuda.
extern "C" __attribute__((weak)) long fakecuda_calls(const char* function);
extern "C" __attribute__((weak)) void fakecuda_before(const char* function, void (*hook)(void*),
                                                      void* state);

namespace caffe2rt::test::shape_cuda_test {
namespace {

using ShapeCudaTest = OnDeviceTest;

TEST_F(ShapeCudaTest, JoinsAndSplitsRowsOfAnyWidth) {
  // For these inputs, the largest words that fit have 16, 8, 4, 2 bytes and 1 byte.
  FeedRange<double>(&ws_, "wide", {3, 4, 2});
  FeedRange<double>(&ws_, "wide2", {3, 6, 2});
  FeedRange<float>(&ws_, "odd", {3, 1, 5});
  FeedRange<float>(&ws_, "odd2", {3, 2, 5});
  FeedRange<int16_t>(&ws_, "half", {2, 3, 3});
  FeedRange<uint8_t>(&ws_, "byte", {5, 3, 1});
  FeedRange<uint8_t>(&ws_, "byte2", {5, 4, 1});
  const std::set<std::string> info = {"info"};
  ExpectDevicesAgree(&ws_, R"(type: "Concat" input: "wide" input: "wide2" output: "y" output: "info"
      arg { name: "axis" i: 1 })",
                     {.on_cpu = info});
  ExpectDevicesAgree(&ws_, R"(type: "Concat" input: "odd" input: "odd2" input: "odd" output: "y"
      output: "info" arg { name: "axis" i: -2 })",
                     {.on_cpu = info});
  ExpectDevicesAgree(&ws_, R"(type: "Concat" input: "half" input: "half" output: "y" output: "info"
      arg { name: "axis" i: 2 })",
                     {.on_cpu = info});
  ExpectDevicesAgree(
      &ws_, R"(type: "DepthConcat" input: "byte" input: "byte2" output: "y" output: "info")",
      {.on_cpu = info});
  ExpectDevicesAgree(&ws_, R"(type: "Concat" input: "odd" input: "odd" output: "y" output: "info"
      arg { name: "axis" i: 3 } arg { name: "add_axis" i: 1 })",
                     {.on_cpu = info});
  ExpectDevicesAgree(
      &ws_, R"(type: "Split" input: "wide" output: "a" output: "b" arg { name: "axis" i: 2 })");
  ExpectDevicesAgree(&ws_, R"(type: "Split" input: "byte2" output: "a" output: "b" output: "c"
      arg { name: "axis" i: 1 } arg { name: "split" ints: 1 ints: 0 ints: 3 })");
  ExpectDevicesAgree(&ws_, R"(type: "DepthSplit" input: "odd2" output: "a" output: "b"
      arg { name: "add_axis" i: 1 } arg { name: "axis" i: 1 })");
}

TEST_F(ShapeCudaTest, JoinsAndSplitsMorePiecesThanOneKernelHandles) {
  std::string inputs, outputs;
  for (int i = 0; i < 37; ++i) {
    const std::string name = "x" + std::to_string(i);
    FeedRange<float>(&ws_, name, {4, i % 5}, 100 * i);  // some are empty
    inputs += " input: \"" + name + "\"";
  }
  for (int i = 0; i < 18; ++i) outputs += " output: \"y" + std::to_string(i) + "\"";
  ExpectDevicesAgree(&ws_, "type: \"Concat\"" + inputs + R"( output: "y" output: "info"
      arg { name: "axis" i: 1 })",
                     {.on_cpu = {"info"}});
  FeedRange<int64_t>(&ws_, "x", {3, 36});
  ExpectDevicesAgree(&ws_,
                     "type: \"Split\" input: \"x\"" + outputs + R"( arg { name: "axis" i: 1 })");
}

TEST_F(ShapeCudaTest, LaunchesOnceHoweverManyTheRows) {
  if (&fakecuda_calls == nullptr) GTEST_SKIP() << "only the fake CUDA counts kernels";
  Workspace there;
  FeedRange<float>(&ws_, "x", {50, 6, 3});
  FeedRange<int32_t>(&ws_, "i", {40});
  for (const char* name : {"x", "i"}) {
    there.CreateBlob(name)->GetMutableTensor(CUDA)->CopyFrom(ws_.GetBlob(name)->Get<Tensor>());
  }
  for (const char* text : {
           R"(type: "Concat" input: "x" input: "x" input: "x" output: "y" output: "info")",
           R"(type: "Split" input: "x" output: "y" output: "z")",
           R"(type: "Slice" input: "x" output: "y" arg { name: "starts" ints: 0 ints: 1 }
              arg { name: "ends" ints: -1 ints: 3 })",
           R"(type: "Gather" input: "x" input: "i" output: "y")",
           R"(type: "Tile" input: "x" output: "y" arg { name: "tiles" i: 9 }
              arg { name: "axis" i: 1 })",
           R"(type: "Transpose" input: "x" output: "y")",
           R"(type: "Shape" input: "x" output: "y")",
       }) {
    SCOPED_TRACE(text);
    OperatorDef def = ParseOp(text);
    def.mutable_device_option()->set_device_type(CUDA);
    const auto op = CreateOperator(def, &there);
    ASSERT_TRUE(op->Run());
    const long kernels = fakecuda_calls("kernel"), copies = fakecuda_calls("cudaMemcpyAsync");
    ASSERT_TRUE(op->Run());
    EXPECT_EQ(fakecuda_calls("kernel"), kernels + 1);
    EXPECT_EQ(fakecuda_calls("cudaMemcpyAsync"), copies);
  }
}

TEST_F(ShapeCudaTest, SplitsByAnInputOfEitherDevice) {
  FeedRange<float>(&ws_, "x", {2, 5});
  Feed<int>(&ws_, "sizes", {2}, {2, 3});
  const std::string text = R"(type: "Split" input: "x" input: "sizes" output: "a" output: "b"
      arg { name: "axis" i: 1 })";
  ExpectDevicesAgree(&ws_, text, {.stay = {"sizes"}});
  ExpectDevicesAgree(&ws_, text);
}

TEST_F(ShapeCudaTest, CopiesSlices) {
  FeedRange<float>(&ws_, "x", {5, 3, 4});
  FeedRange<float>(&ws_, "empty", {0, 3});
  Feed<int32_t>(&ws_, "i", {2, 2}, {4, 0, 2, -1});
  Feed<int64_t>(&ws_, "j", {3}, {2, 2, 1});
  Feed<int32_t>(&ws_, "outer", {5, 2}, {0, 1, 2, 0, 1, 2, 0, 1, 2, 0});
  Feed<int32_t>(&ws_, "none", {0}, {});
  ExpectDevicesAgree(&ws_, R"(type: "Gather" input: "x" input: "i" output: "y")");
  ExpectDevicesAgree(
      &ws_, R"(type: "Gather" input: "x" input: "j" output: "y" arg { name: "axis" i: -2 })");
  ExpectDevicesAgree(&ws_, R"(type: "BatchGather" input: "x" input: "j" output: "y")");
  ExpectDevicesAgree(
      &ws_, R"(type: "Gather" input: "x" input: "outer" output: "y" arg { name: "axis" i: 1 }
      arg { name: "match_outer" i: 1 })");
  ExpectDevicesAgree(&ws_, R"(type: "Gather" input: "x" input: "none" output: "y")");
  ExpectDevicesAgree(&ws_, R"(type: "Gather" input: "empty" input: "none" output: "y")");
}

TEST_F(ShapeCudaTest, ReportsAnIndexOutOfRangeOnceAndContinues) {
  FeedRange<float>(&ws_, "x", {3, 2}, 1);
  Feed<int32_t>(&ws_, "bad", {3}, {2, 3, 1});
  Feed<int64_t>(&ws_, "before", {1}, {-4});
  Feed<int64_t>(&ws_, "negative", {1}, {-1});
  const std::string gather = R"(type: "Gather" output: "y" input: "x" input: )";
  ExpectDeviceThrows(&ws_, gather + "\"bad\"",
                     "INDICES element is out of DATA bounds, id=3 axis_dim=3");
  ExpectDeviceThrows(&ws_, gather + "\"before\"", "id=-1 axis_dim=3");
  ExpectDeviceThrows(&ws_, R"(type: "BatchGather" input: "x" input: "negative" output: "y")",
                     "id=-1 axis_dim=2");
  Feed<int32_t>(&ws_, "good", {2}, {2, 0});
  ExpectDevicesAgree(&ws_, gather + "\"good\"");  // the earlier error has no lasting effect
}

TEST_F(ShapeCudaTest, GivesZerosForAnIndexOutOfRange) {
  Workspace there;
  FeedRange<float>(&ws_, "x", {3, 2}, 1);
  Feed<int32_t>(&ws_, "bad", {3}, {2, 3, 1});
  for (const char* name : {"x", "bad"}) {
    there.CreateBlob(name)->GetMutableTensor(CUDA)->CopyFrom(ws_.GetBlob(name)->Get<Tensor>());
  }
  OperatorDef def = ParseOp(R"(type: "Gather" input: "x" input: "bad" output: "y")");
  def.mutable_device_option()->set_device_type(CUDA);
  EXPECT_THROW(there.RunOperatorOnce(def), EnforceNotMet);
  ws_.CreateBlob("y")->GetMutableTensor(CPU)->CopyFrom(there.GetBlob("y")->Get<Tensor>());
  ExpectTensor<float>(ws_, "y", {3, 2}, {5, 6, 0, 0, 3, 4});
}

TEST_F(ShapeCudaTest, SlicesByArgumentsAndByInputsOfEitherDevice) {
  FeedRange<int32_t>(&ws_, "x", {4, 5, 3});
  Feed<int64_t>(&ws_, "starts", {2}, {0, 1});
  Feed<int64_t>(&ws_, "ends", {2}, {-1, 4});
  const std::string text = R"(type: "Slice" input: "x" input: "starts" input: "ends" output: "y")";
  ExpectDevicesAgree(&ws_, text);
  ExpectDevicesAgree(&ws_, text, {.stay = {"starts", "ends"}});
  ExpectDevicesAgree(&ws_, R"(type: "Slice" input: "x" output: "y" arg { name: "starts" ints: 1 }
      arg { name: "ends" ints: -2 })");
  ExpectDevicesAgree(&ws_, R"(type: "Slice" input: "x" output: "y" arg { name: "starts" ints: 2 }
      arg { name: "ends" ints: 2 })");
}

TEST_F(ShapeCudaTest, TilesRowsOfAnyWidth) {
  FeedRange<float>(&ws_, "x", {3, 2, 3});
  FeedRange<uint8_t>(&ws_, "bytes", {7, 3});
  Feed<int32_t>(&ws_, "tiles", {1}, {5});
  Feed<int32_t>(&ws_, "axis", {1}, {-1});
  ExpectDevicesAgree(&ws_, R"(type: "Tile" input: "x" output: "y" arg { name: "tiles" i: 4 }
      arg { name: "axis" i: 0 })");
  ExpectDevicesAgree(&ws_, R"(type: "Tile" input: "bytes" output: "y" arg { name: "tiles" i: 2 }
      arg { name: "axis" i: -1 })");
  ExpectDevicesAgree(&ws_, R"(type: "Tile" input: "x" output: "y" arg { name: "tiles" i: 0 }
      arg { name: "axis" i: 1 })");
  const std::string by_inputs =
      R"(type: "Tile" input: "x" input: "tiles" input: "axis" output: "y")";
  ExpectDevicesAgree(&ws_, by_inputs);
  ExpectDevicesAgree(&ws_, by_inputs, {.stay = {"tiles", "axis"}});
}

TEST_F(ShapeCudaTest, TransposesAnyOrderOfAxes) {
  FeedRange<float>(&ws_, "x", {2, 3, 5, 7});
  FeedRange<double>(&ws_, "deep", {2, 3, 1, 2, 2, 3, 2});
  FeedRange<float>(&ws_, "none", {2, 0, 3});
  for (const char* axes : {"", "ints: 0 ints: 2 ints: 3 ints: 1", "ints: 3 ints: 1 ints: 2 ints: 0",
                           "ints: 1 ints: 0 ints: 2 ints: 3", "ints: 0 ints: 1 ints: 2 ints: 3"}) {
    ExpectDevicesAgree(
        &ws_, std::string(R"(type: "Transpose" input: "x" output: "y" )") +
                  (*axes == '\0' ? "" : "arg { name: \"axes\" " + std::string(axes) + " }"));
  }
  ExpectDevicesAgree(
      &ws_, R"(type: "Transpose" input: "deep" output: "y" arg { name: "axes" ints: 5 ints: 3
      ints: 0 ints: 6 ints: 1 ints: 4 ints: 2 })");
  ExpectDevicesAgree(&ws_, R"(type: "Transpose" input: "none" output: "y")");
  ExpectDevicesAgree(&ws_, R"(type: "NCHW2NHWC" input: "x" output: "y")");
  ExpectDevicesAgree(&ws_, R"(type: "NHWC2NCHW" input: "x" output: "y")");
}

TEST_F(ShapeCudaTest, ReshapesAndLeavesShapesOnTheCpu) {
  FeedRange<float>(&ws_, "x", {2, 6, 3});
  FeedRange<float>(&ws_, "like", {9, 4});
  Feed<int32_t>(&ws_, "shape", {2}, {0, -1});
  ExpectDevicesAgree(&ws_, R"(type: "Reshape" input: "x" output: "y" output: "old"
      arg { name: "shape" ints: 3 ints: -1 })",
                     {.on_cpu = {"old"}});
  const std::string by_input = R"(type: "Reshape" input: "x" input: "shape" output: "y"
      output: "old")";
  ExpectDevicesAgree(&ws_, by_input, {.on_cpu = {"old"}});
  ExpectDevicesAgree(&ws_, by_input, {.stay = {"shape"}, .on_cpu = {"old"}});
  ExpectDevicesAgree(&ws_, R"(type: "ResizeLike" input: "x" input: "like" output: "y")");
  ExpectDevicesAgree(&ws_, R"(type: "Flatten" input: "x" output: "y")");
  ExpectDevicesAgree(&ws_, R"(type: "FlattenToVec" input: "x" output: "y")");
  ExpectDevicesAgree(&ws_, R"(type: "MergeDim" input: "x" output: "y")");
  ExpectDevicesAgree(&ws_,
                     R"(type: "PrependDim" input: "x" output: "y" arg { name: "dim_size" i: 2 })");
  ExpectDevicesAgree(&ws_,
                     R"(type: "ExpandDims" input: "x" output: "y" arg { name: "dims" ints: 1 })");
  ExpectDevicesAgree(&ws_, R"(type: "EnsureDense" input: "x" output: "y")");
  FeedRange<float>(&ws_, "one", {2, 1, 3});
  ExpectDevicesAgree(&ws_,
                     R"(type: "Squeeze" input: "one" output: "y" arg { name: "dims" ints: 1 })");
}

TEST_F(ShapeCudaTest, ReturnsShapesAndSizes) {
  FeedRange<float>(&ws_, "x", {2, 6, 3});
  FeedRange<float>(&ws_, "scalar", {});
  std::string many;
  for (int i = 0; i < 70; ++i) many += " ints: " + std::to_string(i % 3);
  ExpectDevicesAgree(&ws_, R"(type: "Shape" input: "x" output: "y")");
  ExpectDevicesAgree(&ws_, R"(type: "Shape" input: "scalar" output: "y")");
  ExpectDevicesAgree(&ws_,
                     R"(type: "Shape" input: "x" output: "y" arg { name: "axes" )" + many + " }");
  ExpectDevicesAgree(&ws_, R"(type: "Size" input: "x" output: "y")");
}

// A shape on the CPU is valid only after the copy that writes it has finished. In this test, the
// device performs the copy only when the host waits.
TEST_F(ShapeCudaTest, WaitsForAShapeThatACopyToTheCpuStillWrites) {
  if (&fakecuda_before == nullptr) GTEST_SKIP() << "only the fake CUDA reports waits";
  FeedRange<float>(&ws_, "x", {2, 6});
  Feed<int64_t>(&ws_, "wanted", {2}, {4, 3});
  const DataPtr pinned(PinnedCPUAllocator().New(2 * sizeof(int64_t)));  // outlives the tensor
  Workspace there;
  for (const char* name : {"x", "wanted"}) {
    there.CreateBlob(name)->GetMutableTensor(CUDA)->CopyFrom(ws_.GetBlob(name)->Get<Tensor>());
  }
  // The host does not wait for a copy to pinned memory.
  Tensor* shape = Feed<int64_t>(&there, "shape", {2}, {3, 4});
  std::memcpy(pinned.get(), shape->raw_data(), shape->nbytes());
  shape->ShareExternalPointer(static_cast<int64_t*>(pinned.get()));
  OperatorDef def = ParseOp(R"(type: "Reshape" input: "x" input: "shape" output: "y"
      output: "old" device_option { device_type: 1 })");
  const auto reshape = CreateOperator(def, &there);
  CUDAContext context(0);
  Gate gate(context.cuda_stream());
  context.CopyToCPU(2, there.GetBlob("wanted")->Get<Tensor>().data<int64_t>(),
                    shape->mutable_data<int64_t>());
  fakecuda_before(
      "cudaStreamSynchronize", [](void* g) { static_cast<Gate*>(g)->Open(); }, &gate);
  ASSERT_TRUE(reshape->Enqueue(0));
  reshape->FinishDevice();
  EXPECT_EQ(there.GetBlob("y")->Get<Tensor>().dims(), (std::vector<int64_t>{4, 3}));
}

TEST_F(ShapeCudaTest, AddsSlicesInTheOrderOfTheCpu) {
  const Agreement ordered = {.engines = {""}};
  const Agreement any = {.tolerance = 1e-5, .engines = {"ATOMIC"}};
  std::vector<int32_t> indices;
  for (int i = 0; i < 300; ++i) indices.push_back(i * i % 11);
  Feed<int32_t>(&ws_, "i", {300}, indices);
  FeedRandom(&ws_, "v", {300, 3});
  FeedRandom(&ws_, "like", {12, 3});
  const char* sparse = R"(type: "SparseToDense" input: "i" input: "v" output: "y")";
  ExpectDevicesAgree(&ws_, sparse, ordered);
  ExpectDevicesAgree(&ws_, sparse, any);
  ExpectDevicesAgree(
      &ws_, R"(type: "SparseToDense" input: "i" input: "v" input: "like" output: "y")", ordered);
  FeedRange<int64_t>(&ws_, "v", {300, 1}, 1, 77);
  ExpectDevicesAgree(&ws_, sparse, ordered);
  ExpectDevicesAgree(&ws_, sparse, any);

  FeedRandom(&ws_, "x", {2, 11, 3});
  FeedRandom(&ws_, "dy", {2, 300, 3});
  const std::string gather =
      R"(type: "BatchGatherGradient" input: "x" input: "i" input: "dy" output: "dx")";
  ExpectDevicesAgree(&ws_, gather, ordered);
  ExpectDevicesAgree(&ws_, gather, any);
  Feed<int32_t>(&ws_, "i", {2, 150}, indices);
  FeedRandom(&ws_, "dy", {2, 150, 3});
  const std::string matched = gather + R"( arg { name: "match_outer" i: 1 })";
  ExpectDevicesAgree(&ws_, matched, ordered);
  ExpectDevicesAgree(&ws_, matched, any);
}

TEST_F(ShapeCudaTest, ReportsIndicesOfSlicesToAdd) {
  Feed<int64_t>(&ws_, "i", {3}, {0, 5, 1});
  FeedRandom(&ws_, "v", {3});
  FeedRandom(&ws_, "like", {2});
  for (const char* engine : {"", "ATOMIC"}) {
    ExpectDeviceThrows(&ws_,
                       MakeString(R"(type: "SparseToDense" input: "i" input: "v" input: "like"
                                           output: "y" engine: ")",
                                  engine, "\""),
                       "index 5 is out of range, want at least 0 and below 2");
  }
}

TEST_F(ShapeCudaTest, ScattersSlicesToEqualIndices) {
  std::vector<int32_t> indices;
  for (int i = 0; i < 300; ++i) indices.push_back(i * i % 11);
  Feed<int32_t>(&ws_, "i", {300}, indices);
  const std::string assign =
      R"(type: "ScatterAssign" input: "x" input: "i" input: "s" output: "x")";
  FeedRange<uint8_t>(&ws_, "x", {12, 3});
  FeedRange<uint8_t>(&ws_, "s", {300, 3}, 7, 0.25);
  ExpectDevicesAgree(&ws_, assign);
  FeedRandom(&ws_, "x", {12, 4});
  FeedRandom(&ws_, "s", {300, 4}, -1, 1, 2);
  ExpectDevicesAgree(&ws_, assign);

  Feed<float>(&ws_, "w0", {1}, {0.99f});
  Feed<float>(&ws_, "w1", {}, {-0.5f});
  const std::string sum = R"(type: "ScatterWeightedSum" input: "x" input: "w0" input: "i" input: "s"
      input: "w1" input: "s" input: "w0" output: "x")";
  ExpectDevicesAgree(&ws_, sum, {.tolerance = 1e-5, .engines = {"", "ATOMIC"}});
  Feed<int64_t>(&ws_, "i", {2}, {3, 12});
  FeedRandom(&ws_, "s", {2, 4});
  for (const char* engine : {"", "ATOMIC"}) {
    ExpectDeviceThrows(&ws_, MakeString(sum, " engine: \"", engine, "\""),
                       "index 12 is out of range, want at least 0 and below 12");
  }
  ExpectDeviceThrows(&ws_, assign, "index 12 is out of range, want at least 0 and below 12");
}

TEST_F(ShapeCudaTest, GradientsOfSliceAndTileAgree) {
  FeedRandom(&ws_, "x", {3, 7, 5});
  FeedRandom(&ws_, "dy", {3, 4, 5});
  ExpectDevicesAgree(&ws_, R"(type: "SliceGradient" input: "x" input: "dy" output: "dx"
      arg { name: "starts" ints: 0 ints: 2 } arg { name: "ends" ints: -1 ints: 6 })");
  Feed<int32_t>(&ws_, "starts", {1}, {1});
  Feed<int32_t>(&ws_, "ends", {1}, {2});
  FeedRange<uint8_t>(&ws_, "dy", {1, 7, 5});
  ExpectDevicesAgree(
      &ws_,
      R"(type: "SliceGradient" input: "x" input: "starts" input: "ends" input: "dy" output: "dx")",
      {.stay = {"starts"}});
  FeedRandom(&ws_, "dy", {4, 6, 5});
  for (const char* axis : {"0", "1"}) {
    ExpectDevicesAgree(&ws_, MakeString(R"(type: "TileGradient" input: "dy" output: "dx"
        arg { name: "tiles" i: 2 } arg { name: "axis" i: )",
                                        axis, " }"));
  }
}

}  // namespace
}  // namespace caffe2rt::test::shape_cuda_test
