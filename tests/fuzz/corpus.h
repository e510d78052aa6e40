#pragma once
// The files to damage, and the blobs that their nets expect.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt::test {

struct CorpusFile {
  std::string label;  // folder and name; usable as a file name
  std::string bytes;
  FileKind kind = FileKind::kUnknown;
  // Read-only blobs created by the folder's undamaged init nets, shared by its files. Null if there
  // are none.
  std::shared_ptr<Workspace> weights;
};

class Corpus {
 public:
  // Adds every net, plan, database and proto below `folder`. Skips files larger than 8 MiB and
  // other kinds of files.
  void AddFolder(const std::string& folder);
  // Adds plans and predictor nets generated from fixed seeds.
  void AddGenerated();
  const std::vector<CorpusFile>& files() const { return files_; }
  // The file whose label is a suffix of `name`, or null.
  const CorpusFile* FindByLabel(const std::string& name) const;

 private:
  std::vector<CorpusFile> files_;
};

}  // namespace caffe2rt::test
