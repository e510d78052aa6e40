#pragma once
// Nets in files, as the programs and Predictor take them.

#include <string>
#include <vector>

#include "caffe2_core/io/proto_file.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// A NetDef, binary or text; an unnamed one gets the file's stem as its name. THROWS as LoadProto
// does.
NetDef LoadNet(const std::string& path, ProtoKindCheck check = ProtoKindCheck::kByContent);

// "models/predict_net.pb" -> "predict_net".
std::string FileStem(const std::string& path);

// Gives an unnamed net a name; nothing for others.
void NameNet(NetDef* net, const std::string& name);

// Makes databases that the net reads (Load, CreateDB and DBExists, argument `db`, `dbs` or
// `db_name`) findable: a relative path that is not there under `root`, but is beside the net's file
// (in `folder`), becomes that absolute path. Operators that write are left alone. Nested nets too.
void FindDatabases(NetDef* net, const std::string& root, const std::string& folder);

}  // namespace caffe2rt
