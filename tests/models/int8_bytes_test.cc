// With --deterministic, nets that `caffe2 quantize` has written give the same bytes with precision int8 on every
// instruction set, and on one and two threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "caffe2_core/base/isa.h"
#include "caffe2_core/graph/passes/conv_layouts.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/standard_streams.h"
#include "tests/models/recorded_blobs.h"
#include "tests/programs/program_runner.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::int8_bytes_test {
namespace {

struct Net {
  const char* folder;
  const char* output;          // what is compared
  std::vector<int64_t> shape;  // of the input "data"
  float scale, offset;         // of its numbers, which are made from 0 to 1
};

class Int8BytesTest : public testing::TestWithParam<Net> {};

std::string RunWith(const std::string& caffe2_isa, const std::string& onednn_isa,
                    const std::vector<std::string>& args, const std::string& output) {
  Environment environment;
  if (!caffe2_isa.empty()) environment.Set("CAFFE2RT_ISA", caffe2_isa);
  if (!onednn_isa.empty()) environment.Set("DNNL_MAX_CPU_ISA", onednn_isa);
  const ProgramResult result = RunCaffe2(args);
  EXPECT_EQ(result.code, 0) << result.err;
  const Tensor y = ReadNpy(output);
  return {static_cast<const char*>(y.raw_data()), y.nbytes()};
}

TEST_P(Int8BytesTest, AreTheSameOnEveryInstructionSetAndNumberOfThreads) {
  if (!WhyNoInt8Convs().empty()) GTEST_SKIP() << WhyNoInt8Convs();
  const Net& net = GetParam();
  const std::string init = SharedPath(net.folder) + "/init_net.pb";
  if (!PathExists(init)) GTEST_SKIP() << "no " << init;
  const TempDir dir;
  Tensor data(net.shape, CPU);
  uint32_t state = 1;
  for (int64_t i = 0; i < data.numel(); ++i) {
    state = state * 1664525u + 1013904223u;
    data.mutable_data<float>()[i] =
        static_cast<float>(state >> 8) / 16777216.0f * net.scale + net.offset;
  }
  WriteNpy(dir.path("data.npy"), data);
  const std::string input = "data=" + dir.path("data.npy"), quantized = dir.path("int8.pb");
  const ProgramResult made = RunCaffe2({"quantize", "--init-net", init, "--predict-net",
                                        SharedPath(net.folder) + "/predict_net.pb", "--input",
                                        input, "--output-predict-net", quantized});
  ASSERT_EQ(made.code, 0) << made.err;
  std::string first;
  for (const char* threads : {"1", "2"}) {
    const std::vector<std::string> args = {
        "run",     "--init-net",  init,       "--predict-net",   quantized,   "--input",
        input,     "--precision", "int8",     "--deterministic", "--threads", threads,
        "--fetch", net.output,    "--output", dir.path("out")};
    const std::string output = dir.path("out") + "/" + net.output + ".npy";
    for (const auto& [caffe2_isa, onednn_isa] :
         {std::pair("", ""), std::pair("avx2", "AVX2"), std::pair("", "AVX512_CORE"),
          std::pair("", "AVX512_CORE_VNNI")}) {
      const std::string bytes = RunWith(caffe2_isa, onednn_isa, args, output);
      if (first.empty()) first = bytes;
      EXPECT_EQ(bytes == first, true) << caffe2_isa << " " << onednn_isa << ", threads " << threads;
    }
  }
  EXPECT_FALSE(first.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Nets, Int8BytesTest,
    testing::Values(Net{"models/c2_resnet_cifar10", "softmax", {3, 3, 32, 32}, 4, -2},
                    Net{"models/c2_squeezenet", "pool10", {1, 3, 227, 227}, 255, -120}),
    [](const auto& test) { return std::string(test.param.folder).substr(7); });

}  // namespace
}  // namespace caffe2rt::test::int8_bytes_test
