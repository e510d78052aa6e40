#include "caffe2_core/io/signal_cleanup.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_folder.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::signal_cleanup_test {
namespace {

using test::TempDir;

// Runs `act` in another process and returns the signal that ends it; 0 if it exits.
int SignalOf(const std::function<void()>& act) {
  const pid_t child = fork();
  if (child == 0) {
    // Under nohup, or in the background of a shell, some of them are ignored.
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_DFL);
    act();
    _exit(0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

// Writes a file and a folder of two files, and receives the signal before they are complete.
void WriteAndRaise(const TempDir& dir, int signal) {
  const AtomicFile file(dir.path("a.npy"));
  const AtomicFolder folder(dir.path("a.leveldb"), 0777);
  WriteFileAtomically(folder.path() + "/000001.log", "log");
  WriteFileAtomically(folder.path() + "/CURRENT", "current");
  std::raise(signal);
}

TEST(SignalCleanupTest, RemovesTemporariesAndEndsByTheSignal) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    const TempDir dir;
    EXPECT_EQ(SignalOf([&] {
                RemoveTemporariesOnSignals();
                WriteAndRaise(dir, signal);
              }),
              signal);
    EXPECT_TRUE(std::filesystem::is_empty(dir.path())) << signal;
  }
}

TEST(SignalCleanupTest, KeepsCompleteFiles) {
  const TempDir dir;
  EXPECT_EQ(SignalOf([&] {
              RemoveTemporariesOnSignals();
              // More than can be tracked at once.
              for (int i = 0; i < 1000; ++i) WriteFileAtomically(dir.path("a"), "complete");
              const AtomicFile unfinished(dir.path("a"));
              std::raise(SIGTERM);
            }),
            SIGTERM);
  EXPECT_EQ(ReadWholeFile(dir.path("a")), "complete");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}), 1);
}

TEST(SignalCleanupTest, KeepsCompleteFoldersAndForgetsThem) {
  const TempDir dir;
  constexpr int kFolders = 257;  // more than can be tracked at once
  EXPECT_EQ(SignalOf([&] {
              RemoveTemporariesOnSignals();
              for (int i = 0; i < kFolders; ++i) {
                AtomicFolder folder(dir.path(MakeString("f", i)), 0755);
                folder.Commit();
              }
              for (int i = 0; i < kFolders; ++i) const AtomicFolder given_up(dir.path("g"), 0755);
              for (int i = 0; i < kFolders; ++i) const AtomicFile given_up(dir.path("h"));
              WriteAndRaise(dir, SIGTERM);
            }),
            SIGTERM);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}), kFolders);
  for (const auto& entry : std::filesystem::directory_iterator(dir.path())) {
    EXPECT_EQ(entry.path().filename().string()[0], 'f');
  }
}

TEST(SignalCleanupTest, KeepsOtherActionsOfSignals) {
  const TempDir dir;
  EXPECT_EQ(SignalOf([&] {
              std::signal(SIGHUP, SIG_IGN);
              RemoveTemporariesOnSignals();
              WriteAndRaise(dir, SIGHUP);  // as with nohup
            }),
            0);
}

}  // namespace
}  // namespace caffe2rt::signal_cleanup_test
