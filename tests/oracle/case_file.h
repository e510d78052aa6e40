#pragma once
// The files of a folder of recorded cases, read one at a time.
//
//   for (const std::string& path : ListCaseFiles("../shared/oracle")) {
//     for (const CaseEntry& entry : ReadCaseFile(path, filter)) entry.replay();
//   }
//
// A folder may hold operators/*.pb, gradients/*.pb, sequences.pb and net_gradients.pb, or any part
// of them; *.pb in the folder itself are taken for operators.

#include <functional>
#include <string>
#include <vector>

#include "tests/oracle/replay.h"

namespace caffe2rt::test {

struct CaseFilter {
  std::string op;  // cases of this operator type alone (sequences: that use it)
  std::string id;  // this case alone
};

struct CaseEntry {
  std::string id;
  std::string type;  // operator type; for the others what the reports sum them up under
  std::function<CaseResult()> replay;  // shares the file's content
};

// In a fixed order. THROWS when `folder` cannot be read or holds none.
std::vector<std::string> ListCaseFiles(const std::string& folder);

// THROWS when the file is none of the kind that its place says. Gradients are the same on all
// devices: there are none for another target than the CPU.
std::vector<CaseEntry> ReadCaseFile(const std::string& path, const CaseFilter& filter,
                                    const ReplayTarget& target = {});

}  // namespace caffe2rt::test
