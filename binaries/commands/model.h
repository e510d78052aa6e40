#pragma once
// Shared by `run` and `bench`: loads a model from files and feeds its inputs in a workspace.

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "binaries/command_line.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/net_memory.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {

// Prints "caffe2: warning: ..." to stderr.
void Warn(const std::string& text);
// Warns if the net, run as `executor`, asks for more workers than --threads.
void WarnOfWorkers(const NetDef& net, const std::string& executor);

// Loads the model given by ModelOptions and prints its warnings. THROWS UsageError if the options
// name no model or contradict each other, and EnforceNotMet for errors in the files.
Model LoadModel(const CommandLine& line);
// The same without printing its warnings, for a second run of a model that was loaded before.
Model ReloadModel(const CommandLine& line);
// The same as LoadModel, but `--device auto` means the CPU. If `has_weights_file` is false, --weights names no file.
Model LoadModelForCPU(const CommandLine& line, bool has_weights_file = true);

// The device that --device, or the option that is given, names, or nothing for "auto". THROWS UsageError for any other
// text.
std::optional<DeviceOption> DeviceOf(const std::string& text, const char* option = "device");

// Creates the workspace of --root, runs the init nets in it and releases them. Inputs that an init
// net fills with zeros instead of data do not exist afterwards (model_inputs.h). Nets may open
// files as file_policy.h describes.
std::unique_ptr<Workspace> MakeWorkspace(const CommandLine& line, Model* model);
// The same for a command without --root, whose workspace has the root folder `root`.
std::unique_ptr<Workspace> MakeWorkspace(const CommandLine& line, const std::string& root,
                                         Model* model);

// The arenas for the activations of the predict net; null with --no-memory-plan.
std::shared_ptr<ArenaStock> ArenasOf(const CommandLine& line);
inline constexpr Option kNoMemoryPlanOption = {
    "no-memory-plan", "", "", "let each activation have memory of its own", false, true};
std::vector<std::string> ExecutorNames();
inline constexpr Option kExecutorOption = {
    "executor",
    "NAME",
    "simple",
    "net type that runs the net: operators in order, or async_scheduling: at the same time",
    false,
    true,
    &ExecutorNames};

// A blob that was fed, and a description of the source of its tensor.
struct FedInput {
  std::string blob;
  std::string source;
  bool is_random = false;  // only its shape was given
};

// Feeds the --input options. THROWS if no operator reads a blob (CheckInputName), and UsageError
// for a value that is neither a file nor a shape and for a blob that is given twice.
std::vector<FedInput> FeedInputs(const CommandLine& line, const Model& model, Workspace* ws);
// The same for several nets that run in one workspace. `for_onnx`: files may be tensors of ONNX.
std::vector<FedInput> FeedInputs(const CommandLine& line, const std::vector<const NetDef*>& nets,
                                 Workspace* ws, bool for_onnx = false);

// Splits the value BLOB=VALUE of an option. Both may contain equals signs: BLOB ends before the one
// that makes it the name of one of `blobs`, or before the first one if none does. Returns nullopt
// if there is no equals sign behind a name. THROWS UsageError if several make it a name.
std::optional<std::pair<std::string, std::string>> SplitAssignment(
    const std::string& option, const std::string& text, const std::set<std::string>& blobs);
// Splits NAME=VALUE at the last equals sign, for values that have none, such as numbers.
std::optional<std::pair<std::string, std::string>> SplitAtLastEquals(const std::string& text);
// The names of all blobs of the nets.
std::set<std::string> BlobNames(const std::vector<const NetDef*>& nets);
// The name of a file without its folder, or "standard input".
std::string SourceName(const std::string& path);
void SetTensor(Workspace* ws, const std::string& blob, Tensor tensor);

// THROWS if operators of the net read blobs that do not exist; the error names them and, where they
// are known, the shapes that the net suggests.
void CheckInputsAreThere(const Model& model, const Workspace& ws);

// THROWS UsageError if --fetch or --save-image names a blob that the nets do not make in a
// workspace with the blobs `existing` (fetched_blobs.h).
void CheckFetchedNames(const CommandLine& line, const std::vector<const NetDef*>& nets,
                       const std::vector<std::string>& existing);

// Returns a text such as "float [1, 3, 224, 224]", or the type of a blob that is not a tensor.
std::string BlobText(const Blob& blob);

// Whether the model is a predict net alone, without an init net or a database.
bool LacksWeights(const Model& model);

// Returns the first ten names for an error message, quoted and shortened, and the number of others.
std::string FirstNames(const std::vector<std::string>& names);

}  // namespace caffe2rt
