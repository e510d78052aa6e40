// Compares the operators of detectors on CUDA with the CPU, and checks invalid RoIs and indices.

#include "tests/support/devices_agree.h"

namespace caffe2rt::test::detection_cuda_test {
namespace {

using DetectionOnCudaTest = OnDeviceTest;

const char* const kNhwc = R"(arg { name: "order" s: "NHWC" } )";

// `count` RoIs of `images` images around a map of 20 x 20.
void FeedRois(Workspace* ws, int64_t count, int64_t images, bool rotated) {
  const std::vector<float> random = RandomValues(count * 5, 0, 20, 5);
  std::vector<float> rois;
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const float* const r = random.data() + i * 5;
    rois.push_back(static_cast<float>(i % static_cast<size_t>(images)));
    if (rotated) {
      rois.insert(rois.end(), {r[0], r[1], r[2], r[3], 18 * r[4] - 180});
    } else {
      rois.insert(rois.end(), {r[0] - 3, r[1] - 3, r[0] + r[2], r[1] + r[3] / 4});
    }
  }
  Feed<float>(ws, "R", {count, rotated ? 6 : 5}, rois);
}

TEST_F(DetectionOnCudaTest, AlignedRoIsAgree) {
  for (const bool rotated : {false, true}) {
    for (const bool nhwc : {false, true}) {
      for (const char* const args :
           {R"(arg { name: "spatial_scale" f: 0.5 } )", R"(arg { name: "sampling_ratio" i: 2 } )",
            R"(arg { name: "aligned" i: 1 } )"}) {
        Workspace ws;
        FeedRandom(&ws, "X",
                   nhwc ? std::vector<int64_t>{2, 9, 11, 19} : std::vector<int64_t>{2, 19, 9, 11});
        FeedRandom(&ws, "dY",
                   nhwc ? std::vector<int64_t>{7, 3, 2, 19} : std::vector<int64_t>{7, 19, 3, 2});
        FeedRois(&ws, 7, 2, rotated);
        const std::string type = rotated ? "RoIAlignRotated" : "RoIAlign";
        const std::string rest =
            std::string(R"(arg { name: "pooled_h" i: 3 } arg { name: "pooled_w" i: 2 } )") + args +
            (nhwc ? kNhwc : "");
        SCOPED_TRACE(type + rest);
        ExpectDevicesAgree(&ws,
                           "type: \"" + type + R"(" input: "X" input: "R" output: "Y" )" + rest,
                           {.tolerance = 1e-5});
        ExpectDevicesAgree(&ws,
                           "type: \"" + type +
                               R"(Gradient" input: "X" input: "R" input: "dY" output: "dX" )" +
                               rest,
                           {.tolerance = 1e-5});
      }
    }
  }
}

TEST_F(DetectionOnCudaTest, PoolsAgree) {
  const std::string bins =
      R"(arg { name: "pooled_h" i: 4 } arg { name: "pooled_w" i: 3 } arg { name: "spatial_scale" f: 0.7 })";
  for (const char* const type : {"RoIPool", "RoIPoolF"}) {
    Workspace ws;
    FeedRandom(&ws, "X", {2, 3, 12, 13});
    FeedRandom(&ws, "dY", {9, 3, 4, 3});
    FeedRois(&ws, 9, 2, false);
    ExpectDevicesAgree(&ws, std::string("type: \"") + type +
                                R"(" input: "X" input: "R" output: "Y" output: "A" )" + bins);
    ExpectDevicesAgree(
        &ws,
        std::string("type: \"") + type +
            R"(Gradient" input: "X" input: "R" input: "A" input: "dY" output: "dX" )" + bins,
        {.tolerance = 1e-6});
  }
  const std::string group =
      R"(arg { name: "group_size" i: 3 } arg { name: "output_dim" i: 2 } arg { name: "spatial_scale" f: 0.7 })";
  FeedRandom(&ws_, "X", {2, 18, 12, 13});
  FeedRandom(&ws_, "dY", {9, 2, 3, 3});
  FeedRois(&ws_, 9, 2, false);
  ExpectDevicesAgree(&ws_,
                     R"(type: "PSRoIPool" input: "X" input: "R" output: "Y" output: "C" )" + group,
                     {.tolerance = 1e-6});
  ExpectDevicesAgree(
      &ws_,
      R"(type: "PSRoIPoolGradient" input: "X" input: "R" input: "C" input: "dY" output: "dX" )" +
          group,
      {.tolerance = 1e-5});
}

TEST_F(DetectionOnCudaTest, ChannelsAndRowsAgree) {
  FeedRandom(&ws_, "scale", {5});
  FeedRandom(&ws_, "bias", {5}, -1, 1, 2);
  for (const char* const order : {"", kNhwc}) {
    FeedRandom(&ws_, "X",
               *order == '\0' ? std::vector<int64_t>{3, 5, 70} : std::vector<int64_t>{3, 70, 5});
    FeedRandom(&ws_, "dY", ws_.GetBlob("X")->Get<Tensor>().dims(), -1, 1, 4);
    for (
        const char* const text :
        {R"(type: "AffineChannel" input: "X" input: "scale" input: "bias" output: "Y" )",
         R"(type: "AffineChannelGradient" input: "dY" input: "scale" output: "dX" )",
         R"(type: "AffineChannelGradient" input: "dY" input: "X" input: "scale" output: "dX" output: "ds"
             output: "db" arg { name: "is_learnable" i: 1 } )"}) {
      ExpectDevicesAgree(&ws_, std::string(text) + order, {.tolerance = 1e-5});
    }
  }
  Feed<int32_t>(&ws_, "I", {3}, {2, 2, 0});
  ExpectDevicesAgree(&ws_, R"(type: "BatchPermutation" input: "X" input: "I" output: "Y")");
  ExpectDevicesAgree(&ws_, R"(type: "BatchPermutationGradient" input: "I" input: "X" output: "Y")",
                     {.tolerance = 1e-6});
}

TEST_F(DetectionOnCudaTest, ReportsInvalidRoIsAndIndices) {
  FeedRandom(&ws_, "X", {1, 1, 4, 4});
  Feed<float>(&ws_, "R", {2, 5}, {0, 0, 0, 1, 1, 3, 0, 0, 1, 1});
  const std::string want =
      "RoI 1 of input 1 (RoIs) is of an image that does not exist, want at least 0 and below 1";
  ExpectDeviceThrows(&ws_, R"(type: "RoIAlign" input: "X" input: "R" output: "Y")", want);
  ExpectDeviceThrows(&ws_, R"(type: "RoIPool" input: "X" input: "R" output: "Y" output: "A")",
                     want);
  ExpectDeviceThrows(&ws_, R"(type: "PSRoIPool" input: "X" input: "R" output: "Y" output: "A")",
                     want);
  Feed<float>(&ws_, "R", {1, 5}, {0, 0, 0, 1e30f, 1});
  ExpectDeviceThrows(&ws_, R"(type: "RoIAlign" input: "X" input: "R" output: "Y")", "is too large");
  Feed<int32_t>(&ws_, "I", {1}, {7});
  ExpectDeviceThrows(&ws_, R"(type: "BatchPermutation" input: "X" input: "I" output: "Y")",
                     "the index of row 0 of the output is 7, want at least 0 and below 1");
}

}  // namespace
}  // namespace caffe2rt::test::detection_cuda_test
