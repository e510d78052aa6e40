#pragma once
// Reads nets from files, as the programs and Predictor do.

#include <string>
#include <vector>

#include "caffe2_core/io/proto_file.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Reads a binary or text NetDef. If the net has no name, its name becomes the file's stem. THROWS
// as LoadProto does.
NetDef LoadNet(const std::string& path, ProtoKindCheck check = ProtoKindCheck::kByContent);

// "models/predict_net.pb" -> "predict_net", standard input -> "stdin".
std::string FileStem(const std::string& path);

// Sets the name of a net that has none.
void NameNet(NetDef* net, const std::string& name);

// Resolves the paths of databases that the net and its nested nets read: the arguments `db`, `dbs`
// and `db_name` of Load, CreateDB and DBExists. A relative path that does not exist below `root`
// but exists in `folder`, the folder of the net's file, becomes absolute. If a path of a Load or
// DBExists changes, all its paths become absolute and its argument `absolute_path` is set to 1. A
// relative path of a CreateDB that exists below `root` also becomes absolute, because CreateDB does
// not prepend the root folder. Operators that write are not changed.
void FindDatabases(NetDef* net, const std::string& root, const std::string& folder);

}  // namespace caffe2rt
#pragma GCC visibility pop
