// caffe2 inspect: shows the content of a file: nets as tables or drawings, plans, tensors,
// databases.

#include <absl/strings/str_join.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "binaries/commands/command.h"
#include "binaries/commands/file_argument.h"
#include "binaries/commands/file_policy.h"
#include "binaries/commands/imported_model.h"
#include "binaries/commands/inspect_drawing.h"
#include "binaries/commands/inspect_net.h"
#include "binaries/commands/optimizing.h"
#include "binaries/commands/outputs.h"
#include "binaries/json_output.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/caffe_datum.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/tensor/data_type.h"

namespace caffe2rt {
namespace {

// One line of a listing: a tensor, a blob, a record.
struct Entry {
  std::string name;
  std::string type;
  std::vector<int64_t> dims;
  bool has_dims = false;
  std::string detail;
};

Entry EntryOf(const TensorProto& proto) {
  return {.name = proto.name(),
          .type = DataTypeName(proto.data_type()),
          .dims = {proto.dims().begin(), proto.dims().end()},
          .has_dims = true,
          .detail = ""};
}

Entry EntryOf(const BlobProto& blob, const std::string& key) {
  if (!blob.has_tensor()) {
    return {.name = key,
            .type = blob.type(),
            .dims = {},
            .has_dims = false,
            .detail = MakeString(blob.ByteSizeLong(), " bytes")};
  }
  Entry entry = EntryOf(blob.tensor());
  entry.name = key;
  if (blob.tensor().has_segment()) {
    entry.detail = MakeString("elements ", blob.tensor().segment().begin(), " to ",
                              blob.tensor().segment().end());
  }
  return entry;
}

// Adds a record of a database: a blob, a list of tensors, or bytes.
void AddRecord(const std::string& key, const std::string& value, std::vector<Entry>* entries) {
  BlobProto blob;
  if (blob.ParseFromString(value) && blob.has_type()) {
    entries->push_back(EntryOf(blob, key));
    return;
  }
  TensorProtos tensors;
  if (tensors.ParseFromString(value) && tensors.protos_size() > 0) {
    for (const TensorProto& tensor : tensors.protos()) {
      entries->push_back(EntryOf(tensor));
      entries->back().name = MakeString(key, ": ", tensor.name());
    }
    return;
  }
  if (CaffeDatum datum; ParseDatum(value, &datum)) {
    entries->push_back(
        {.name = key,
         .type = "Datum of Caffe",
         .dims = {datum.channels(), datum.height(), datum.width()},
         .has_dims = !datum.encoded(),
         .detail = MakeString("label ", datum.label(), datum.encoded() ? ", encoded image" : "")});
    return;
  }
  entries->push_back({.name = key,
                      .type = "bytes",
                      .dims = {},
                      .has_dims = false,
                      .detail = MakeString(value.size(), " bytes")});
}

std::vector<Entry> EntriesOfDatabase(const std::string& path, FileKind kind, int64_t limit,
                                     int64_t* total) {
  std::vector<Entry> entries;
  const std::unique_ptr<db::DB> source = db::OpenDB(DBTypeOfKind(kind), path, db::READ);
  const std::unique_ptr<db::Cursor> cursor = source->NewCursor();
  for (*total = 0; cursor->Valid(); cursor->Next(), ++*total) {
    if (*total < limit) AddRecord(cursor->key(), cursor->value(), &entries);
  }
  return entries;
}

std::vector<Entry> EntriesOfFile(const std::string& path, FileKind kind, ProtoKindCheck check,
                                 int64_t limit, int64_t* total) {
  std::vector<Entry> entries;
  const auto add_tensor = [&](const std::string& name, const Tensor& tensor) {
    entries.push_back({.name = name,
                       .type = DataTypeName(tensor.meta()),
                       .dims = tensor.dims(),
                       .has_dims = true,
                       .detail = ""});
  };
  if (kind == FileKind::kTensorProto) {
    TensorProto proto;
    LoadProto(path, &proto, check);
    entries.push_back(EntryOf(proto));
  } else if (kind == FileKind::kTensorProtos) {
    TensorProtos protos;
    LoadProto(path, &protos, check);
    for (const TensorProto& proto : protos.protos()) entries.push_back(EntryOf(proto));
  } else if (kind == FileKind::kBlobProto) {
    for (const BlobProto& blob : LoadBlobProtos(path)) {
      entries.push_back(EntryOf(blob, blob.name()));
    }
  } else if (kind == FileKind::kNpy) {
    add_tensor("", ReadNpy(path));
  } else if (kind == FileKind::kNpz) {
    for (const auto& [name, tensor] : ReadNpz(path)) add_tensor(name, tensor);
  } else if (!DBTypeOfKind(kind).empty()) {
    return EntriesOfDatabase(path, kind, limit, total);
  } else {
    ThrowUnwantedKind(path, kind, "a net, a plan, tensors, a blob or a database");
  }
  *total = static_cast<int64_t>(entries.size());
  if (*total > limit) entries.resize(static_cast<size_t>(limit));
  return entries;
}

void PrintEntriesAsJson(const std::string& path, FileKind kind, int64_t total,
                        const std::vector<Entry>& entries) {
  const JsonDocument json = NewJson();
  *json = {{"file", path}, {"kind", FileKindName(kind)}, {"entries", total}};
  Json& tensors = (*json)["tensors"] = Json::array();
  for (const Entry& entry : entries) {
    Json& tensor = tensors.emplace_back();
    tensor = {{"name", entry.name}, {"type", entry.type}};
    if (entry.has_dims) tensor["dims"] = entry.dims;
    if (!entry.detail.empty()) tensor["detail"] = entry.detail;
  }
  PrintJson(*json);
}

void InspectEntries(const CommandLine& line, const std::string& path, FileKind kind) {
  int64_t total = 0;
  const std::vector<Entry> entries =
      EntriesOfFile(path, kind, KindCheckOf(line), line.Integer("limit", 0, INT64_MAX), &total);
  if (line.Has("json")) {
    PrintEntriesAsJson(path, kind, total, entries);
    return;
  }
  std::cout << path << ": " << FileKindDescription(kind) << ", "
            << CountText(total, "entry", "entries") << "\n";
  size_t width = 0;
  for (const Entry& entry : entries) width = WiderNames(width, entry.name);
  for (const Entry& entry : entries) {
    std::cout << "  " << PaddedName(entry.name, width) << OneLine(entry.type);
    if (entry.has_dims) std::cout << " [" << absl::StrJoin(entry.dims, ", ") << "]";
    if (!entry.detail.empty()) std::cout << "   " << entry.detail;
    std::cout << "\n";
  }
  if (total > static_cast<int64_t>(entries.size())) {
    std::cout << "  ... --limit " << total << " prints all\n";
  }
}

int Inspect(const CommandLine& line) {
  CheckPositional(line, 1, 1, "one file");
  const std::string path = line.positional()[0];
  const FileKind kind = KindOfFile(line, path);
  const NetsOfFile found =
      IsImportedNet(kind) ? LoadImportedNets(line, path, kind) : LoadNets(path, kind, KindCheckOf(line));
  const bool has_nets = kind == FileKind::kNetDef || kind == FileKind::kPlanDef ||
                        kind == FileKind::kMetaNetDef || !found.nets.empty();
  if (has_nets) {
    InspectNets(line, path, kind, found);
  } else {
    if (WantsDrawing(line)) ThrowUnwantedKind(path, kind, "a net to draw");
    InspectEntries(line, path, kind);
  }
  return 0;
}

}  // namespace

const Command& InspectCommand() {
  static const Command command = {
      .name = "inspect",
      .purpose =
          "shows the content of a file: a net's operators, shapes and costs; a plan; tensors; a "
          "database",
      .usage = "inspect FILE [options]",
      .examples =
          "  caffe2 inspect binaries/demo/stripes/predict_net.pb --init-net "
          "binaries/demo/stripes/init_net.pb --input data=1,3,64,64\n"
          "  caffe2 inspect binaries/demo/stripes/predict_net.pb --svg stripes.svg\n",
      .options = JoinOptions(
          {{kAsOption,
            ProcessOptions()[1],
            {"init-net", "FILE", "", "net that fills the weights, for shapes; may be repeated",
             true},
            kAllowFilesOption,
            {"input", "BLOB=DIMS", "", "shape of an input; may be repeated", true},
            {"svg", "FILE", "", "draw as SVG; - is standard output"},
            {"html", "FILE", "", "draw as a page with search and zoom; - is standard output"},
            {"dot", "FILE", "", "draw for Graphviz; - is standard output"},
            {"fold", "", "", "draw blocks of operators that repeat once"},
            {"dot-seconds", "N", "30",
             "time limit of Graphviz, which lays out drawings; 0 draws in rows without it"},
            {"memory", "", "",
             "show the memory that the net needs; if its weights are there, as it runs after "
             "graph passes"},
            {"fetch", "BLOB", "", "with --memory: a blob to keep; may be repeated", true},
            {"threads", "N", "1", "with --memory: number of threads per operator"},
            {"limit", "N", "1000", "entries of a database, or blobs, to list"},
            {"module", "FILE.so", "", "module with operators; may be repeated", true}},
           OptimizeOptions(),
           ImportOptions(),
           {kJsonOption}}),
      .run = Inspect,
      .arguments = ArgumentKind::kFiles};
  return command;
}

}  // namespace caffe2rt
