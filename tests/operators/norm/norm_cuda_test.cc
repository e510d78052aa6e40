// Compares the CUDA implementations of the normalization operators, for each engine, with those of
// the CPU.

#include <functional>
#include <limits>

#include "tests/support/devices_agree.h"

namespace caffe2rt::test::norm_cuda_test {
namespace {

using Feeder = std::function<void(Workspace*)>;

class NormCudaTest : public OnDeviceTest {
 protected:
  // Compares all outputs of the operator, for each engine.
  static void ExpectAgreement(const Feeder& feed, const std::string& text,
                              const std::vector<std::string>& engines = {"", "CUDNN", "NATIVE"}) {
    Workspace ws;
    feed(&ws);
    ExpectDevicesAgree(&ws, text, {.tolerance = 1e-5, .engines = engines});
  }
};

std::string Order(const char* order) {
  return std::string(R"( arg { name: "order" s: ")") + order + "\" }";
}

TEST_F(NormCudaTest, SoftmaxAgreesOverRowsOfAllLengths) {
  for (const std::vector<int64_t>& dims :
       {std::vector<int64_t>{3, 1}, {4, 7}, {2, 3, 5}, {1, 1000}, {300, 33}, {0, 5}, {5, 0}}) {
    for (const int axis : {0, 1, -1}) {
      ExpectAgreement([&](Workspace* ws) { FeedRandom(ws, "X", dims, -20, 20); },
                      R"(type: "Softmax" input: "X" output: "Y" arg { name: "axis" i: )" +
                          std::to_string(axis) + " }");
    }
  }
}

TEST_F(NormCudaTest, SoftmaxKeepsWhatIsNoNumberInItsRow) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  ExpectAgreement(
      [](Workspace* ws) {
        Feed<float>(ws, "X", {5, 3},
                    {1, NAN, 3, 1, kInf, 3, -kInf, -kInf, -kInf, 1, -kInf, 2, 88, -88, 1000});
      },
      R"(type: "Softmax" input: "X" output: "Y")", {"", "NATIVE"});
}

TEST_F(NormCudaTest, LRNAgreesOverWindowsAndLayouts) {
  for (const std::vector<int64_t>& dims :
       {std::vector<int64_t>{2, 7, 3, 5}, {1, 1, 4, 4}, {3, 20, 1, 2}, {0, 7, 3, 5}}) {
    for (const char* order : {"NCHW", "NHWC"}) {
      for (const int size : {1, 2, 5, 16, 17}) {
        const std::string args = R"( arg { name: "alpha" f: 0.9 } arg { name: "beta" f: 0.7 }
                                     arg { name: "bias" f: 1.5 } arg { name: "size" i: )" +
                                 std::to_string(size) + " }" + Order(order);
        const auto feed = [&](Workspace* ws) { FeedRandom(ws, "X", dims, -3, 3); };
        ExpectAgreement(feed, R"(type: "LRN" input: "X" output: "Y")" + args);
        ExpectAgreement(feed, R"(type: "LRN" input: "X" output: "Y" output: "scale")" + args);
      }
    }
  }
}

TEST_F(NormCudaTest, LRNAcceptsParametersThatCudnnRejects) {
  const auto feed = [](Workspace* ws) { FeedRandom(ws, "X", {2, 5, 3, 3}, 0.5f, 2); };
  ExpectAgreement(feed, R"(type: "LRN" input: "X" output: "Y" arg { name: "size" i: 3 }
                           arg { name: "alpha" f: 1 } arg { name: "beta" f: 0 })");
  ExpectAgreement(feed, R"(type: "LRN" input: "X" output: "Y" arg { name: "size" i: 3 }
                           arg { name: "alpha" f: 1 } arg { name: "beta" f: 0.5 }
                           arg { name: "bias" f: 0 })");
  ExpectAgreement(feed, R"(type: "LRN" input: "X" output: "Y" arg { name: "size" i: 0 }
                           arg { name: "order" s: "NHWC" } arg { name: "beta" f: 0.5 })");
}

struct BatchShape {
  std::vector<int64_t> nchw, nhwc;
};
const BatchShape kShapes[] = {
    {{2, 3, 5, 7}, {2, 5, 7, 3}}, {{1, 4, 1, 1}, {1, 1, 1, 4}},       {{5, 3}, {5, 3}},
    {{2, 3, 9}, {2, 9, 3}},       {{2, 3, 2, 3, 4}, {2, 2, 3, 4, 3}}, {{0, 3, 5, 7}, {0, 5, 7, 3}},
    {{2, 3, 0, 7}, {2, 0, 7, 3}},
};

void FeedChannels(Workspace* ws, int64_t channels) {
  FeedRandom(ws, "s", {channels}, 0.5f, 2, 2);
  FeedRandom(ws, "b", {channels}, -1, 1, 3);
  FeedRandom(ws, "m", {channels}, -1, 1, 4);
  FeedRandom(ws, "v", {channels}, 0.5f, 2, 5);
}

TEST_F(NormCudaTest, SpatialBNAgreesInTestingAndTraining) {
  const std::string inputs = R"(type: "SpatialBN" input: "X" input: "s" input: "b" input: "m"
                                input: "v" )";
  const std::string test = R"( arg { name: "is_test" i: 1 })";
  const std::string training = R"( output: "m" output: "v" output: "sm" output: "sv"
                                   arg { name: "is_test" i: 0 } arg { name: "momentum" f: 0.75 }
                                   arg { name: "epsilon" f: 0.01 })";
  for (const BatchShape& shape : kShapes) {
    for (const char* order : {"NCHW", "NHWC"}) {
      const std::vector<int64_t>& dims = order[1] == 'C' ? shape.nchw : shape.nhwc;
      const auto feed = [&](Workspace* ws) {
        FeedRandom(ws, "X", dims, 1, 3);
        FeedChannels(ws, shape.nchw[1]);
      };
      for (const char* output : {R"(output: "Y")", R"(output: "X")"}) {
        ExpectAgreement(feed, inputs + output + test + Order(order));
        ExpectAgreement(feed, inputs + output + training + Order(order));
      }
    }
  }
}

TEST_F(NormCudaTest, SpatialBNUsesTheSumsOfSeveralBatches) {
  ExpectAgreement(
      [](Workspace* ws) {
        FeedRandom(ws, "X", {2, 3, 4, 5}, 1, 3);
        FeedChannels(ws, 3);
        FeedRandom(ws, "sum", {3}, 100, 150);
        FeedRandom(ws, "sumsq", {3}, 400, 500);
      },
      R"(type: "SpatialBN" input: "X" input: "s" input: "b" input: "m" input: "v" input: "sum"
         input: "sumsq" output: "Y" output: "m" output: "v" output: "sm" output: "sv"
         arg { name: "is_test" i: 0 } arg { name: "num_batches" i: 2 })");
}

TEST_F(NormCudaTest, InstanceAndGroupNormAgree) {
  for (const BatchShape& shape : kShapes) {
    for (const char* order : {"NCHW", "NHWC"}) {
      const std::vector<int64_t>& dims = order[1] == 'C' ? shape.nchw : shape.nhwc;
      const auto feed = [&](Workspace* ws) {
        FeedRandom(ws, "X", dims, 1, 3);
        FeedChannels(ws, shape.nchw[1]);
      };
      const std::string inputs = R"( input: "X" input: "s" input: "b" )";
      const std::string all = R"( output: "Y" output: "mean" output: "inverse")";
      ExpectAgreement(feed, R"(type: "InstanceNorm")" + inputs + all + Order(order));
      ExpectAgreement(feed, R"(type: "InstanceNorm")" + inputs + R"(output: "X")" + Order(order));
      for (const int64_t groups : {int64_t{1}, shape.nchw[1]}) {
        const std::string group =
            R"( arg { name: "group" i: )" + std::to_string(groups) + " }" + Order(order);
        ExpectAgreement(feed, R"(type: "GroupNorm")" + inputs + all + group);
        ExpectAgreement(feed, R"(type: "GroupNorm")" + inputs + R"(output: "Y")" + group);
      }
    }
  }
  ExpectAgreement(
      [](Workspace* ws) {
        FeedRandom(ws, "X", {2, 6, 3, 5}, 1, 3);
        FeedChannels(ws, 6);
      },
      R"(type: "GroupNorm" input: "X" input: "s" input: "b" output: "Y" arg { name: "group" i: 2 })");
}

TEST_F(NormCudaTest, LayerNormAgrees) {
  for (const std::vector<int64_t>& dims :
       {std::vector<int64_t>{4, 7}, {2, 3, 5, 7}, {3, 1}, {2, 1000}, {0, 5}, {3, 0}}) {
    const auto feed = [&](Workspace* ws) {
      FeedRandom(ws, "X", dims, 1, 3);
      const std::vector<int64_t> rest(dims.begin() + 1, dims.end());
      FeedRandom(ws, "gamma", rest, 0.5f, 2, 2);
      FeedRandom(ws, "beta", rest, -1, 1, 3);
    };
    const std::string outputs = R"( output: "Y" output: "mean" output: "std")";
    ExpectAgreement(feed, R"(type: "LayerNorm" input: "X")" + outputs);
    ExpectAgreement(feed, R"(type: "LayerNorm" input: "X" input: "gamma" input: "beta"
                             arg { name: "elementwise_affine" i: 1 })" +
                              outputs);
  }
}

TEST_F(NormCudaTest, SoftmaxGradientAgrees) {
  for (const std::vector<int64_t>& dims :
       {std::vector<int64_t>{3, 1}, {4, 7}, {1, 1000}, {300, 33}, {0, 5}, {5, 0}}) {
    ExpectAgreement(
        [&](Workspace* ws) {
          FeedRandom(ws, "Y", dims, 0, 1);
          FeedRandom(ws, "dY", dims, -1, 1, 2);
        },
        R"(type: "SoftmaxGradient" input: "Y" input: "dY" output: "dX")");
  }
}

// Y is that of X: cuDNN computes it again, whatever it is given.
TEST_F(NormCudaTest, LRNGradientAgrees) {
  for (const char* order : {"NCHW", "NHWC"}) {
    for (const int size : {1, 4, 17}) {
      const std::string args = R"( arg { name: "alpha" f: 0.9 } arg { name: "beta" f: 0.7 }
                                   arg { name: "bias" f: 1.5 } arg { name: "size" i: )" +
                               std::to_string(size) + " }" + Order(order);
      ExpectAgreement(
          [&](Workspace* ws) {
            FeedRandom(ws, "X", {2, 7, 3, 5}, -3, 3);
            RunOp(ws, R"(type: "LRN" input: "X" output: "Y")" + args);
            FeedRandom(ws, "dY", {2, 7, 3, 5}, -3, 3, 3);
          },
          R"(type: "LRNGradient" input: "X" input: "Y" input: "dY" output: "dX")" + args);
    }
  }
}

// Feeds an input, the gradient of an output, scales, and the statistics of each channel.
void FeedGradientInputs(Workspace* ws, const std::vector<int64_t>& dims, int64_t channels,
                        const std::vector<int64_t>& statistics) {
  FeedRandom(ws, "X", dims, 1, 3);
  FeedRandom(ws, "dY", dims, -1, 1, 6);
  FeedChannels(ws, channels);
  FeedRandom(ws, "mean", statistics, 1.5f, 2.5f, 7);
  FeedRandom(ws, "inverse", statistics, 0.5f, 2, 8);
}

TEST_F(NormCudaTest, ChannelGradientsAgree) {
  const std::string bn = R"(type: "SpatialBNGradient" input: "X" input: "s" input: "dY"
                            input: "mean" input: "inverse" )";
  const std::string sums = R"(input: "m" input: "v" arg { name: "num_batches" i: 3 } )";
  const std::string outputs = R"(output: "dX" output: "ds" output: "db")";
  for (const BatchShape& shape : kShapes) {
    if (shape.nchw.size() < 3) continue;
    const int64_t channels = shape.nchw[1];
    for (const char* order : {"NCHW", "NHWC"}) {
      const std::vector<int64_t>& dims = order[1] == 'C' ? shape.nchw : shape.nhwc;
      const auto feed = [&](Workspace* ws) { FeedGradientInputs(ws, dims, channels, {channels}); };
      ExpectAgreement(feed, bn + outputs + Order(order));
      ExpectAgreement(feed, bn + sums + outputs + Order(order));
      ExpectAgreement(
          feed, R"(type: "ChannelStats" input: "X" output: "sum" output: "sq")" + Order(order));
    }
    ExpectAgreement(
        [&](Workspace* ws) { FeedGradientInputs(ws, shape.nchw, channels, {channels}); },
        R"(type: "ChannelBackpropStats" input: "X" input: "mean" input: "inverse" input: "dY"
           output: "ds" output: "db")");
  }
}

TEST_F(NormCudaTest, GroupGradientsAgree) {
  const std::string outputs = R"( output: "dX" output: "ds" output: "db")";
  for (const BatchShape& shape : kShapes) {
    const int64_t batch = shape.nchw[0], channels = shape.nchw[1];
    for (const char* order : {"NCHW", "NHWC"}) {
      const std::vector<int64_t>& dims = order[1] == 'C' ? shape.nchw : shape.nhwc;
      const std::string instance =
          R"(type: "InstanceNormGradient" input: "X" input: "s" input: "b" input: "dY")";
      const auto feed = [&](Workspace* ws) {
        FeedGradientInputs(ws, dims, channels, {batch, channels});
      };
      ExpectAgreement(feed,
                      instance + R"(input: "mean" input: "inverse")" + outputs + Order(order));
      ExpectAgreement(feed,
                      instance + outputs + Order(order) + R"(arg { name: "epsilon" f: 0.5 })");
      ExpectAgreement(
          [&](Workspace* ws) {
            FeedGradientInputs(ws, dims, channels, {batch, 1});
          },
          R"(type: "GroupNormGradient" input: "dY" input: "X" input: "s" input: "b" input: "mean"
             input: "inverse" arg { name: "group" i: 1 })" +
              outputs + Order(order));
    }
  }
}

TEST_F(NormCudaTest, LayerNormGradientAgrees) {
  const std::string inputs = R"(type: "LayerNormGradient" input: "dY" input: "X" input: "mean"
                                input: "inverse" input: "X" )";
  for (const std::vector<int64_t>& dims :
       {std::vector<int64_t>{4, 7}, {2, 3, 5, 7}, {3, 1}, {2, 1000}, {0, 5}}) {
    const auto feed = [&](Workspace* ws) {
      FeedGradientInputs(ws, dims, 1, {dims[0], 1});
      FeedRandom(ws, "gamma", std::vector<int64_t>(dims.begin() + 1, dims.end()), 0.5f, 2, 2);
    };
    ExpectAgreement(feed, inputs + R"(output: "dX")");
    ExpectAgreement(feed, inputs + R"(input: "gamma" output: "dX" output: "dg" output: "db"
                                      arg { name: "elementwise_affine" i: 1 })");
  }
}

TEST_F(NormCudaTest, NormalizeAgrees) {
  for (const char* axis : {"0", "1", "2"}) {
    const auto feed = [](Workspace* ws) {
      FeedRandom(ws, "X", {3, 5, 70}, -1, 1);
      FeedRandom(ws, "dY", {3, 5, 70}, -1, 1, 2);
    };
    const std::string arg = std::string(" arg { name: \"axis\" i: ") + axis + " }";
    ExpectAgreement(feed, R"(type: "Normalize" input: "X" output: "Y")" + arg);
    ExpectAgreement(feed, R"(type: "NormalizeL1" input: "X" output: "Y")" + arg);
    ExpectAgreement(feed, R"(type: "NormalizeGradient" input: "X" input: "dY" output: "dX")" + arg);
  }
}

}  // namespace
}  // namespace caffe2rt::test::norm_cuda_test
