#include "operators/io/image_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2rt/caffe2_legacy.pb.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::image_record_test {
namespace {

using ::testing::ElementsAre;

TensorProto Bytes(const std::vector<int64_t>& dims, const std::string& bytes) {
  TensorProto proto;
  proto.set_data_type(TensorProto::BYTE);
  for (const int64_t dim : dims) proto.add_dims(dim);
  proto.set_byte_data(bytes);
  return proto;
}

TensorProto Ints(const std::vector<int>& values) {
  TensorProto proto;
  proto.set_data_type(TensorProto::INT32);
  for (const int value : values) proto.add_int32_data(value);
  return proto;
}

TensorProto Floats(const std::vector<float>& values) {
  TensorProto proto;
  proto.set_data_type(TensorProto::FLOAT);
  for (const float value : values) proto.add_float_data(value);
  return proto;
}

std::string Serialized(const std::vector<TensorProto>& tensors) {
  TensorProtos protos;
  for (const TensorProto& tensor : tensors) *protos.add_protos() = tensor;
  return protos.SerializeAsString();
}

std::vector<int> Rgb(const std::string& value, const ImageRecordForm& form = {}) {
  const ImageRecord record = ParseImageRecord("k", value, form);
  return {record.image.rgb.begin(), record.image.rgb.end()};
}

const TensorProto kPixel = Bytes({1, 1, 3}, "\1\2\3");

TEST(ImageRecordTest, ReadsPixels) {
  const ImageRecord record =
      ParseImageRecord("k", Serialized({Bytes({1, 2, 3}, "\1\2\3\4\5\6"), Ints({7})}), {});
  EXPECT_EQ(record.image.height, 1);
  EXPECT_EQ(record.image.width, 2);
  EXPECT_THAT(record.image.rgb, ElementsAre(3, 2, 1, 6, 5, 4));
  EXPECT_FALSE(record.box.has_value());
  EXPECT_THAT(Rgb(Serialized({Bytes({1, 2}, "\1\2"), Ints({7})})), ElementsAre(1, 1, 1, 2, 2, 2));
  EXPECT_THAT(Rgb(Serialized({Bytes({2, 1, 1}, "\1\2"), Ints({7})})),
              ElementsAre(1, 1, 1, 2, 2, 2));
}

TEST(ImageRecordTest, MakesImagesGrey) {
  // 0.299 * 3 + 0.587 * 2 + 0.114 * 1 = 2.185
  EXPECT_THAT(Rgb(Serialized({kPixel, Ints({7})}), {.color = false}), ElementsAre(2, 2, 2));
}

TEST(ImageRecordTest, DecodesFiles) {
  const TempDir dir;
  SavePng(dir.path("a.png"), {.width = 1, .height = 1, .rgb = {9, 8, 7}});
  TensorProto data;
  data.set_data_type(TensorProto::STRING);
  data.add_string_data(ReadWholeFile(dir.path("a.png")));
  EXPECT_THAT(Rgb(Serialized({data, Ints({7})})), ElementsAre(9, 8, 7));
  data.set_string_data(0, "no image");
  ExpectThrows([&] { Rgb(Serialized({data, Ints({7})})); }, "record \"k\"");
}

TEST(ImageRecordTest, ReadsTheBox) {
  const ImageRecord record =
      ParseImageRecord("k", Serialized({kPixel, Ints({7}), Ints({1, 2, 3, 4})}), {});
  ASSERT_TRUE(record.box.has_value());
  EXPECT_EQ(record.box->y, 1);
  EXPECT_EQ(record.box->x, 2);
  EXPECT_EQ(record.box->height, 3);
  EXPECT_EQ(record.box->width, 4);
}

TEST(ImageRecordTest, ReadsDatum) {
  CaffeDatum datum;
  datum.set_channels(3);
  datum.set_height(1);
  datum.set_width(2);
  datum.set_data("\1\2\3\4\5\6");
  datum.set_label(5);
  const ImageRecordForm form = {.is_datum = true};
  const ImageRecord record = ParseImageRecord("k", datum.SerializeAsString(), form);
  EXPECT_EQ(record.image.height, 1);
  EXPECT_EQ(record.image.width, 2);
  EXPECT_THAT(record.image.rgb, ElementsAre(5, 3, 1, 6, 4, 2));
  Tensor label(CPU);
  SetRecordOutputs(ParseImageRecord("k", datum.SerializeAsString(), form), form, 0, 1, {&label});
  EXPECT_EQ(label.data<int32_t>()[0], 5);
  ExpectThrows([&] { Rgb(datum.SerializeAsString()); }, "use_caffe_datum");
  ExpectThrows([&] { Rgb(Serialized({kPixel, Ints({7})}), form); }, "no Datum of Caffe");
}

TEST(ImageRecordTest, RejectsOtherRecords) {
  const std::pair<std::vector<TensorProto>, const char*> cases[] = {
      {{kPixel}, "it has 1 tensor, want 2"},
      {{kPixel, Ints({7}), Ints({1, 2, 3, 4}), Ints({7})}, "it has 4 tensors, want 2"},
      {{kPixel, Ints({7}), Ints({1, 2, 3})}, "int32 of the box"},
      {{Floats({1, 2, 3}), Ints({7})}, "image is of type FLOAT, want STRING"},
      {{Bytes({3}, "abc"), Ints({7})}, "pixels have 1 dims"},
      {{Bytes({1, 1, 2}, "ab"), Ints({7})}, "2 channels, want 1 or 3"},
      {{Bytes({1, 2, 3}, "abc"), Ints({7})}, "bytes of an image of 1 x 2"},
      {{Bytes({int64_t{1} << 62, int64_t{1} << 62, 1}, "abc"), Ints({7})}, "want 1 to 1048576"},
      {{Bytes({-1, -3, 1}, "abc"), Ints({7})}, "want 1 to 1048576"},
  };
  for (const auto& [tensors, message] : cases)
    ExpectThrows([&, &t = tensors] { Rgb(Serialized(t)); }, message);
  ExpectThrows([&] { Rgb("no proto"); }, "record \"k\"");
  TensorProto strings;
  strings.set_data_type(TensorProto::STRING);
  ExpectThrows([&] { Rgb(Serialized({strings, Ints({7})})); }, "strings of the image");
}

TEST(ImageRecordTest, RejectsDatumThatIsNoImageOfOneLabel) {
  CaffeDatum datum;
  datum.set_height(1);
  datum.set_width(1);
  datum.set_channels(3);
  for (int i = 0; i < 3; ++i) datum.add_float_data(1);
  ExpectThrows([&] { Rgb(datum.SerializeAsString(), {.is_datum = true}); },
               "the Datum has floats, want an image of bytes");
  datum.set_data("abc");
  const std::string record = datum.SerializeAsString();
  EXPECT_THAT(Rgb(record, {.is_datum = true}), ElementsAre('c', 'b', 'a'));
  ExpectThrows(
      [&] { Rgb(record, {.is_datum = true, .labels = ImageLabels::kDense, .num_labels = 1}); },
      "a Datum of Caffe has one label and no more");
  ExpectThrows([&] { Rgb(record, {.is_datum = true, .additional_sizes = {1}}); },
               "a Datum of Caffe has one label and no more");
}

// The outputs of a batch of two records.
class ImageLabelTest : public ::testing::Test {
 protected:
  void Set(const ImageRecordForm& form, const std::vector<TensorProto>& first,
           const std::vector<TensorProto>& second) {
    int64_t item = 0;
    for (const std::vector<TensorProto>& rest : {first, second}) {
      std::vector<TensorProto> tensors = {kPixel};
      tensors.insert(tensors.end(), rest.begin(), rest.end());
      std::vector<Tensor*> outputs = {&label_};
      for (size_t i = 0; i < form.additional_sizes.size(); ++i) outputs.push_back(&additional_[i]);
      SetRecordOutputs(ParseImageRecord("k", Serialized(tensors), form), form, item++, 2, outputs);
    }
  }
  template <class T>
  static std::vector<T> Values(const Tensor& tensor) {
    return {tensor.data<T>(), tensor.data<T>() + tensor.numel()};
  }
  Tensor label_{CPU};
  Tensor additional_[2] = {Tensor(CPU), Tensor(CPU)};
};

TEST_F(ImageLabelTest, IsOneNumber) {
  Set({}, {Ints({3})}, {Ints({-4})});
  EXPECT_THAT(label_.dims(), ElementsAre(2));
  EXPECT_THAT(Values<int32_t>(label_), ElementsAre(3, -4));
  Set({}, {Floats({0.5f})}, {Floats({2})});
  EXPECT_THAT(Values<float>(label_), ElementsAre(0.5f, 2));
}

TEST_F(ImageLabelTest, IsSparse) {
  Set({.labels = ImageLabels::kSparse, .num_labels = 3}, {Ints({0, 2})}, {Ints({})});
  EXPECT_THAT(label_.dims(), ElementsAre(2, 3));
  EXPECT_THAT(Values<int32_t>(label_), ElementsAre(1, 0, 1, 0, 0, 0));
}

TEST_F(ImageLabelTest, IsSparseWithWeights) {
  Set({.labels = ImageLabels::kWeightedSparse, .num_labels = 3}, {Ints({0, 2}), Floats({0.5f, 4})},
      {Ints({1}), Floats({2})});
  EXPECT_THAT(Values<float>(label_), ElementsAre(0.5f, 0, 4, 0, 2, 0));
}

TEST_F(ImageLabelTest, IsDense) {
  Set({.labels = ImageLabels::kDense, .num_labels = 2}, {Floats({1, 2})}, {Floats({3, 4.5f})});
  EXPECT_THAT(label_.dims(), ElementsAre(2, 2));
  EXPECT_THAT(Values<float>(label_), ElementsAre(1, 2, 3, 4.5f));
}

TEST_F(ImageLabelTest, IsFollowedByAdditionalOutputs) {
  Set({.labels = ImageLabels::kSingleWeighted, .additional_sizes = {1, 2}},
      {Ints({3}), Floats({0.5f}), Ints({1, 2})}, {Ints({4}), Floats({0.25f}), Ints({3, 4})});
  EXPECT_THAT(Values<int32_t>(label_), ElementsAre(3, 4));
  EXPECT_THAT(additional_[0].dims(), ElementsAre(2));
  EXPECT_THAT(Values<float>(additional_[0]), ElementsAre(0.5f, 0.25f));
  EXPECT_THAT(additional_[1].dims(), ElementsAre(2, 2));
  EXPECT_THAT(Values<int32_t>(additional_[1]), ElementsAre(1, 2, 3, 4));
}

TEST_F(ImageLabelTest, RejectsValuesThatDoNotFit) {
  const ImageRecordForm sparse = {.labels = ImageLabels::kSparse, .num_labels = 3};
  ExpectThrows([&] { Set(sparse, {Ints({3})}, {Ints({0})}); }, "index 0 is 3, want 0 to 2");
  ExpectThrows([&] { Set(sparse, {Ints({-1})}, {Ints({0})}); }, "want 0 to 2");
  ExpectThrows([&] { Set(sparse, {Floats({1})}, {Ints({0})}); }, "want INT32, the indices");
  ExpectThrows([&] { Set({}, {Ints({1, 2})}, {Ints({0})}); }, "label of record \"k\"");
  ExpectThrows([&] { Set({}, {Ints({1})}, {Floats({0})}); },
               "another type than in the records before");
  ExpectThrows([&] { Set({}, {kPixel}, {kPixel}); }, "of type BYTE, want FLOAT or INT32");
  ExpectThrows(
      [&] {
        Set({.labels = ImageLabels::kWeightedSparse, .num_labels = 3}, {Ints({1}), Floats({})}, {});
      },
      "weights, want one for each index");
  ExpectThrows(
      [&] {
        Set({.additional_sizes = {2}}, {Ints({1}), Ints({1})}, {});
      },
      "additional output 0 of record");
}

}  // namespace
}  // namespace caffe2rt::test::image_record_test
