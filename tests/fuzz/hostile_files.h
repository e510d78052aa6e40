#pragma once
// The fuzzer's folders: a scratch folder that nets may write to, which contains links, pipes and
// devices, and beside it a folder of baits, which no net may access.

#include <string>

#include "tests/fuzz/random.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test {

class HostileFiles {
 public:
  HostileFiles();
  // The folder that nets may write to.
  std::string scratch() const { return dir_.path("scratch"); }
  std::string baits() const { return dir_.path("baits"); }
  // Restores the scratch folder to its initial content, if anything was changed, added or removed.
  void Renew();
  // THROWS if a bait was changed, or a file was created beside the baits or the scratch folder.
  void CheckBaits() const;

 private:
  std::string DescribeScratch() const;
  std::string DescribeBaits() const;

  const TempDir dir_;
  std::string initial_scratch_;
  std::string before_;
};

// A path that a hostile net might use, relative to the scratch folder: inside it, outside of it,
// through links, to pipes and devices.
std::string HostilePath(Random* random);

}  // namespace caffe2rt::test
