#pragma once
// A file given to a command: its kind is detected from its content or given by --as.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "binaries/command_line.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/model/packed_model.h"
#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/metanet.pb.h"

namespace caffe2rt {

inline constexpr Option kAsOption = {
    "as", "KIND", "", "NetDef, PlanDef, MetaNetDef, TensorProtos, BlobProto, DB, ..."};

// Returns the kind given by --as, else detects it. THROWS if it cannot be detected, and UsageError
// for an unknown KIND.
FileKind KindOfFile(const CommandLine& line, const std::string& path);

// The nets of a NetDef, PlanDef, MetaNetDef, packed model or predictor database, each with a title
// to print. Empty if the file contains no nets (tensors, other databases).
struct TitledNet {
  std::string title;  // "net \"squeezenet\"", "PREDICT_NET_TYPE: net \"x\""
  std::string role;   // the key in a MetaNetDef; empty otherwise
  NetDef net;
};
struct NetsOfFile {
  std::vector<TitledNet> nets;
  PlanDef plan;     // of a PlanDef
  MetaNetDef meta;  // of a MetaNetDef or predictor database; its nets are moved to `nets`
  std::shared_ptr<const PackedModel> packed;  // of a packed model
  NetDef init_net;                            // of a net of Caffe: its weights
  ShapeMap input_shapes;                      // the same
  bool is_onnx = false;                       // of a model of ONNX
};
NetsOfFile LoadNets(const std::string& path, FileKind kind, ProtoKindCheck check);

// Returns whether the name of a file to write states the text format of protos: it ends in .pbtxt,
// .prototxt or .txt. All commands that write protos decide by it.
bool NamesTextFormat(const std::string& path);

// Returns kAsTold if --as is given, else kByContent.
ProtoKindCheck KindCheckOf(const CommandLine& line);

// Returns the shapes of the tensors in a database, by blob name.
ShapeMap ShapesInDatabase(const std::string& path, const std::string& type);

// Returns the shapes of the tensors of a packed model, by blob name.
ShapeMap ShapesOf(const PackedModel& model);

// The shapes of the blobs in the database that the operator loads: none unless it is a Load with a
// path. THROWS if the database cannot be read, or if `access` forbids it.
ShapeMap LoadedShapes(const OperatorDef& op, const FileAccess& access);

// Returns whether the file is a database of `kind` that contains a predictor.
bool IsPredictorDatabase(const std::string& path, FileKind kind);

// THROWS `file "PATH" is A KIND, want WANTED; ...`.
[[noreturn]] void ThrowUnwantedKind(const std::string& path, FileKind kind, const char* wanted);

}  // namespace caffe2rt
