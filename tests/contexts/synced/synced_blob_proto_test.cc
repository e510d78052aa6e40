// SyncedBlob and Caffe's BlobProto.
#include <google/protobuf/text_format.h>

#include "caffe2rt/caffe.pb.h"
#include "contexts/synced/synced_blob.h"
#include "tests/contexts/synced/synced_device.h"

namespace caffe2rt::test::synced_blob_proto_test {
namespace {

caffe::BlobProto Parse(const std::string& text) {
  caffe::BlobProto proto;
  CAFFE_ENFORCE(google::protobuf::TextFormat::ParseFromString(text, &proto), "text of the test");
  return proto;
}

template <class T>
std::vector<T> DataOf(const SyncedBlob<T>& blob) {
  return {blob.cpu_data(), blob.cpu_data() + blob.count()};
}

class BlobProtoTest : public testing::Test {
 protected:
  SyncedBlob<float> blob_{BothSides()};
};

TEST_F(BlobProtoTest, ReadsShapeDataAndDiff) {
  blob_.FromProto(Parse("shape { dim: 2 dim: 1 } data: 1.5 data: -2 diff: 3 diff: 4"));
  EXPECT_EQ(blob_.shape(), (std::vector<int>{2, 1}));
  EXPECT_EQ(DataOf(blob_), (std::vector<float>{1.5, -2}));
  EXPECT_EQ(blob_.cpu_diff()[1], 4.f);
  EXPECT_EQ(blob_.data()->head(), SyncedMemory::HEAD_AT_CPU);
  EXPECT_EQ(OnDevice(blob_.gpu_data(), 2), (std::vector<float>{1.5, -2}));
}

TEST_F(BlobProtoTest, LeavesDiffUnchangedIfItIsAbsent) {
  blob_.FromProto(Parse("shape { dim: 1 } data: 1 diff: 9"));
  blob_.FromProto(Parse("shape { dim: 1 } data: 2"));
  EXPECT_EQ(blob_.cpu_diff()[0], 9.f);
}

TEST_F(BlobProtoTest, ReadsDoublesIntoFloatsAndBack) {
  blob_.FromProto(Parse("shape { dim: 1 } data: 7 double_data: 0.5 double_diff: 0.25 diff: 7"));
  EXPECT_EQ(DataOf(blob_), std::vector<float>{0.5});
  EXPECT_EQ(blob_.cpu_diff()[0], 0.25f);
  SyncedBlob<double> wide{BothSides()};
  wide.FromProto(Parse("shape { dim: 2 } data: 1.5 data: 2 double_diff: 1e300 double_diff: 1"));
  EXPECT_EQ(DataOf(wide), (std::vector<double>{1.5, 2}));
  EXPECT_EQ(wide.cpu_diff()[0], 1e300);
}

TEST_F(BlobProtoTest, ReadsTheFourLegacyFields) {
  blob_.FromProto(Parse("num: 1 channels: 1 height: 1 width: 3 data: 1 data: 2 data: 3"));
  EXPECT_EQ(blob_.shape(), (std::vector<int>{1, 1, 1, 3}));
  // Any of the four fields makes the format legacy; omitted fields are 0.
  blob_.FromProto(Parse("channels: 3 shape { dim: 7 }"));
  EXPECT_EQ(blob_.shape(), (std::vector<int>{0, 3, 0, 0}));
}

TEST_F(BlobProtoTest, ReadsScalarsAndBlobsWithoutElements) {
  blob_.FromProto(Parse("shape { } data: 5"));
  EXPECT_EQ(blob_.num_axes(), 0);
  EXPECT_EQ(DataOf(blob_), std::vector<float>{5});
  blob_.FromProto(Parse("shape { dim: 0 dim: 4 }"));
  EXPECT_EQ(blob_.count(), 0);
}

TEST_F(BlobProtoTest, LegacyShapesAreComparedFromTheEnd) {
  blob_.Reshape({3, 2});
  EXPECT_TRUE(blob_.ShapeEquals(Parse("num: 1 channels: 1 height: 3 width: 2")));
  EXPECT_FALSE(blob_.ShapeEquals(Parse("num: 3 channels: 2 height: 1 width: 1")));
  EXPECT_FALSE(blob_.ShapeEquals(Parse("num: 1 channels: 1 height: 2 width: 3")));
  blob_.Reshape({3});
  EXPECT_TRUE(blob_.ShapeEquals(Parse("num: 1 channels: 1 height: 1 width: 3")));
  blob_.Reshape({1, 1, 1, 1, 3});
  EXPECT_FALSE(blob_.ShapeEquals(Parse("num: 1 channels: 1 height: 1 width: 3")));
  EXPECT_TRUE(blob_.ShapeEquals(Parse("shape { dim: 1 dim: 1 dim: 1 dim: 1 dim: 3 }")));
  EXPECT_FALSE(blob_.ShapeEquals(Parse("shape { dim: 3 }")));
  EXPECT_FALSE(blob_.ShapeEquals(Parse("shape { dim: 1 dim: 1 dim: 1 dim: 1 dim: 3 dim: 1 }")));
}

TEST_F(BlobProtoTest, WithoutReshapeTheShapeMustFit) {
  blob_.Reshape({3});
  blob_.FromProto(Parse("num: 1 channels: 1 height: 1 width: 3 data: 1 data: 2 data: 3"), false);
  EXPECT_EQ(blob_.shape(), std::vector<int>{3});
  EXPECT_EQ(DataOf(blob_), (std::vector<float>{1, 2, 3}));
  ExpectThrows(
      [&] { blob_.FromProto(Parse("shape { dim: 1 dim: 3 } data: 1 data: 2 data: 3"), false); },
      "another shape than 3 (3)");
}

TEST_F(BlobProtoTest, RejectsWrongNumbersOfValuesAndChangesNothing) {
  blob_.FromProto(Parse("shape { dim: 2 } data: 1 data: 2"));
  for (const char* text :
       {"shape { dim: 3 } data: 1 data: 2", "shape { dim: 3 }", "data: 1 data: 2",
        "shape { dim: 1 } data: 1 double_data: 1 double_data: 2",
        "shape { dim: 1000000 dim: 2000 } data: 1", "num: 2 data: 1 data: 2"}) {
    ExpectThrows([&] { blob_.FromProto(Parse(text)); }, "values of a blob of shape");
  }
  ExpectThrows([&] { blob_.FromProto(Parse("shape { dim: 1 } data: 1 diff: 1 diff: 2")); },
               "has 2 diff values, want 1 or none");
  EXPECT_EQ(DataOf(blob_), (std::vector<float>{1, 2}));
}

// With and without reshape, data and diff come from the file, of either width, and errors change neither.
TEST_F(BlobProtoTest, WithoutReshapeDataAndDiffAreReadToo) {
  const auto diff = [&] {
    return std::vector<float>(blob_.cpu_diff(), blob_.cpu_diff() + blob_.count());
  };
  using Row = std::vector<float>;
  for (const bool reshape : {false, true}) {
    blob_.Reshape({1, 2});
    const float* const memory = blob_.cpu_data();
    blob_.FromProto(Parse("shape { dim: 1 dim: 2 } data: 1 data: 2 diff: 3 diff: 4"), reshape);
    EXPECT_EQ(DataOf(blob_), (Row{1, 2}));
    EXPECT_EQ(diff(), (Row{3, 4}));
    blob_.FromProto(Parse("num: 1 channels: 1 height: 1 width: 2 data: 5 data: 6"), false);
    EXPECT_EQ(DataOf(blob_), (Row{5, 6}));
    EXPECT_EQ(diff(), (Row{3, 4}));
    blob_.FromProto(Parse("shape { dim: 1 dim: 2 } double_data: 7 double_data: 8 double_diff: 9 "
                          "double_diff: 0.5"),
                    reshape);
    EXPECT_EQ(DataOf(blob_), (Row{7, 8}));
    EXPECT_EQ(diff(), (Row{9, 0.5f}));
    EXPECT_EQ(blob_.cpu_data(), memory);
    for (const char* text : {"shape { dim: 1 dim: 2 } data: 1", "shape { dim: 1 dim: 2 }",
                             "shape { dim: 1 dim: 2 } data: 1 data: 2 diff: 3"}) {
      EXPECT_THROW(blob_.FromProto(Parse(text), reshape), EnforceNotMet) << text;
    }
    EXPECT_EQ(DataOf(blob_), (Row{7, 8}));
    EXPECT_EQ(diff(), (Row{9, 0.5f}));
  }
  blob_.Reshape(std::vector<int>());
  blob_.FromProto(Parse("shape { } data: 5 diff: 6"), false);
  EXPECT_EQ(DataOf(blob_), Row{5});
  EXPECT_EQ(diff(), Row{6});
}

TEST_F(BlobProtoTest, RejectsAbsurdShapes) {
  ExpectThrows([&] { blob_.FromProto(Parse("shape { dim: -1 } data: 1")); }, "dimension of a blob");
  ExpectThrows([&] { blob_.FromProto(Parse("shape { dim: 4294967296 } data: 1")); },
               "dimension of a blob");
  ExpectThrows([&] { blob_.FromProto(Parse("shape { dim: 2147483647 dim: 2 } data: 1")); },
               "elements of a blob");
  std::string axes;
  for (int i = 0; i < 33; ++i) axes += "dim: 1 ";
  ExpectThrows([&] { blob_.FromProto(Parse("shape { " + axes + "} data: 1")); }, "axes of a blob");
}

TEST_F(BlobProtoTest, WritesFloatsAsData) {
  blob_.Reshape({2, 1});
  WriteOnDevice(blob_.mutable_gpu_data(), {1.f, 2.f});
  blob_.mutable_cpu_diff()[1] = 5;
  caffe::BlobProto proto = Parse("num: 9 data: 7 double_data: 8 diff: 1 double_diff: 2");
  blob_.ToProto(&proto);
  // The legacy fields are neither written nor cleared.
  EXPECT_EQ(proto.ShortDebugString(), "num: 9 data: 1 data: 2 shape { dim: 2 dim: 1 }");
  blob_.ToProto(&proto, true);
  EXPECT_EQ(proto.ShortDebugString(),
            "num: 9 data: 1 data: 2 diff: 0 diff: 5 shape { dim: 2 dim: 1 }");
}

TEST_F(BlobProtoTest, WritesDoublesAsDoubleData) {
  SyncedBlob<double> blob({1}, BothSides());
  blob.mutable_cpu_data()[0] = 1e300;
  blob.mutable_cpu_diff()[0] = -1;
  caffe::BlobProto proto;
  blob.ToProto(&proto, true);
  EXPECT_EQ(proto.ShortDebugString(), "shape { dim: 1 } double_data: 1e+300 double_diff: -1");
  SyncedBlob<double> back{BothSides()};
  back.FromProto(proto);
  EXPECT_EQ(back.cpu_data()[0], 1e300);
  EXPECT_EQ(back.cpu_diff()[0], -1.0);
}

TEST_F(BlobProtoTest, ScalarComesBackAsAScalar) {
  blob_.Reshape(std::vector<int>());
  blob_.mutable_cpu_data()[0] = 4;
  caffe::BlobProto proto;
  blob_.ToProto(&proto);
  EXPECT_TRUE(proto.has_shape());
  SyncedBlob<float> back{BothSides()};
  back.FromProto(proto);
  EXPECT_EQ(back.num_axes(), 0);
  EXPECT_EQ(back.cpu_data()[0], 4.f);
}

// Bytes written by hand: field 7 (shape) with packed field 1, field 5 with packed floats, field 8
// with packed doubles.
TEST_F(BlobProtoTest, WireFormIsCaffes) {
  const std::string shape("\x3a\x04\x0a\x02\x01\x02", 6);  // shape { dim: 1 dim: 2 }
  const std::string data("\x2a\x08\x00\x00\x80\x3f\x00\x00\x00\xc0", 10);  // 1, -2
  caffe::BlobProto proto;
  ASSERT_TRUE(proto.ParseFromString(shape + data));
  blob_.FromProto(proto);
  EXPECT_EQ(blob_.shape(), (std::vector<int>{1, 2}));
  EXPECT_EQ(DataOf(blob_), (std::vector<float>{1, -2}));
  const std::string legacy("\x08\x01\x10\x01\x18\x01\x20\x01", 8);         // num to width are 1
  const std::string wide("\x42\x08\x00\x00\x00\x00\x00\x00\xf8\x3f", 10);  // 1.5
  ASSERT_TRUE(proto.ParseFromString(legacy + wide));
  blob_.FromProto(proto);
  EXPECT_EQ(blob_.num_axes(), 4);
  EXPECT_EQ(DataOf(blob_), std::vector<float>{1.5});
}

}  // namespace
}  // namespace caffe2rt::test::synced_blob_proto_test
