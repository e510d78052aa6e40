// Processes that may reserve little address space: files that are mapped need some. Each case is a
// process of its own, because the limit cannot be raised again by every user.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "caffe2_core/io/pack_file.h"
#include "tests/caffe2_core/io/records.h"
#include "tests/support/refusals.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::address_space_test {
namespace {

constexpr size_t kSpaceMiB = size_t{1} << 20, kSpaceGiB = size_t{1} << 30;

// Runs `act` in a child process that may reserve `bytes` more than it has. Returns whether it
// returned true.
template <class Act>
bool WithAddressSpace(size_t bytes, Act act) {
  const pid_t child = fork();
  if (child == 0) {
    size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;  // of the whole address space
    const rlim_t most = pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)) + bytes;
    const rlimit limit = {.rlim_cur = most, .rlim_max = most};
    bool fine = setrlimit(RLIMIT_AS, &limit) == 0;
    try {
      fine = fine && act();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      fine = false;
    }
    _exit(fine ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// liblmdb reserves the most to which a file may grow: half of it, if the system allows no more.
TEST(AddressSpaceTest, LmdbReservesWhatItMay) {
  const TempDir dir;
  const Records first = {{"a", "1"}}, both = {{"a", "1"}, {"b", std::string(5000, '2')}};
  const std::string path = dir.path("db"), none = dir.path("none");
  EXPECT_TRUE(WithAddressSpace(6 * kSpaceGiB, [&] {
    Put("lmdb", path, db::NEW, first);
    Put("lmdb", path, db::WRITE, {{"b", std::string(5000, '2')}});
    return GetAll("lmdb", path) == both;
  }));
  EXPECT_EQ(GetAll("lmdb", path), both);
  // The least is 1 GiB.
  EXPECT_TRUE(WithAddressSpace(700 * kSpaceMiB, [&] {
    return MessageOf([&] { Put("lmdb", none, db::NEW, first); }) ==
               "cannot open lmdb \"" + none + "\": Cannot allocate memory" &&
           GetAll("lmdb", path) == both;  // which needs no mapping
  }));
  EXPECT_FALSE(std::filesystem::exists(none));
}

TEST(AddressSpaceTest, APackedModelThatCannotBeMappedIsAnError) {
  const TempDir dir;
  const std::string path = dir.path("model.c2pack");
  {
    const std::string block(96 * kSpaceMiB, 'x');
    PackWriter writer(path);
    (void)writer.Add(block.data(), block.size());
    PackedIndex index;
    index.mutable_predict_net()->set_name("net");
    writer.Finish(index);
  }
  EXPECT_TRUE(WithAddressSpace(32 * kSpaceMiB, [&] {
    return MessageOf([&] { PackFile::Open(path); }) ==
           "cannot map \"" + path + "\": Cannot allocate memory";
  }));
  EXPECT_TRUE(WithAddressSpace(160 * kSpaceMiB, [&] {
    return PackFile::Open(path)->index().predict_net().name() == "net";
  }));
}

}  // namespace
}  // namespace caffe2rt::test::address_space_test
