#pragma once
// Reads the files of a folder of recorded cases, one at a time.
//
//   for (const std::string& path : ListCaseFiles("../shared/oracle")) {
//     for (const CaseEntry& entry : ReadCaseFile(path, filter)) entry.replay();
//   }
//
// A folder may contain operators/*.pb, gradients/*.pb, sequences.pb and net_gradients.pb; each is
// optional. Any other *.pb in the folder itself is read as operator cases.

#include <functional>
#include <string>
#include <vector>

#include "tests/oracle/replay.h"

namespace caffe2rt::test {

struct CaseFilter {
  std::string op;  // only cases of this operator type; for sequences, only those that use it
  std::string id;  // only this case
};

struct CaseEntry {
  std::string id;
  std::string type;  // the operator type, or for other cases the name to group them by in reports
  std::function<CaseResult()> replay;  // keeps the file's content alive
};

// The paths of all case files, in a fixed order. THROWS if `folder` cannot be read or has none.
std::vector<std::string> ListCaseFiles(const std::string& folder);

// The recorded calls in a file of the folder `operators`. THROWS if it is not such a file.
oracle::OperatorCases ReadOperatorCases(const std::string& path);

// The cases of a file that match `filter`. THROWS if the file is not of the kind that its path
// implies. Gradients do not depend on the device, so their cases are returned for the CPU only.
std::vector<CaseEntry> ReadCaseFile(const std::string& path, const CaseFilter& filter,
                                    const ReplayTarget& target = {});

}  // namespace caffe2rt::test
