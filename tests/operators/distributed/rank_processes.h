#pragma once
// RankProcesses: the ranks of a world, each a process of rank_program.
//
//   RankProcesses ranks("types", 3, 20000);
//   for (const RankResult& result : ranks.Wait()) EXPECT_EQ(result.code, 0) << result.out;

#include <sys/types.h>

#include <string>
#include <vector>

#include "tests/support/temp_dir.h"

namespace caffe2rt::test {

struct RankResult {
  int code = -1;   // the exit code; -1 if a signal ended the process
  int signal = 0;  // that signal
  std::string out;
};

class RankProcesses {
 public:
  // Starts `size` processes.
  RankProcesses(const std::string& scenario, int size, int timeout_ms,
                const std::vector<std::string>& words = {});
  // Starts none; Start adds one. All use the same folder for their store.
  RankProcesses() = default;
  // Kills those that still run.
  ~RankProcesses();
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  void Start(const std::string& scenario, int rank, int size, int timeout_ms,
             const std::vector<std::string>& words = {});
  void Signal(size_t process, int signal);
  pid_t pid(size_t process) const { return processes_.at(process).pid; }
  // Waits until there is a file of that name ("": do not look) in the folder, a process has printed the text, or it
  // has ended.
  void WaitForKeyOrOutput(size_t process, const std::string& file, const std::string& text);
  // Waits until all have ended but those that have been stopped, which are killed then. A process that
  // runs for four minutes is killed, too.
  std::vector<RankResult> Wait();
  const TempDir& folder() const { return folder_; }

 private:
  struct Process {
    pid_t pid = 0;
    std::string out;
    bool stopped = false;
  };

  const TempDir folder_;
  std::vector<Process> processes_;
};

}  // namespace caffe2rt::test
