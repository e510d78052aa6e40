#pragma once
// The files that are damaged, and the blobs that their nets expect.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt::test {

struct CorpusFile {
  std::string label;  // folder and name, in characters of file names
  std::string bytes;
  FileKind kind = FileKind::kUnknown;
  // Read-only blobs that the folder's undamaged init nets make; shared by its files. Null when
  // there are none.
  std::shared_ptr<Workspace> weights;
};

class Corpus {
 public:
  // Adds every net, plan, database and proto below `folder`. Files beyond 8 MiB and those of other
  // kinds are left out.
  void AddFolder(const std::string& folder);
  // Adds plans and predictors' nets that are made from random numbers of fixed seeds.
  void AddGenerated();
  const std::vector<CorpusFile>& files() const { return files_; }
  // The file whose label ends `name`, for replay; null when none does.
  const CorpusFile* FindByLabel(const std::string& name) const;

 private:
  std::vector<CorpusFile> files_;
};

}  // namespace caffe2rt::test
