// How images of a database become the input of a net: the arguments of the operator that reads them.
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/training/input_nets.h"
#include "tests/caffe2_core/training/operator_line.h"

namespace caffe2rt::test::image_inputs_test {
namespace {

DataFacts ImageRecordFacts(TensorProto::DataType type, const std::vector<int64_t>& dims) {
  return {.place = {"minidb", "r.minidb"},
          .records = 10,
          .tensors = {{type, dims}, {TensorProto::INT32, {1}}}};
}

std::string ImageInputText(const std::string& def, const DataFacts& facts) {
  InputDef input;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(def, &input)) << def;
  std::string text;
  for (const OperatorDef& op :
       InputOperators(input, facts, {.reader = "r", .batch_size = 4, .prefix = "t_"}))
    text += "  " + OperatorLine(op, true) + "\n";
  EXPECT_EQ(InputFills(input, facts).size(), 0u);
  return text;
}

// ImageInput computes (x - mean) / std: the scale is a part of std.
TEST(ImageInputsTest, HaveMeansAndDeviations) {
  const DataFacts images = ImageRecordFacts(TensorProto::STRING, {1});
  const auto text = [&](const std::string& def) {
    const std::string all = ImageInputText("crop: 5 " + def, images);
    const std::string begin = "  ImageInput r -> t_data t_label batch_size=4 crop=5 ";
    EXPECT_EQ(all.substr(0, begin.size()), begin);
    return all.substr(std::min(begin.size(), all.size()));
  };
  EXPECT_EQ(text(""),
            "scale=5 color=1 is_test=0 mean_per_channel=[0, 0, 0] std_per_channel=[1, 1, 1]\n");
  EXPECT_EQ(text("scale: 0.5 resize: 5"),
            "scale=5 color=1 is_test=0 mean_per_channel=[0, 0, 0] std_per_channel=[2, 2, 2]\n");
  EXPECT_EQ(text("scale: 2 mean: [1, 2, 3] std: [4, 5, 8]"),
            "scale=5 color=1 is_test=0 mean_per_channel=[1, 2, 3] std_per_channel=[2, 2.5, 4]\n");
  EXPECT_EQ(text("mean: [1, 2, 3] std: 4"),
            "scale=5 color=1 is_test=0 mean_per_channel=[1, 2, 3] std_per_channel=[4, 4, 4]\n");
  EXPECT_EQ(text("mean: 7 std: [1, 2, 4]"),
            "scale=5 color=1 is_test=0 mean_per_channel=[7, 7, 7] std_per_channel=[1, 2, 4]\n");
  EXPECT_EQ(text("grey: true"), "scale=5 color=0 is_test=0 mean=0 std=1\n");
  EXPECT_EQ(text("grey: true mirror: true scale: 4"),
            "scale=5 color=0 is_test=0 mirror=1 mean=0 std=0.25\n");
  // Pixels that are cut are images, too.
  EXPECT_EQ(ImageInputText("crop: 5 resize: 9", ImageRecordFacts(TensorProto::UINT8, {8, 6, 3})),
            "  ImageInput r -> t_data t_label batch_size=4 crop=5 scale=9 color=1 is_test=0 "
            "mean_per_channel=[0, 0, 0] std_per_channel=[1, 1, 1]\n");
  // Without a crop, those with one or three channels get their planes.
  EXPECT_EQ(ImageInputText("", ImageRecordFacts(TensorProto::UINT8, {8, 6, 2})),
            "  TensorProtosDBInput r -> t_data_read t_label_read batch_size=4\n"
            "  Cast t_data_read -> t_data to=1\n"
            "  FlattenToVec t_label_read -> t_label\n");
  // Damaged records.
  InputDef input;
  input.set_crop(5);
  const std::vector<OperatorDef> skips = InputOperators(
      input, images, {.reader = "r", .batch_size = 4, .prefix = "", .on_error = "skip"});
  ASSERT_EQ(skips.size(), 1u);
  EXPECT_EQ(OperatorLine(skips[0], true),
            "ImageInput r -> data label batch_size=4 crop=5 scale=5 color=1 is_test=0 "
            "mean_per_channel=[0, 0, 0] std_per_channel=[1, 1, 1] on_error=skip");
}

}  // namespace
}  // namespace caffe2rt::test::image_inputs_test
