#pragma once
// Collects results and prints them: line by line, as a table per type, or as JSON.

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "tests/oracle/case_file.h"

namespace caffe2rt::test {

// Cases by id, each with a reason on one line.
using Reasons = std::map<std::string, std::string>;
// Reads lines "id<TAB>reason", ignoring empty lines and lines that begin with #. THROWS if the file
// cannot be read or a line has no reason.
Reasons ReadKnownWrong(const std::string& path);

class Report {
 public:
  // `known_wrong`: cases in which the original is wrong. `may_differ`: cases that the device may
  // compute otherwise (device_differences.h). `hardware`: also count cases that the fake CUDA cannot
  // run.
  explicit Report(Reasons known_wrong, Reasons may_differ = {}, bool hardware = false)
      : known_wrong_(std::move(known_wrong)),
        may_differ_(std::move(may_differ)),
        hardware_(hardware) {}

  void Add(const CaseEntry& entry, const CaseResult& result);

  // Prints "FAIL id type: what", "known wrong id type: reason", "differs on the device id type:
  // reason" or "needs hardware id type: what" for each case added since the last call that did not
  // pass. Cases that are not implemented are
  // only counted.
  void PrintNews(std::ostream& out);
  void PrintTable(std::ostream& out) const;
  void PrintJson(std::ostream& out) const;
  // "N passed, M failed, K not implemented", with `hardware` ", L need hardware", and if there are
  // any ", O not implemented by the original".
  std::string Summary() const;
  int failed() const { return Total().failed; }

 private:
  struct Counts {
    int passed = 0, failed = 0, not_implemented = 0, known_wrong = 0, need_hardware = 0;
    int beyond_original = 0, differ = 0;
  };
  struct Line {
    std::string kind, id, type, what;
  };
  Counts Total() const;

  const Reasons known_wrong_, may_differ_;
  const bool hardware_;
  std::map<std::string, Counts> types_;
  std::vector<Line> lines_;
  size_t printed_ = 0;
};

}  // namespace caffe2rt::test
