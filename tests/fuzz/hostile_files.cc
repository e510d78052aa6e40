#include "tests/fuzz/hostile_files.h"

#include <absl/strings/str_join.h>
#include <sys/stat.h>

#include <filesystem>
#include <iterator>
#include <set>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"

namespace caffe2rt::test {
namespace {

namespace fs = std::filesystem;

void MakePipe(const std::string& path) {
  CAFFE_ENFORCE_EQ(mkfifo(path.c_str(), 0600), 0, "cannot make the pipe \"", path, "\"");
}

}  // namespace

HostileFiles::HostileFiles() {
  fs::create_directory(baits());
  dir_.Write("baits/bait", "bait");
  MakePipe(dir_.path("baits/pipe"));  // opening it blocks for ever
  fs::create_directory(scratch());
  Renew();
  before_ = DescribeBaits();
}

void HostileFiles::Renew() {
  if (!initial_scratch_.empty() && DescribeScratch() == initial_scratch_) return;
  for (const auto& entry : fs::directory_iterator(scratch())) fs::remove_all(entry.path());
  fs::create_directory(dir_.path("scratch/folder"));
  fs::create_symlink("../baits", dir_.path("scratch/link"));
  fs::create_symlink("../baits/bait", dir_.path("scratch/link_to_file"));
  fs::create_symlink("../baits/none", dir_.path("scratch/link_to_none"));
  fs::create_symlink("/dev/zero", dir_.path("scratch/zero"));
  MakePipe(dir_.path("scratch/pipe"));
  fs::create_directory(dir_.path("scratch/lmdb"));
  MakePipe(dir_.path("scratch/lmdb/data.mdb"));
  initial_scratch_ = DescribeScratch();
}

// No file among the initial content has bytes, so names, types and inodes show every change.
std::string HostileFiles::DescribeScratch() const {
  std::set<std::string> lines;
  for (const auto& entry : fs::recursive_directory_iterator(scratch())) {
    struct stat info;
    const std::string path = entry.path().string();
    CAFFE_ENFORCE_EQ(lstat(path.c_str(), &info), 0, "cannot stat \"", path, "\"");
    lines.insert(MakeString(path, " mode ", info.st_mode, " inode ", info.st_ino));
  }
  return absl::StrJoin(lines, "\n");
}

std::string HostileFiles::DescribeBaits() const {
  std::set<std::string> lines;
  for (const std::string& folder : {dir_.path(), baits()}) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      struct stat info;
      const std::string path = entry.path().string();
      CAFFE_ENFORCE_EQ(lstat(path.c_str(), &info), 0, "cannot stat \"", path, "\"");
      // The size and time of the scratch folder itself may change.
      const bool is_scratch = path == scratch();
      lines.insert(MakeString(path, " mode ", info.st_mode, " size ", is_scratch ? 0 : info.st_size,
                              " time ", is_scratch ? 0 : info.st_mtim.tv_sec, ".",
                              is_scratch ? 0 : info.st_mtim.tv_nsec));
    }
  }
  return absl::StrJoin(lines, "\n") + ReadWholeFile(baits() + "/bait");
}

void HostileFiles::CheckBaits() const {
  const std::string now = DescribeBaits();
  CAFFE_ENFORCE(now == before_, "a net accessed a file outside its folder; before:\n", before_,
                "\nnow:\n", now);
}

std::string HostilePath(Random* random) {
  static const char* const kPaths[] = {"saved",
                                       "folder",
                                       "folder/saved",
                                       "missing/saved",
                                       "../baits/bait",
                                       "../baits/new",
                                       "folder/../../baits/bait",
                                       "link/bait",
                                       "link/new",
                                       "link_to_file",
                                       "link_to_none",
                                       "pipe",
                                       "zero",
                                       "lmdb",
                                       "/dev/zero",
                                       "/proc/self/mem",
                                       "..",
                                       "%d_saved"};
  return kPaths[random->Below(std::size(kPaths))];
}

}  // namespace caffe2rt::test
