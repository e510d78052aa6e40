#include "caffe2_core/training/image_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/image.h"
#include "tests/caffe2_core/training/training_records.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::image_records_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ImageRecordsTest : public ::testing::Test {
 protected:
  // All pixels have the colour.
  void WriteImage(const std::string& name, int width, int height,
                  std::array<uint8_t, 3> colour) const {
    dir_.Write(name, "");  // makes the folders
    Image image{.width = width, .height = height, .rgb = {}};
    for (int i = 0; i < width * height; ++i)
      image.rgb.insert(image.rgb.end(), colour.begin(), colour.end());
    SavePng(dir_.path(name), image);
  }
  static std::vector<TrainingRecord> Make(const std::vector<LabelledFile>& files,
                                          const ImageRecordOptions& options = {}) {
    return Collect([&](const RecordAcceptor& accept) { ImageRecords(files, options, accept); });
  }
  const TempDir dir_;
};

TEST_F(ImageRecordsTest, ListsAFolderForEachClass) {
  for (const char* name : {"rose/b.png", "rose/a.JPEG", "daisy/c.jpg", "daisy/notes.txt",
                           "daisy/.hidden.png", "README"})
    dir_.Write(name, "");
  const ImageList list = ListClassFolders(dir_.path());
  EXPECT_THAT(list.classes, ElementsAre("daisy", "rose"));
  EXPECT_THAT(list.skipped, ElementsAre("README", "daisy/notes.txt"));
  ASSERT_EQ(list.files.size(), 3u);
  EXPECT_EQ(list.files[0].name, "daisy/c.jpg");
  EXPECT_EQ(list.files[0].label, 0);
  EXPECT_EQ(list.files[1].name, "rose/a.JPEG");
  EXPECT_EQ(list.files[2].path, dir_.path("rose/b.png"));
  EXPECT_EQ(list.files[2].label, 1);
}

TEST_F(ImageRecordsTest, RejectsFoldersWithoutClassesOrImages) {
  ExpectThrows([&] { ListClassFolders(dir_.path()); }, "want one for each class");
  dir_.Write("rose/notes.txt", "");
  ExpectThrows([&] { ListClassFolders(dir_.path()); }, "rose\" of a class");
}

TEST_F(ImageRecordsTest, ReadsLists) {
  const ImageList list =
      ReadImageList(dir_.Write("list", "a b/1.jpg 3\r\n\n2.png\t-1\n"), "/images");
  ASSERT_EQ(list.files.size(), 2u);
  EXPECT_EQ(list.files[0].name, "a b/1.jpg");
  EXPECT_EQ(list.files[0].path, "/images/a b/1.jpg");
  EXPECT_EQ(list.files[0].label, 3);
  EXPECT_EQ(list.files[1].name, "2.png");
  EXPECT_EQ(list.files[1].label, -1);
  ExpectThrows([&] { ReadImageList(dir_.Write("bad", "1.jpg 3\n2.png\n"), ""); }, "line 2 of");
  ExpectThrows([&] { ReadImageList(dir_.Write("bad", "1.jpg three\n"), ""); },
               "want a path and the number of its class");
  ExpectThrows([&] { ReadImageList(dir_.Write("none", "\n"), ""); }, "names no image");
}

TEST_F(ImageRecordsTest, StoresTheBytesOfFiles) {
  WriteImage("x/red.png", 2, 1, {255, 0, 0});
  const auto records = Make({{"x/red.png", dir_.path("x/red.png"), 4}});
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].key, "00000000_x/red.png");
  const TensorProto& data = records[0].tensors.protos(0);
  EXPECT_EQ(data.data_type(), TensorProto::STRING);
  EXPECT_THAT(DimsOf(data), ElementsAre(1));
  EXPECT_EQ(data.string_data(0), ReadWholeFile(dir_.path("x/red.png")));
  EXPECT_THAT(DimsOf(records[0].tensors.protos(1)), ElementsAre(1));
  EXPECT_THAT(ValuesOf<int32_t>(records[0].tensors.protos(1)), ElementsAre(4));
}

TEST_F(ImageRecordsTest, StoresPixelsInTheOrderBlueGreenRed) {
  WriteImage("a.png", 4, 2, {1, 2, 3});
  const std::vector<LabelledFile> files = {{"a.png", dir_.path("a.png"), 0}};
  const auto dims_and_pixel = [&](const ImageRecordOptions& options) {
    const auto records = Make(files, options);
    const TensorProto& data = records.at(0).tensors.protos(0);
    EXPECT_EQ(data.data_type(), TensorProto::BYTE);
    return std::pair(DimsOf(data), data.byte_data().substr(0, options.grey ? 1 : 3));
  };
  using Dims = std::vector<int64_t>;
  EXPECT_EQ(dims_and_pixel({.raw = true, .side = 0}),
            std::pair(Dims({2, 4, 3}), std::string("\3\2\1")));
  EXPECT_EQ(dims_and_pixel({.raw = true, .side = 1}),
            std::pair(Dims({1, 2, 3}), std::string("\3\2\1")));
  EXPECT_EQ(dims_and_pixel({.raw = true, .side = 3, .warp = true}),
            std::pair(Dims({3, 3, 3}), std::string("\3\2\1")));
  // 0.299 + 2 * 0.587 + 3 * 0.114 = 1.815
  EXPECT_EQ(dims_and_pixel({.raw = true, .side = 0, .grey = true}),
            std::pair(Dims({2, 4}), std::string("\2")));
}

// Each pixel has another colour: its three bytes are turned, and the pixels keep their places.
TEST_F(ImageRecordsTest, StoresEachPixelInItsPlace) {
  Image image{.width = 2, .height = 3, .rgb = {}};
  for (int i = 0; i < 18; ++i) image.rgb.push_back(static_cast<uint8_t>(10 * (i + 1)));
  SavePng(dir_.path("p.png"), image);
  const auto bytes = [&](bool grey) {
    const auto records =
        Make({{"p.png", dir_.path("p.png"), 0}}, {.raw = true, .side = 0, .grey = grey});
    const std::string& data = records.at(0).tensors.protos(0).byte_data();
    return std::vector<int>(reinterpret_cast<const uint8_t*>(data.data()),
                            reinterpret_cast<const uint8_t*>(data.data()) + data.size());
  };
  EXPECT_THAT(bytes(false), ElementsAre(30, 20, 10, 60, 50, 40, 90, 80, 70, 120, 110, 100, 150, 140,
                                        130, 180, 170, 160));
  // 0.299 red + 0.587 green + 0.114 blue: 18.15 for the first, 30 more for each further one.
  EXPECT_THAT(bytes(true), ElementsAre(18, 48, 78, 108, 138, 168));
}

// A folder in that of a class is none of its images, whatever it is called.
TEST_F(ImageRecordsTest, EndingsOfImagesMayHaveCapitals) {
  for (const char* name :
       {"b/1.PNG", "b/2.Jpg", "b/3.JPEG", "b/4.png.txt", "b/5png", "b/sub.png/6.png", "a/x.jpg"})
    dir_.Write(name, "");
  const ImageList list = ListClassFolders(dir_.path());
  std::vector<std::string> names;
  for (const LabelledFile& file : list.files)
    names.push_back(MakeString(file.name, " ", file.label));
  EXPECT_THAT(names, ElementsAre("a/x.jpg 0", "b/1.PNG 1", "b/2.Jpg 1", "b/3.JPEG 1"));
  EXPECT_THAT(list.skipped, ElementsAre("b/4.png.txt", "b/5png"));
}

TEST_F(ImageRecordsTest, KeepsTheOrderOnSeveralThreads) {
  std::vector<LabelledFile> files;
  for (int i = 0; i < 150; ++i) {
    const std::string name = std::to_string(i) + ".png";
    if (i < 5) WriteImage(name, i + 1, 1, {0, 0, 0});
    files.push_back({name, dir_.path(std::to_string(i % 5) + ".png"), i});
  }
  SetNumThreads(3);
  const auto records = Make(files, {.raw = true, .side = 0});
  SetNumThreads(1);
  ASSERT_EQ(records.size(), 150u);
  for (int i = 0; i < 150; ++i) {
    const TensorProtos& tensors = records[static_cast<size_t>(i)].tensors;
    ASSERT_THAT(ValuesOf<int32_t>(tensors.protos(1)), ElementsAre(i));
    ASSERT_EQ(tensors.protos(0).dims(1), i % 5 + 1);
  }
}

TEST_F(ImageRecordsTest, StopsAtADamagedFileOrLeavesItOut) {
  WriteImage("good.png", 1, 1, {0, 0, 0});
  const std::vector<LabelledFile> files = {{"bad.png", dir_.Write("bad.png", "no image"), 0},
                                           {"good.png", dir_.path("good.png"), 1}};
  ExpectThrows([&] { Make(files); }, "bad.png");
  std::vector<std::string> names, errors;
  ImageRecordOptions options;
  options.on_error = [&](const std::string& name, const std::string& error) {
    names.push_back(name);
    errors.push_back(error);
  };
  const auto records = Make(files, options);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].key, "00000001_good.png");
  EXPECT_THAT(names, ElementsAre("bad.png"));
  EXPECT_THAT(errors, ElementsAre(HasSubstr("bad.png")));
}

}  // namespace
}  // namespace caffe2rt::test::image_records_test
