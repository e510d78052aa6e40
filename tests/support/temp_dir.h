#pragma once
// A fresh folder that goes with all that is in it when the object does.
//
//   TempDir dir;
//   WriteNpy(dir.path("a.npy"), tensor);

#include <string>

namespace caffe2rt::test {

class TempDir {
 public:
  // THROWS when the system gives none.
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  std::string path(const std::string& name) const { return path_ + "/" + name; }
  // Writes a file in it, folders on the way included; returns its path.
  std::string Write(const std::string& name, const std::string& content) const;

 private:
  std::string path_;
};

}  // namespace caffe2rt::test
