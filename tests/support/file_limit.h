#pragma once
// FileLimit: a full disk, for files of this process.
//
//   const FileLimit limit(100);
//   EXPECT_THROW(WriteMoreThan100Bytes(), EnforceNotMet);

#include <sys/resource.h>

#include <csignal>
#include <cstdint>

namespace caffe2rt::test {

// Files of this process end at `bytes`, as on a full disk.
class FileLimit {
 public:
  explicit FileLimit(int64_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit = before_;
    limit.rlim_cur = static_cast<rlim_t>(bytes);
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

}  // namespace caffe2rt::test
