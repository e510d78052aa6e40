#pragma once
// A new temporary folder, removed with all its content when the object is destroyed.
//
//   TempDir dir;
//   WriteNpy(dir.path("a.npy"), tensor);

#include <string>

namespace caffe2rt::test {

class TempDir {
 public:
  // THROWS if the folder cannot be created.
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  std::string path(const std::string& name) const { return path_ + "/" + name; }
  // Writes a file, creating its parent folders. Returns its path.
  std::string Write(const std::string& name, const std::string& content) const;

 private:
  std::string path_;
};

}  // namespace caffe2rt::test
