#include "operators/io/load.h"

#include <absl/strings/str_join.h>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/io/searched_folders.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

std::unique_ptr<db::DB> OpenDatabase(const FileAccess& access, const std::string& type,
                                     const std::string& name, const std::string& path) {
  try {
    return db::OpenDB(type, path, db::READ);
  } catch (const OutOfMemory&) {
    throw;
  } catch (const EnforceNotMet& error) {
    const std::string folders = SearchedFolders(access, name, path);
    if (folders.empty()) throw;
    CAFFE_THROW(error.message(), folders);
  }
}

bool LoadedBlobs::Add(const std::string& name, const BlobProto& proto, Blob* blob) {
  const auto [found, is_new] = states_.try_emplace(name);
  State& state = found->second;
  const bool segmented = proto.has_tensor() && proto.tensor().has_segment();
  const int64_t elements = segmented ? CheckedProduct(proto.tensor().dims()) : 1;
  if (is_new) {
    blob->Reset();
    state.total = segmented ? elements : std::max(1, proto.content_num_chunks());
  } else if (proto.has_tensor()) {
    CAFFE_ENFORCE(state.read < state.total,
                  "Found an extra part for an already filled tensor: ", name);
    CAFFE_ENFORCE(!segmented || elements == state.total, "tensor \"", name, "\" has ", elements,
                  " elements according to one part and ", state.total, " according to another");
  }
  if (!proto.has_tensor()) {
    CAFFE_ENFORCE(state.chunks.insert(proto.content_chunk_id()).second,
                  "Chunk with the same id has occurred twice for: ", name);
  }
  DeserializeBlob(proto, blob);
  state.read += segmented ? proto.tensor().segment().end() - proto.tensor().segment().begin() : 1;
  return state.read == state.total;
}

void LoadedBlobs::CheckWhole() const {
  for (const auto& [name, state] : states_) {
    CAFFE_ENFORCE_EQ(state.read, state.total, "Data size mismatch for blob ", name,
                     ". Expected: ", state.total, " Read: ", state.read);
  }
}

void ThrowMissingBlobs(int want, int got, const std::vector<std::string>& missing) {
  CAFFE_THROW("Expected to load ", want, " blobs, got ", got,
              " only; missing: ", absl::StrJoin(missing, ", "));
}

namespace {

constexpr int kMaxDeclaredReaders = 64;

bool LoadsAll(const OperatorDef& def) { return ArgumentHelper(def).Read(kLoadAll) != 0; }

// Indices of the inputs that the schema declares as modified. An operator with more readers is
// treated as accessing unlisted blobs.
std::set<int> ReaderInputs() {
  std::set<int> indices;
  for (int i = 0; i < kMaxDeclaredReaders; ++i) indices.insert(i);
  return indices;
}

}  // namespace

void RegisterLoad() {
  RegisterSchema("Load", __FILE__)
      .NumInputs(0, INT32_MAX)
      .NumOutputs(0, INT32_MAX)
      // Load moves the cursors of the readers without taking their locks.
      .ModifiesInputs(ReaderInputs())
      .AccessesUnlistedBlobs([](const OperatorDef& def) {
        return LoadsAll(def) || def.input_size() > kMaxDeclaredReaders;
      })
      .DeviceInferenceFunction([](const OperatorDef& op) {
        // Readers are on the CPU.
        return std::pair(
            std::vector<DeviceOption>(static_cast<size_t>(op.input_size())),
            std::vector<DeviceOption>(static_cast<size_t>(op.output_size()), op.device_option()));
      })
      .Traits({.loads_blobs = true})
      .SetDoc(
          "Loads its outputs from one or more databases that Save wrote; with load_all, loads all "
          "blobs of the databases into the workspace. strip_prefix and add_prefix are applied to "
          "the names in the database, which are then matched with the output names.")
      .Args(kDatabaseIsAbsolute, kAddPrefix, kStripPrefix, kLoadedPath, kLoadedPaths, kDatabaseType,
            kKeepDevice, kLoadAll, kAllowIncomplete, kSourceBlobNames)
      .AccessesFiles();
  RegisterCpuOperator<LoadOp<CPUContext>>("Load", __FILE__);
  // The outputs come from a file.
  RegisterGradient<NoGradient>("Load", __FILE__);
}

}  // namespace caffe2rt
