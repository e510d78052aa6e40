#include "tests/fuzz/corpus.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/tensor/tensor.h"
#include "tests/fuzz/generate_plan.h"

namespace caffe2rt::test {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kMaxBytes = 8 << 20;

bool IsWanted(FileKind kind) {
  static const std::set<FileKind> kWanted = {
      FileKind::kNetDef,       FileKind::kPlanDef,   FileKind::kMetaNetDef, FileKind::kTensorProto,
      FileKind::kTensorProtos, FileKind::kBlobProto, FileKind::kMiniDB,     FileKind::kLMDB};
  return kWanted.contains(kind);
}

std::string LabelOf(const fs::path& path) {
  std::string label = path.parent_path().filename().string() + "-" + path.filename().string();
  for (char& c : label) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_') c = '-';
  }
  return label;
}

// Runs the net to get its weights, if it is an init net, which has no inputs.
void RunInit(const std::string& bytes, const std::string& label, Workspace* ws) {
  NetDef net;
  if (!ParseProtoFromLargeString(bytes, &net) && !ParseProtoFromText(bytes, &net)) return;
  for (const OperatorDef& op : net.op()) {
    if (op.input_size() > 0 || op.type().find("Fill") == std::string::npos) return;
  }
  net.set_name(label);
  try {
    ws->RunNetOnce(net);
  } catch (const EnforceNotMet&) {
    // The nets of this folder get no weights.
  }
}

}  // namespace

void Corpus::AddFolder(const std::string& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.file_size() <= kMaxBytes && entry.file_size() > 0) {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::map<std::string, std::shared_ptr<Workspace>> weights;  // shared by the files of a folder
  for (const fs::path& path : paths) {
    CorpusFile file;
    CAFFE_ENFORCE(ReadStringFromFile(path.c_str(), &file.bytes), "cannot read \"", path.string(),
                  "\"");
    file.kind = path.filename() == "data.mdb"
                    ? FileKind::kLMDB
                    : DetectContentKind(file.bytes, static_cast<int64_t>(file.bytes.size())).kind;
    if (!IsWanted(file.kind)) continue;
    file.label = LabelOf(path);
    std::shared_ptr<Workspace>& ws = weights[path.parent_path().string()];
    if (ws == nullptr) ws = std::make_shared<Workspace>();
    if (file.kind == FileKind::kNetDef) RunInit(file.bytes, file.label, ws.get());
    file.weights = ws;
    files_.push_back(std::move(file));
  }
  for (const auto& [name, ws] : weights) {
    for (const std::string& blob : ws->LocalBlobs()) {
      if (ws->GetBlob(blob)->IsTensor(CPU)) ws->GetBlob(blob)->GetMutable<Tensor>()->MarkReadOnly();
    }
  }
}

void Corpus::AddGenerated() {
  constexpr int kPlans = 64, kMetaNets = 8;
  for (int i = 0; i < kPlans + kMetaNets; ++i) {
    Random random(static_cast<uint64_t>(i));
    CorpusFile file;
    if (i < kPlans) {
      file.kind = FileKind::kPlanDef;
      file.label = MakeString("generated-plan", i, ".pbtxt");
      file.bytes = ProtoToText(GeneratePlan(&random));
    } else {
      file.kind = FileKind::kMetaNetDef;
      file.label = MakeString("generated-metanet", i - kPlans, ".pb");
      file.bytes = ProtoToBinary(GenerateMetaNet(&random));
    }
    files_.push_back(std::move(file));
  }
}

const CorpusFile* Corpus::FindByLabel(const std::string& name) const {
  for (const CorpusFile& file : files_) {
    if (name.ends_with(file.label)) return &file;
  }
  return nullptr;
}

}  // namespace caffe2rt::test
