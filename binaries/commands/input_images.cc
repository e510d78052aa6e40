// Finds the images that the options name (images.h).

#include <absl/strings/ascii.h>
#include <absl/strings/str_split.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

#include "binaries/commands/images.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/io/standard_streams.h"
#include "caffe2_core/model/model_inputs.h"

namespace caffe2rt {
namespace {

namespace fs = std::filesystem;

// Whether the file is an image or an array, or is named like one: a damaged file is then reported.
bool IsImageOrArray(const std::string& path) {
  const std::string ending = absl::AsciiStrToLower(fs::path(path).extension().string());
  for (const char* known : {".jpg", ".jpeg", ".png", ".npy"}) {
    if (ending == known) return true;
  }
  try {
    const FileKind kind = KindByBeginning(path);
    return kind == FileKind::kJpeg || kind == FileKind::kPng || kind == FileKind::kNpy;
  } catch (const EnforceNotMet&) {
    return false;
  }
}

bool TakesPackedBgra(const NetDef& net, const std::string& blob) {
  return std::any_of(net.op().begin(), net.op().end(), [&](const OperatorDef& op) {
    return op.type() == kPackedBgraReader && op.input_size() > 0 && op.input(0) == blob;
  });
}

void WarnOfSkipped(const std::string& folder, std::vector<std::string> skipped) {
  if (skipped.empty()) return;
  std::sort(skipped.begin(), skipped.end());
  Warn(MakeString("folder \"", folder, "\": ", CountText(skipped.size(), "entry is", "entries are"),
                  " skipped, neither a JPEG or PNG image nor a .npy file: ", FirstNames(skipped)));
}

void AddFilesOf(const std::string& folder, InputImages* images) {
  images->several = true;
  std::vector<std::string> files, skipped;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    std::error_code ignored;
    // A link to no file is reported by name when it is read.
    const bool dangling = entry.is_symlink(ignored) && !entry.exists(ignored);
    const bool is_input = dangling || (entry.is_regular_file(ignored) && IsImageOrArray(path));
    (is_input ? files : skipped).push_back(is_input ? path : entry.path().filename().string());
  }
  WarnOfSkipped(folder, std::move(skipped));
  CAFFE_ENFORCE(!files.empty(), "folder \"", folder,
                "\" contains no JPEG or PNG image and no .npy file");
  std::sort(files.begin(), files.end());
  images->files.insert(images->files.end(), files.begin(), files.end());
}

// Adds the files that a text names, one on each line.
void AddListOf(const std::string& list, InputImages* images) {
  constexpr int64_t kMaxListBytes = 256 << 20;
  images->several = true;
  const size_t before = images->files.size();
  const std::vector<std::string> names = absl::StrSplit(ReadWholeFile(list, kMaxListBytes), '\n');
  for (std::string name : names) {
    if (name.ends_with('\r')) name.pop_back();
    if (!name.empty()) images->files.push_back(std::move(name));
  }
  CAFFE_ENFORCE(images->files.size() > before, "file \"", list,
                "\" names no images, want one file on each line");
}

bool IsPipe(const std::string& path) {
  std::error_code ignored;
  return IsStandardStream(path) || fs::is_fifo(path, ignored) || fs::is_socket(path, ignored);
}

// Reads a pipe as its bytes arrive.
ImageStream::Reader ReaderOfPipe(const std::string& path) {
  if (IsStandardStream(path))
    return [](char* to, size_t most) { return read(STDIN_FILENO, to, most); };
  // Shared, because std::function copies the object.
  const auto file = std::make_shared<FileDescriptor>(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  CAFFE_ENFORCE(*file, "cannot read \"", path, "\": ", std::strerror(errno));
  return [file](char* to, size_t most) { return read(file->get(), to, most); };
}

// Reads the content of a pipe that is kept.
ImageStream::Reader ReaderOfKept(const std::string& path) {
  const auto file = std::make_shared<FileDescriptor>(OpenForReading(path));
  return [file, offset = off_t{0}](char* to, size_t most) mutable {
    const ssize_t got = pread(file->get(), to, most, offset);
    if (got > 0) offset += got;
    return got;
  };
}

// Whether the images of a pipe that is kept are more than one.
bool HasSeveralImages(const std::string& path) {
  const FileKind kind = KindByBeginning(path);
  if (kind != FileKind::kJpeg && kind != FileKind::kPng) return false;
  ImageStream stream(SourceName(path), ReaderOfKept(path));
  std::string image;
  try {
    (void)stream.Next(&image);
  } catch (const EnforceNotMet&) {
    return false;  // one image, which is damaged; decoding it reports how
  }
  return stream.Next(&image);
}

void AddImagesOf(const CommandLine& line, const std::string& path, ImageCount count,
                 InputImages* images) {
  if (fs::is_directory(path)) return AddFilesOf(path, images);
  const bool live = line.Has("json-lines");
  if (count == ImageCount::kAll && IsPipe(path) && (live || HasSeveralImages(path))) {
    if (images->several || images->stream != nullptr || !images->files.empty()) {
      throw UsageError("option --image is \"" + path +
                       "\", which has several images, beside other images");
    }
    images->stream = std::make_shared<ImageStream>(SourceName(path),
                                                   live ? ReaderOfPipe(path) : ReaderOfKept(path));
    return;
  }
  images->files.push_back(path);
}

// The input for images that --image gives without a name.
std::string BlobForImages(const Model& model, const std::set<std::string>& given) {
  const std::vector<std::string>& inputs = model.inputs.empty() ? model.placeholders : model.inputs;
  std::vector<std::string> free;
  for (const std::string& name : inputs) {
    if (!given.contains(name)) free.push_back(name);
  }
  if (free.empty() && inputs.size() == 1) return inputs[0];
  CAFFE_ENFORCE(free.size() == 1, "net \"", model.predict_net.name(), "\" has ", free.size(),
                " inputs that no init net sets", free.empty() ? "" : ": ", FirstNames(free),
                LacksWeights(model)
                    ? "; want --init-net FILE for weights, --image BLOB=FILE for an image"
                    : "; want --image BLOB=FILE");
  return free[0];
}

}  // namespace

bool IsFolderOfInputs(const std::string& value) {
  std::error_code ignored;
  return fs::is_directory(value, ignored) && DBTypeOfKind(DetectFileKind(value).kind).empty();
}

InputImages FindInputImages(const CommandLine& line, const Model& model,
                            const std::vector<FedInput>& fed, ImageCount count) {
  InputImages images;
  std::vector<std::string> paths = line.All("image");
  const auto set_blob = [&](const std::string& blob) {
    if (!images.blob.empty() && images.blob != blob) {
      throw UsageError("images are given for the blobs \"" + images.blob + "\" and \"" + blob +
                       "\", want one blob");
    }
    images.blob = blob;
  };
  std::set<std::string> blobs = BlobNames({&model.predict_net});
  blobs.insert(model.inputs.begin(), model.inputs.end());
  for (std::string& path : paths) {
    if (PathExists(path)) continue;
    if (const auto assignment = SplitAssignment("image", path, blobs)) {
      set_blob(assignment->first);
      path = assignment->second;
    }
  }
  for (const std::string& text : line.All("input")) {
    const auto assignment = SplitAssignment("input", text, blobs);
    if (!assignment.has_value() || !IsFolderOfInputs(assignment->second)) continue;
    if (!paths.empty())
      throw UsageError("folder \"" + assignment->second + "\" is given beside \"" + paths[0] +
                       "\", want one folder or --image");
    set_blob(assignment->first);
    paths.push_back(assignment->second);
  }
  for (const std::string& path : line.All("calibrate")) {
    if (fs::is_directory(path)) paths.push_back(path);
  }
  const std::vector<std::string> lists = line.All("image-list");
  if (paths.empty() && lists.empty()) return images;
  for (const std::string& path : paths)
    CAFFE_ENFORCE(PathExists(path), "cannot read \"", path, "\": no such file or folder");
  std::set<std::string> given;
  for (const FedInput& input : fed) given.insert(input.blob);
  if (images.blob.empty()) images.blob = BlobForImages(model, given);
  if (given.contains(images.blob))
    throw UsageError("blob \"" + images.blob + "\" is given by both --input and --image");
  CheckInputName({&model.predict_net}, images.blob);
  images.defaults.transform = model.caffe_transform;
  const bool is_first = !model.inputs.empty() && images.blob == model.inputs[0];
  if (is_first) images.defaults.image = model.image;
  if (const auto dims = model.input_shapes.find(images.blob); dims != model.input_shapes.end()) {
    images.defaults.dims = dims->second;
  }
  if (const auto dims = model.input_dims.find(images.blob); dims != model.input_dims.end()) {
    images.defaults.form = ImageFormOf(dims->second, model.input_types.at(images.blob));
  }
  images.packed_bgra = TakesPackedBgra(model.predict_net, images.blob);
  for (const std::string& path : paths) AddImagesOf(line, path, count, &images);
  for (const std::string& list : lists) AddListOf(list, &images);
  if (images.stream != nullptr && !images.files.empty())
    throw UsageError("images of " + images.stream->subject() + " are given beside other images");
  images.several |= images.stream != nullptr || images.files.size() > 1 || line.Has("json-lines");
  return images;
}

}  // namespace caffe2rt
