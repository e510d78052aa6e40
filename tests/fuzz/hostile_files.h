#pragma once
// The fuzzer's folders: one that nets may write to, with links, pipes and devices in it, and a
// sibling of baits, which no net may touch.

#include <string>

#include "tests/fuzz/random.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test {

class HostileFiles {
 public:
  HostileFiles();
  // What nets may write to.
  std::string scratch() const { return dir_.path("scratch"); }
  std::string baits() const { return dir_.path("baits"); }
  // Puts back what nets may have replaced in the scratch folder, and removes what they made.
  void Renew() const;
  // THROWS when a bait was changed, or a file was made beside the baits or the scratch folder.
  void CheckBaits() const;

 private:
  std::string DescribeBaits() const;

  const TempDir dir_;
  std::string before_;
};

// A path that a hostile net might name, seen from the scratch folder: in it, out of it, through
// links, to pipes and devices.
std::string HostilePath(Random* random);

}  // namespace caffe2rt::test
