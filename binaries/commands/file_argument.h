#pragma once
// A file given to a command: what it holds, told by content or by --as.

#include <string>
#include <utility>
#include <vector>

#include "binaries/command_line.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/metanet.pb.h"

namespace caffe2rt {

inline constexpr Option kAsOption = {
    "as", "KIND", "", "NetDef, PlanDef, MetaNetDef, TensorProtos, BlobProto, DB, ..."};

// THROWS when the content tells nothing and --as says nothing; UsageError for an unknown KIND.
FileKind KindOfFile(const CommandLine& line, const std::string& path);

// The nets of a NetDef, PlanDef, MetaNetDef or predictor database, each with a title for people.
// Empty when the file holds none (tensors, other databases).
struct TitledNet {
  std::string title;  // "net \"squeezenet\"", "PREDICT_NET_TYPE: net \"x\""
  std::string role;   // the key in a MetaNetDef; empty otherwise
  NetDef net;
};
struct NetsOfFile {
  std::vector<TitledNet> nets;
  PlanDef plan;     // of a PlanDef
  MetaNetDef meta;  // of a MetaNetDef or a predictor's database; its nets are in `nets`
};
NetsOfFile LoadNets(const std::string& path, FileKind kind, ProtoKindCheck check);

// kAsTold when --as says the kind.
ProtoKindCheck KindCheckOf(const CommandLine& line);

// Shapes of the tensors in a database, by blob.
ShapeMap ShapesInDatabase(const std::string& path, const std::string& type);

// Whether a database of that kind holds a predictor.
bool IsPredictorDatabase(const std::string& path, FileKind kind);

// "want a NetDef ..., this is ...".
[[noreturn]] void ThrowUnwantedKind(const std::string& path, FileKind kind, const char* wanted);

}  // namespace caffe2rt
