// What each argument of ImageInput means: one at a time beside the required ones, and the bounds of those that have
// some.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/runtime/operator_registry.h"
#include "operators/io/image_input.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::image_input_arguments_test {
namespace {

using ::testing::ElementsAre;

std::unique_ptr<OperatorBase> Create(const std::string& more, Workspace* ws) {
  return CreateOperator(ParseOp("type: 'ImageInput' input: 'reader' output: 'data' output: 'label' "
                                "arg { name: 'batch_size' i: 2 } " +
                                more),
                        ws);
}

constexpr char kSizes[] = "arg { name: 'crop' i: 4 } arg { name: 'scale' i: 5 } ";

class ImageInputArgumentsTest : public ::testing::Test {
 protected:
  ImageInputArgumentsTest() { ws_.CreateBlob("reader"); }
  ImageAugmentation Augmentation(const std::string& more, const std::string& sizes = kSizes) {
    return ReadImageAugmentation(*Create(sizes + more, &ws_));
  }
  ImageRecordForm Form(const std::string& more) {
    return ReadImageRecordForm(*Create(kSizes + more, &ws_));
  }
  void Refuses(const std::string& more, const std::string& message,
               const std::string& sizes = kSizes) {
    SCOPED_TRACE(more);
    ExpectThrows([&] { Create(sizes + more, &ws_); }, message);
  }
  Workspace ws_;
};

TEST_F(ImageInputArgumentsTest, HaveDefaults) {
  const ImageAugmentation how = Augmentation("");
  EXPECT_EQ(how.crop, 4);
  EXPECT_EQ(how.scale, 5);
  EXPECT_EQ(how.min_size, -1);
  EXPECT_TRUE(how.random_scale.empty());
  EXPECT_TRUE(how.color);
  EXPECT_FALSE(how.box.has_value());
  EXPECT_FALSE(how.warp);
  EXPECT_FALSE(how.inception_scale_jitter);
  EXPECT_FALSE(how.mirror);
  EXPECT_FALSE(how.is_test);
  EXPECT_FALSE(how.color_jitter);
  EXPECT_FALSE(how.color_lighting);
  EXPECT_FLOAT_EQ(how.saturation, 0.4f);
  EXPECT_FLOAT_EQ(how.brightness, 0.4f);
  EXPECT_FLOAT_EQ(how.contrast, 0.4f);
  EXPECT_FLOAT_EQ(how.color_lighting_std, 0.1f);
  EXPECT_THAT(how.mean, ElementsAre(0, 0, 0));
  EXPECT_THAT(how.std, ElementsAre(1, 1, 1));
  const ImageRecordForm form = Form("");
  EXPECT_FALSE(form.is_datum);
  EXPECT_TRUE(form.color);
  EXPECT_EQ(form.labels, ImageLabels::kSingle);
  EXPECT_EQ(form.num_labels, 0);
  EXPECT_TRUE(form.additional_sizes.empty());
}

TEST_F(ImageInputArgumentsTest, ChangeTheirPartAlone) {
  EXPECT_EQ(Augmentation("", "arg { name: 'crop' i: 3 } arg { name: 'minsize' i: 7 } ").min_size,
            7);
  EXPECT_THAT(Augmentation("arg { name: 'random_scale' ints: 5 ints: 9 }").random_scale,
              ElementsAre(5, 9));
  // Caffe2's models give -1, -1 for none.
  EXPECT_TRUE(Augmentation("arg { name: 'random_scale' ints: -1 ints: -1 }").random_scale.empty());
  EXPECT_TRUE(Augmentation("arg { name: 'warp' i: 1 }").warp);
  EXPECT_TRUE(Augmentation("arg { name: 'scale_jitter_type' i: 1 }").inception_scale_jitter);
  EXPECT_TRUE(Augmentation("arg { name: 'mirror' i: 1 }").mirror);
  EXPECT_TRUE(Augmentation("arg { name: 'is_test' i: 1 }").is_test);
  EXPECT_TRUE(Augmentation("arg { name: 'color_jitter' i: 1 }").color_jitter);
  EXPECT_TRUE(Augmentation("arg { name: 'color_lighting' i: 1 }").color_lighting);
  for (const char* type : {"unknown", "float"})  // the same on the CPU
    EXPECT_EQ(Augmentation(MakeString("arg { name: 'output_type' s: '", type, "' }")).crop, 4);
  const ImageAugmentation colors = Augmentation(
      "arg { name: 'img_saturation' f: 0.1 } arg { name: 'img_brightness' f: 0.2 } arg { name: "
      "'img_contrast' f: 0.3 } "
      "arg { name: 'color_lighting_std' f: 0.5 }");
  EXPECT_FLOAT_EQ(colors.saturation, 0.1f);
  EXPECT_FLOAT_EQ(colors.brightness, 0.2f);
  EXPECT_FLOAT_EQ(colors.contrast, 0.3f);
  EXPECT_FLOAT_EQ(colors.color_lighting_std, 0.5f);
  const std::optional<ImageBox> box =
      Augmentation(
          "arg { name: 'bounding_ymin' i: 0 } arg { name: 'bounding_xmin' i: 2 } arg { name: "
          "'bounding_height' i: 3 } "
          "arg { name: 'bounding_width' i: 4 }")
          .box;
  ASSERT_TRUE(box.has_value());
  EXPECT_THAT((std::vector<int>{box->y, box->x, box->height, box->width}), ElementsAre(0, 2, 3, 4));
}

TEST_F(ImageInputArgumentsTest, MeansAreOfOneOrOfEachChannel) {
  EXPECT_THAT(Augmentation("arg { name: 'mean' f: 2 }").mean, ElementsAre(2, 2, 2));
  EXPECT_THAT(Augmentation("arg { name: 'std' f: 3 }").std, ElementsAre(3, 3, 3));
  const ImageAugmentation lists = Augmentation(
      "arg { name: 'mean' f: 9 } arg { name: 'mean_per_channel' floats: 1 floats: 2 floats: 3 } "
      "arg { name: 'std' f: 9 } arg { name: 'std_per_channel' floats: 4 floats: 5 floats: 6 }");
  EXPECT_THAT(lists.mean, ElementsAre(1, 2, 3));
  EXPECT_THAT(lists.std, ElementsAre(4, 5, 6));
  EXPECT_THAT(Augmentation("arg { name: 'std_per_channel' floats: 4 }").std, ElementsAre(4, 4, 4));
  const ImageAugmentation grey =
      Augmentation("arg { name: 'color' i: 0 } arg { name: 'mean' f: 2 }");
  EXPECT_FALSE(grey.color);
  EXPECT_THAT(grey.mean, ElementsAre(2));
  EXPECT_THAT(grey.std, ElementsAre(1));
}

TEST_F(ImageInputArgumentsTest, DescribeTheRecord) {
  EXPECT_TRUE(Form("arg { name: 'use_caffe_datum' i: 1 }").is_datum);
  EXPECT_FALSE(Form("arg { name: 'color' i: 0 }").color);
  for (int type = 0; type <= 4; ++type) {
    const ImageRecordForm form = Form(
        MakeString("arg { name: 'label_type' i: ", type, " } arg { name: 'num_labels' i: 6 }"));
    EXPECT_EQ(static_cast<int>(form.labels), type);
    EXPECT_EQ(form.num_labels, 6);
  }
  EXPECT_THAT(Form("output: 'a' output: 'b'").additional_sizes, ElementsAre(1, 1));
  EXPECT_THAT(
      Form("output: 'a' output: 'b' arg { name: 'output_sizes' ints: 2 ints: 3 }").additional_sizes,
      ElementsAre(2, 3));
}

TEST_F(ImageInputArgumentsTest, HaveBounds) {
  // A label of types 1, 2 and 3 has a length, those of 0 and 4 have none.
  for (const int type : {0, 4})
    EXPECT_EQ(Form(MakeString("arg { name: 'label_type' i: ", type, " }")).num_labels, 0);
  for (const int type : {1, 2, 3}) {
    Refuses(MakeString("arg { name: 'label_type' i: ", type, " }"),
            MakeString("argument num_labels is 0, want above 0 for label_type ", type));
  }
  Refuses("arg { name: 'label_type' i: -1 }", "label_type");
  Refuses("arg { name: 'scale_jitter_type' i: 2 }", "scale_jitter_type");
  Refuses("arg { name: 'decode_threads' i: 0 }", "decode_threads");
  Refuses("arg { name: 'decode_threads' i: 1025 }", "decode_threads");
  Refuses("output: 'a' arg { name: 'output_sizes' ints: 0 }",
          "a value of argument output_sizes: got 0, want more than 0");
  Refuses(
      "output: 'a' arg { name: 'output_sizes' ints: 1 ints: 1 }",
      "values of argument output_sizes, want one for each output after the label (got 2, want 1)");
  Refuses("arg { name: 'std_per_channel' floats: 1 floats: 0 floats: 1 }",
          "a standard deviation is 0");
  Refuses("arg { name: 'std_per_channel' floats: 1 floats: 1 }",
          "values of argument std_per_channel");
  // The image is at least as large as the crop.
  EXPECT_EQ(Augmentation("", "arg { name: 'crop' i: 5 } arg { name: 'scale' i: 5 } ").crop, 5);
  EXPECT_EQ(Augmentation("", "arg { name: 'crop' i: 5 } arg { name: 'minsize' i: 5 } ").crop, 5);
  Refuses("", "argument scale, want at least crop (got 4, want at least 5)",
          "arg { name: 'crop' i: 5 } arg { name: 'scale' i: 4 } ");
  Refuses("", "argument minsize, want at least crop (got 4, want at least 5)",
          "arg { name: 'crop' i: 5 } arg { name: 'minsize' i: 4 } ");
  // Of scale and minsize, the one that is not above 0 does not count.
  const auto sides = [](int scale, int min_size) {
    return MakeString("arg { name: 'crop' i: 5 } arg { name: 'scale' i: ", scale,
                      " } arg { name: 'minsize' i: ", min_size, " } ");
  };
  for (const int none : {0, -1, -7}) {
    EXPECT_EQ(Augmentation("", sides(none, 6)).min_size, 6);
    EXPECT_EQ(Augmentation("", sides(6, none)).scale, 6);
    Refuses("", "argument minsize, want at least crop (got 4, want at least 5)", sides(none, 4));
    Refuses("", "argument scale, want at least crop (got 4, want at least 5)", sides(4, none));
    Refuses("",
            MakeString("argument scale is ", none, " and minsize is 0, want one of them above 0"),
            sides(none, 0));
  }
  Refuses("", "argument scale is 6 and minsize is 7, want one of them above 0", sides(6, 7));
  EXPECT_THAT(Augmentation("arg { name: 'random_scale' ints: 4 ints: 4 }").random_scale,
              ElementsAre(4, 4));
  Refuses("arg { name: 'random_scale' ints: 3 ints: 9 }",
          "the least of argument random_scale, want at least crop");
  Refuses("arg { name: 'random_scale' ints: 4 }", "argument random_scale has 1 values");
  Refuses("arg { name: 'random_scale' ints: 4 ints: 5 ints: 6 }",
          "argument random_scale has 3 values");
  for (const char* some :
       {"arg { name: 'bounding_xmin' i: 0 }", "arg { name: 'bounding_height' i: 1 }",
        "arg { name: 'bounding_width' i: 1 }",
        "arg { name: 'bounding_ymin' i: 1 } arg { name: 'bounding_xmin' i: 1 } "
        "arg { name: 'bounding_height' i: 1 } arg { name: 'bounding_width' i: 0 }"}) {
    Refuses(some, "bounding_width are missing, want all four or none");
  }
}

}  // namespace
}  // namespace caffe2rt::test::image_input_arguments_test
