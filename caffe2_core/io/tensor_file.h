#pragma once
// Files of named tensors: .npy, .npz, TensorProto, TensorProtos, BlobProto, and databases of blobs
// (minidb, leveldb, lmdb). Reads each of them, and converts one into another.
//
//   for (auto& [name, tensor] : LoadNamedTensors("weights.npz")) ...
//   ConvertTensorFile("weights.npz", FileKind::kNpz, ProtoKindCheck::kByContent,
//                     {.path = "weights.minidb", .format = TensorFormat::kMiniDB});
//
// In a database, the blob NAME has the key NAME or the keys NAME#%0, NAME#%1, ... Records that hold
// TensorProtos, as those of data sets do, give tensors with the names KEY/NAME; a Datum of Caffe
// gives KEY/data and KEY/label.
//
// Files may be hostile: sizes are checked against the bytes present before memory is allocated, and
// a record never opens another file. Thread safe.

#include <functional>
#include <string>

#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/tensor/blob.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Whether ReadTensorFile reads files of this kind.
bool HoldsTensors(FileKind kind);
// Whether `path` is a folder with .npy files, and no database.
bool IsFolderOfTensors(const std::string& path);

// Called with each tensor, quantized tensor or string, in the order of the file. The name is "" if
// the format has none. The callee may move the content out of the blob.
using NamedBlobAcceptor = std::function<void(const std::string& name, Blob* blob)>;

// Reads a file of the given kind, or a folder with .npy files, each of which has the name of its
// file without ".npy"; the kind of a folder is kUnknown. Memory holds one tensor of a database or
// of a .npy file at a time; other files are read as a whole, and given up tensor by tensor. Tensors
// are read to the CPU. THROWS if the file is damaged or incomplete, if two tensors have the same
// name, or if a record holds neither a tensor nor a string.
void ReadTensorFile(const std::string& path, FileKind kind, ProtoKindCheck check,
                    const NamedBlobAcceptor& accept);

// Reads all tensors of a file whose kind is detected, or of a folder with .npy files. THROWS as
// ReadTensorFile, and if the path holds no tensors.
NamedTensors LoadNamedTensors(const std::string& path);

enum class TensorFormat {
  kNpy,  // one tensor
  kNpz,
  kTensorProtos,      // binary
  kTensorProtosText,  // text
  kMiniDB,
  kLevelDB,
  kLMDB,
};

struct TensorTarget {
  std::string path;
  TensorFormat format = TensorFormat::kNpz;
  // The name of a tensor whose format has none. If empty, the name of the file it was read from,
  // without its extension.
  std::string name = {};
  // Replaces an existing database. If false, an existing database is an error. Files that are not
  // databases are always replaced.
  bool overwrite = false;
};

// Converts the file `path` of the given kind. Keeps names, element types, shapes and values; does
// not keep the device that a proto names. Records of a database are copied to another database as
// they are, whatever they hold; only a Datum of Caffe becomes TensorProtos (caffe_datum.h). The
// target appears when it is complete; if the conversion fails, it is left as it was. Memory: as
// ReadTensorFile; .npz and text targets hold all tensors. THROWS as ReadTensorFile, if the target
// cannot hold a tensor, or if it cannot be written.
void ConvertTensorFile(const std::string& path, FileKind kind, ProtoKindCheck check,
                       const TensorTarget& target);

}  // namespace caffe2rt
#pragma GCC visibility pop
