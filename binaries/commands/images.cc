#include "binaries/commands/images.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/standard_streams.h"
#include "caffe2_core/runtime/model_inputs.h"
#include "contexts/cpu/cpu_allocator.h"

namespace caffe2rt {
namespace {

namespace fs = std::filesystem;

ImageLimits LimitsOfPictures() {
  ImageLimits limits;
  // The decoder uses up to 12 bytes per pixel.
  const size_t bytes = GetCPUMemoryUsage().limit_bytes;
  if (bytes > 0) limits.max_pixels = std::min(limits.max_pixels, static_cast<int64_t>(bytes / 12));
  return limits;
}

ImageTransform TransformOf(const CommandLine& line) {
  constexpr int kMaxSide = 100000;
  if (line.Text("mean").empty()) return {};  // a command without these options
  const ImageTransform transform = {.mean = line.Floats("mean"),
                                    .scale = line.Floats("scale"),
                                    .bgr = line.Has("bgr"),
                                    .grey = line.Has("grey"),
                                    .resize = static_cast<int>(line.Integer("resize", 0, kMaxSide)),
                                    .crop = static_cast<int>(line.Integer("crop", 0, kMaxSide))};
  if (transform.bgr && transform.grey) {
    throw UsageError("options --bgr and --grey are mutually exclusive");
  }
  for (const char* name : {"mean", "scale"}) {
    const size_t count = line.Floats(name).size();
    if (count != 1 && count != 3) {
      throw UsageError(MakeString("option --", name, " has ", count, " numbers, want 1 or 3"));
    }
  }
  return transform;
}

bool IsPicture(const std::string& path) {
  const FileKind kind = DetectFileKind(path).kind;
  return kind == FileKind::kJpeg || kind == FileKind::kPng;
}

// The input for images that --image gives without a name.
std::string BlobForPictures(const Model& model, const std::set<std::string>& given) {
  const std::vector<std::string>& inputs = model.inputs.empty() ? model.placeholders : model.inputs;
  std::vector<std::string> free;
  for (const std::string& name : inputs) {
    if (!given.contains(name)) free.push_back(name);
  }
  if (free.empty() && inputs.size() == 1) return inputs[0];
  CAFFE_ENFORCE(free.size() == 1, "net \"", model.predict_net.name(), "\" has ", free.size(),
                " inputs that no init net sets", free.empty() ? "" : ": ",
                absl::StrJoin(free, ", "), "; want --image BLOB=FILE");
  return free[0];
}

}  // namespace

Tensor ReadPicture(const CommandLine& line, const std::string& file, std::string* source) {
  const ImageTransform transform = TransformOf(line);
  const Image image = LoadImage(file, LimitsOfPictures());
  const Tensor tensor = [&] {
    try {
      return ImageToTensor(image, transform);
    } catch (const EnforceNotMet& error) {
      CAFFE_THROW("image \"", file, "\": ", error.message());
    }
  }();
  *source = SourceName(file);
  std::vector<std::string> done;
  if (transform.resize > 0) {
    done.push_back(
        MakeString("resized ", image.width, "x", image.height, " -> ", transform.resize));
  }
  if (transform.crop > 0) done.push_back(MakeString("centre ", transform.crop));
  if (transform.bgr) done.push_back("BGR");
  if (transform.grey) done.push_back("grey");
  if (!done.empty()) *source += " (" + absl::StrJoin(done, ", ") + ")";
  return tensor;
}

Pictures FindPictures(const CommandLine& line, const Model& model,
                      const std::vector<FedInput>& fed) {
  Pictures pictures;
  if (!line.Has("image")) return pictures;
  std::string path = line.Text("image");
  if (!PathExists(path)) {
    if (const auto assignment = SplitAssignment(path)) {
      pictures.blob = assignment->first;
      path = assignment->second;
    }
  }
  CAFFE_ENFORCE(PathExists(path), "cannot read \"", path, "\": no such file or folder");
  std::set<std::string> given;
  for (const FedInput& input : fed) given.insert(input.blob);
  if (pictures.blob.empty()) pictures.blob = BlobForPictures(model, given);
  if (given.contains(pictures.blob))
    throw UsageError("blob \"" + pictures.blob + "\" is given by both --input and --image");
  CheckInputName({&model.predict_net}, pictures.blob);
  if (!fs::is_directory(path)) {
    pictures.files = {path};
    return pictures;
  }
  pictures.from_folder = true;
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
    if (entry.is_regular_file() && IsPicture(entry.path().string()))
      pictures.files.push_back(entry.path().string());
  }
  std::sort(pictures.files.begin(), pictures.files.end());
  CAFFE_ENFORCE(!pictures.files.empty(), "folder \"", path, "\" contains no JPEG or PNG image");
  return pictures;
}

FedInput FeedPicture(const CommandLine& line, const Pictures& pictures, const std::string& file,
                     Workspace* ws) {
  FedInput fed{.blob = pictures.blob, .source = ""};
  SetTensor(ws, pictures.blob, ReadPicture(line, file, &fed.source));
  return fed;
}

}  // namespace caffe2rt
