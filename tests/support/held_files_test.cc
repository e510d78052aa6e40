#include "tests/support/held_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/temp_dir.h"

namespace caffe2rt::test::held_files_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST(HeldFilesTest, ListsDescriptorsAndMappingsUntilTheyAreReleased) {
  const TempDir dir, other;
  const std::string path = dir.Write("x", "content");
  const int file = open(path.c_str(), O_RDONLY);
  ASSERT_GE(file, 0);
  EXPECT_THAT(HeldFiles(path), ElementsAre(testing::ContainsRegex("^descriptor [0-9]+: /.*/x$")));
  void* const mapping = mmap(nullptr, 7, PROT_READ, MAP_PRIVATE, file, 0);
  ASSERT_NE(mapping, MAP_FAILED);
  close(file);
  EXPECT_THAT(HeldFiles(dir.path()),
              ElementsAre(AllOf(StartsWith("mapping "), EndsWith(": " + path))));
  EXPECT_THAT(HeldFiles(other.path()), IsEmpty());
  std::filesystem::remove(path);
  EXPECT_EQ(HeldFiles(dir.path()).size(), 1u);
  munmap(mapping, 7);
  EXPECT_THAT(HeldFiles(dir.path()), IsEmpty());
  EXPECT_ANY_THROW(HeldFiles(path));
}

}  // namespace
}  // namespace caffe2rt::test::held_files_test
