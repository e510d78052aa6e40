#pragma once
// Writes .npy and .npz files array by array, in memory that does not grow with the file.
//
//   NpzStream archive("results.npz");
//   for (...) archive.Add(name, tensor);     // numpy.load("results.npz")[name]
//   archive.Finish();
//
//   NpyRows rows("prob.npy");
//   for (...) rows.Add(tensor);              // appends its rows
//   rows.Finish();
//
// Files appear when Finish is called, completely or not at all; an object that is destroyed before
// leaves nothing. Not thread safe.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/tensor/tensor.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// An archive as WriteNpz (npy.h) writes it: not compressed, with Zip64 where it is needed. The
// directory at its end has about 60 bytes and the name for each entry, which are kept in memory. A
// pipe is written as the entries come. Archives may have more entries than ReadNpz accepts.
class NpzStream {
 public:
  // THROWS if the file cannot be created.
  explicit NpzStream(const std::string& path);
  NpzStream(const NpzStream&) = delete;
  NpzStream& operator=(const NpzStream&) = delete;

  // Writes a tensor, copied from its device. THROWS as WriteNpz does for its type and its name.
  void Add(const std::string& name, const Tensor& tensor);
  void Finish();

 private:
  void AddDirectory();

  const std::string path_;
  AtomicFile file_;
  std::string directory_;
  std::set<std::string> names_;
  int64_t entries_ = 0;
  bool has_directory_ = false;  // Finish may be called again after an error
};

// One array to which rows are appended along its first dimension.
class NpyRows {
 public:
  // THROWS if the file cannot be created.
  explicit NpyRows(const std::string& path);
  NpyRows(const NpyRows&) = delete;
  NpyRows& operator=(const NpyRows&) = delete;

  // Appends a tensor, copied from its device; one without dimensions is one row. THROWS as
  // CheckFits does, and appends nothing then.
  void Add(const Tensor& tensor);
  // THROWS if the tensor differs from those before in type or in any dimension but the first, or is
  // of a type that .npy cannot represent. Strings are not supported.
  void CheckFits(const Tensor& tensor) const;
  // Writes the header, of which the number of rows is known only now.
  void Finish();

 private:
  std::string Header(const std::string& type) const;

  const std::string path_;
  AtomicFile file_;
  std::string type_;          // the text in the header; empty before the first tensor
  std::vector<int64_t> row_;  // dimensions
  int64_t rows_ = 0;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
