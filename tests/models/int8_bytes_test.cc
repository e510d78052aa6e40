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

class Int8NetBytesTest : public testing::TestWithParam<Net> {};

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

// Runs `args` with precision int8 on every instruction set, on one and two threads.
void ExpectSameBytes(std::vector<std::string> args, const TempDir& dir, const std::string& output) {
  const std::string out = dir.path("out");
  args.insert(args.end(),
              {"--precision", "int8", "--deterministic", "--fetch", output, "--output", out});
  std::string first;
  for (const char* threads : {"1", "2"}) {
    std::vector<std::string> with_threads = args;
    with_threads.insert(with_threads.end(), {"--threads", threads});
    for (const auto& [caffe2_isa, onednn_isa] :
         {std::pair("", ""), std::pair("avx2", "AVX2"), std::pair("", "AVX512_CORE"),
          std::pair("", "AVX512_CORE_VNNI")}) {
      const std::string bytes =
          RunWith(caffe2_isa, onednn_isa, with_threads, out + "/" + output + ".npy");
      if (first.empty()) first = bytes;
      EXPECT_EQ(bytes == first, true) << caffe2_isa << " " << onednn_isa << ", threads " << threads;
    }
  }
  EXPECT_FALSE(first.empty());
}

// Numbers from `offset` to `offset` + `scale`.
void WriteInput(const std::vector<int64_t>& shape, float scale, float offset,
                const std::string& path) {
  Tensor data(shape, CPU);
  uint32_t state = 1;
  for (int64_t i = 0; i < data.numel(); ++i) {
    state = state * 1664525u + 1013904223u;
    data.mutable_data<float>()[i] = static_cast<float>(state >> 8) / 16777216.0f * scale + offset;
  }
  WriteNpy(path, data);
}

TEST_P(Int8NetBytesTest, AreTheSameOnEveryInstructionSetAndNumberOfThreads) {
  if (!WhyNoInt8Convs().empty()) GTEST_SKIP() << WhyNoInt8Convs();
  const Net& net = GetParam();
  const std::string init = SharedPath(net.folder) + "/init_net.pb";
  if (!PathExists(init)) GTEST_SKIP() << "no " << init;
  const TempDir dir;
  WriteInput(net.shape, net.scale, net.offset, dir.path("data.npy"));
  const std::string input = "data=" + dir.path("data.npy"), quantized = dir.path("int8.pb");
  const ProgramResult made = RunCaffe2({"quantize", "--init-net", init, "--predict-net",
                                        SharedPath(net.folder) + "/predict_net.pb", "--input",
                                        input, "--output-predict-net", quantized});
  ASSERT_EQ(made.code, 0) << made.err;
  ExpectSameBytes({"run", "--init-net", init, "--predict-net", quantized, "--input", input}, dir,
                  net.output);
}

INSTANTIATE_TEST_SUITE_P(
    Nets, Int8NetBytesTest,
    testing::Values(Net{"models/c2_resnet_cifar10", "softmax", {3, 3, 32, 32}, 4, -2},
                    Net{"models/c2_squeezenet", "pool10", {1, 3, 227, 227}, 255, -120}),
    [](const auto& test) { return std::string(test.param.folder).substr(7); });

// A layer of a transformer. No number of keys, queries or columns is a multiple of a vector.
TEST(Int8BytesTest, OfAttentionAreTheSameOnEveryInstructionSetAndNumberOfThreads) {
  const TempDir dir;
  std::string init, net = R"(name: "layer" external_input: "x" external_output: "y")";
  const auto weight = [&](const std::string& name, const std::string& dims) {
    static int seed = 0;
    init += MakeString(R"(op { type: "UniformFill" output: ")", name,
                       R"(" arg { name: "shape" ints: [)", dims,
                       R"(] } arg { name: "min" f: -0.3 } arg { name: "max" f: 0.3 }
                       device_option { random_seed: )",
                       ++seed, " } }\n");
    net += MakeString(" external_input: \"", name, "\"");
  };
  for (const char* fc : {"q", "k", "v", "o"}) {
    weight(MakeString(fc, "_w"), "60, 60");
    weight(MakeString(fc, "_b"), "60");
  }
  weight("gamma", "60");
  weight("beta", "60");
  const auto fc = [&](const char* x, const char* y) {
    net += MakeString("op { type: \"FC\" input: \"", x, "\" input: \"", y, "_w\" input: \"", y,
                      "_b\" output: \"", y, "\" arg { name: \"axis\" i: 2 } }\n");
  };
  fc("x", "q");
  fc("x", "k");
  fc("x", "v");
  net += R"(op { type: "MultiHeadAttention" input: "q" input: "k" input: "v" output: "a"
                 arg { name: "heads" i: 4 } arg { name: "scale" f: 0.25 } })";
  fc("a", "o");
  net +=
      R"(op { type: "LayerNormFusion" input: "o" input: "gamma" input: "beta" input: "x" output: "n"
                 arg { name: "axis" i: 2 } }
            op { type: "Softmax" input: "n" output: "y" arg { name: "axis" i: 2 } })";
  WriteInput({2, 37, 60}, 4, -2, dir.path("x.npy"));
  ExpectSameBytes({"run", "--init-net", dir.Write("init.pbtxt", init), "--predict-net",
                   dir.Write("net.pbtxt", net), "--input", "x=" + dir.path("x.npy")},
                  dir, "y");
}

}  // namespace
}  // namespace caffe2rt::test::int8_bytes_test
