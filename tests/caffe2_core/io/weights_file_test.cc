// Weights that are read again from their file.
#include "caffe2_core/io/weights_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/io/net_weights.h"
#include "caffe2_core/tensor/data_source.h"
#include "caffe2_core/tensor/storage.h"
#include "tests/caffe2_core/io/wire_writer.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::weights_file_test {
namespace {

// A net of two operators with 20,000 numbers each, from `first` on.
std::string NetBytes(ListForm form, float first = 0) {
  std::string net;
  for (const char* const name : {"v", "w"}) {
    std::vector<float> values(20000);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = first + static_cast<float>(i) + (name[0] == 'w' ? 0.25f : 0);
    std::string op;
    AppendBytes(2, name, &op);
    AppendBytes(4, "GivenTensorFill", &op);
    AppendBytes(5, FloatsArgument(values, form), &op);
    AppendBytes(2, op, &net);
  }
  return net;
}

// The second weight of the file, which only a form without a way back is used of.
Tensor WeightOf(const std::string& path) {
  std::optional<NetWithWeights> net = ReadNetWithWeights(path);
  EXPECT_TRUE(net.has_value());
  Tensor weight = std::move(net->weights.at(1).values);
  weight.MarkReadOnly();
  weight.storage()->forms().Get("form", 1, [](void*) {},
                                {.offset = 0, .nbytes = weight.nbytes(), .restore = NoRestore()});
  return weight;
}

void ExpectExact(const Tensor& weight) {
  const float* const values = weight.data<float>();
  for (int i = 0; i < 20000; ++i) ASSERT_EQ(values[i], static_cast<float>(i) + 0.25f) << i;
}

TEST(WeightsFileTest, RestoresWeightsByteForByte) {
  const TempDir dir;
  for (const ListForm form : {ListForm::kUnpacked, ListForm::kPacked}) {
    const Tensor weight = WeightOf(dir.Write("net.pb", NetBytes(form)));
    ASSERT_EQ(weight.storage()->ReleaseData(), 80000u);
    EXPECT_EQ(static_cast<const float*>(weight.storage()->data())[10000], 0) << "it is gone";
    ExpectExact(weight);
  }
}

// Once the memory is released, the file stays open.
TEST(WeightsFileTest, NeedsTheSameFileUntilMemoryIsReleased) {
  const TempDir dir;
  const std::string other = NetBytes(ListForm::kUnpacked, 7);
  const auto replace = [&](const std::string& path) {
    std::filesystem::rename(dir.Write("other.pb", other), path);
  };
  const auto remove = [](const std::string& path) { std::filesystem::remove(path); };
  const auto rewrite = [&](const std::string& path) {
    dir.Write("net.pb", other);
    const struct timespec times[2] = {{.tv_sec = 1, .tv_nsec = 0}, {.tv_sec = 1, .tv_nsec = 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  };
  // Other numbers in a file of the same size and time, and in the same file of another nanosecond.
  const auto replace_as_old = [&](const std::string& path) {
    struct stat status;
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    std::filesystem::rename(dir.Write("other.pb", other), path);
    const struct timespec times[2] = {status.st_atim, status.st_mtim};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  };
  const auto rewrite_at_once = [&](const std::string& path) {
    struct stat status;
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    dir.Write("net.pb", other);
    status.st_mtim.tv_nsec ^= 1;
    const struct timespec times[2] = {status.st_atim, status.st_mtim};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  };
  struct Case {
    const char* name;
    std::function<void(const std::string&)> change;
    bool restores;  // if the change comes after the release
  };
  for (const Case& c :
       {Case{"replaced", replace, true}, Case{"removed", remove, true},
        Case{"written", rewrite, false}, Case{"replaced by one as old", replace_as_old, true},
        Case{"written at once", rewrite_at_once, false}}) {
    SCOPED_TRACE(c.name);
    const std::string path = dir.Write("net.pb", NetBytes(ListForm::kUnpacked));
    const Tensor before = WeightOf(path);
    c.change(path);
    EXPECT_EQ(before.storage()->ReleaseData(), 0u);
    ExpectExact(before);
    dir.Write("net.pb", NetBytes(ListForm::kUnpacked));
    const Tensor after = WeightOf(path);
    ASSERT_EQ(after.storage()->ReleaseData(), 80000u);
    c.change(path);
    if (c.restores) {
      ExpectExact(after);
    } else {
      ExpectThrows(
          [&] { (void)after.data<float>(); },
          "a weight of 80000 bytes, whose memory was released, is read again from \"" + path +
              "\", but the file has changed since the model was loaded; want it unchanged, or "
              "PredictorOptions::release_weights = false");
    }
  }
}

TEST(WeightsFileTest, IsNoSourceOfOtherWeights) {
  const TempDir dir;
  std::string small;
  AppendBytes(2, "w", &small);
  AppendBytes(4, "GivenTensorFill", &small);
  AppendBytes(5, FloatsArgument(std::vector<float>(16000), ListForm::kPacked), &small);
  std::string net;
  AppendBytes(2, small, &net);
  std::optional<NetWithWeights> read = ReadNetWithWeights(dir.Write("net.pb", net));
  ASSERT_EQ(read->weights.size(), 1u);
  EXPECT_EQ(SourceOf(*read->weights[0].values.storage()), nullptr) << "little memory";
  // From 64 KiB on: 16384 floats.
  for (const size_t count : {size_t{16383}, size_t{16384}}) {
    std::string op, one;
    AppendBytes(2, "w", &op);
    AppendBytes(4, "GivenTensorFill", &op);
    AppendBytes(5, FloatsArgument(std::vector<float>(count), ListForm::kPacked), &op);
    AppendBytes(2, op, &one);
    read = ReadNetWithWeights(dir.Write("one.pb", one));
    EXPECT_EQ(SourceOf(*read->weights.at(0).values.storage()) != nullptr, count == 16384);
  }
  read = ReadNetWithWeightsFromMemory(NetBytes(ListForm::kPacked));
  EXPECT_EQ(SourceOf(*read->weights.at(0).values.storage()), nullptr) << "from memory";
}

}  // namespace
}  // namespace caffe2rt::test::weights_file_test
