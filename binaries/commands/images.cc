#include "binaries/commands/images.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/standard_streams.h"
#include "caffe2_core/runtime/model_inputs.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "contexts/cpu/cpu_allocator.h"

namespace caffe2rt {
namespace {

namespace fs = std::filesystem;

// The operator that reads the bytes of an image in style nets.
constexpr char kBgraReader[] = "PackedInt8BGRANHWCToNCHWCStylizerPreprocess";

ImageLimits LimitsOfImages() {
  ImageLimits limits;
  // The decoder uses up to 12 bytes per pixel.
  const size_t bytes = GetCPUMemoryUsage().limit_bytes;
  if (bytes > 0) limits.max_pixels = std::min(limits.max_pixels, static_cast<int64_t>(bytes / 12));
  return limits;
}

// Reads an option that is "N" or "WxH" into the field for either.
void ReadSize(const CommandLine& line, const char* option, int* side, ImageSize* size) {
  constexpr int kMaxSide = 100000;
  const std::string text = line.Text(option);
  const std::vector<std::string> parts = absl::StrSplit(text, 'x');
  std::vector<int> sides(parts.size());
  bool fine = parts.size() <= 2;
  for (size_t i = 0; i < parts.size(); ++i) {
    const int least = parts.size() == 1 ? 0 : 1;
    fine = fine && ParseNumber(parts[i], &sides[i]) && sides[i] >= least && sides[i] <= kMaxSide;
  }
  if (!fine) {
    throw UsageError(MakeString("option --", option, " is \"", text,
                                "\", want a number or WIDTHxHEIGHT, sides up to ", kMaxSide));
  }
  if (sides.size() == 1) {
    *side = sides[0];
  } else {
    *size = {.width = sides[0], .height = sides[1]};
  }
}

void CheckChannels(const CommandLine& line, const char* option) {
  const size_t count = line.Floats(option).size();
  if (count != 1 && count != 3) {
    throw UsageError(MakeString("option --", option, " has ", count, " numbers, want 1 or 3"));
  }
}

ImageTransform TransformOf(const CommandLine& line) {
  ImageTransform transform;
  if (line.Text("mean").empty()) return transform;  // a command without these options
  for (const char* option : {"mean", "scale", "std"}) CheckChannels(line, option);
  transform.mean = line.Floats("mean");
  transform.scale = line.Floats("scale");
  transform.std = line.Floats("std");
  if (std::count(transform.std.begin(), transform.std.end(), 0.f) > 0)
    throw UsageError("option --std is \"" + line.Text("std") + "\", want numbers other than 0");
  transform.bgr = line.Has("bgr");
  transform.grey = line.Has("grey");
  if (transform.bgr && transform.grey)
    throw UsageError("options --bgr and --grey are mutually exclusive");
  ReadSize(line, "resize", &transform.resize, &transform.resize_to);
  ReadSize(line, "crop", &transform.crop, &transform.crop_to);
  const std::string name = line.Text("interpolation");
  if (!ParseInterpolation(name, &transform.interpolation)) {
    throw UsageError("option --interpolation is \"" + name + "\", want one of " +
                     absl::StrJoin(InterpolationNames(), ", ") +
                     DidYouMean(name, InterpolationNames()));
  }
  return transform;
}

// "227x113", or "256" for one side; empty for none.
std::string SizeText(int side, const ImageSize& size) {
  if (size.width > 0) return MakeString(size.width, "x", size.height);
  return side > 0 ? MakeString(side) : "";
}

// The kind of a file by its first bytes, which distinguish images and arrays from others.
FileKind KindByBeginning(const std::string& path) {
  constexpr int64_t kBytes = 64;
  const FileDescriptor file = OpenForReading(path);
  const int64_t size = FileSize(file, path);
  std::string begin(static_cast<size_t>(std::min(size, kBytes)), '\0');
  ReadAt(file, path, 0, begin.data(), begin.size());
  return DetectContentKind(begin, size).kind;
}

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
    return op.type() == kBgraReader && op.input_size() > 0 && op.input(0) == blob;
  });
}

void AddFilesOf(const std::string& folder, InputImages* images) {
  images->from_folder = true;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    std::error_code ignored;
    // A link to no file is reported by name when it is read.
    const bool dangling = entry.is_symlink(ignored) && !entry.exists(ignored);
    if (dangling || (entry.is_regular_file(ignored) && IsImageOrArray(path)))
      images->files.push_back(path);
  }
  std::sort(images->files.begin(), images->files.end());
  CAFFE_ENFORCE(!images->files.empty(), "folder \"", folder,
                "\" contains no JPEG or PNG image and no .npy file");
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
                " inputs that no init net sets", free.empty() ? "" : ": ",
                FirstNames(free),
                LacksWeights(model) ? "; want --init-net FILE, which fills the weights"
                                    : "; want --image BLOB=FILE");
  return free[0];
}

}  // namespace

bool IsFolderOfInputs(const std::string& value) {
  std::error_code ignored;
  return fs::is_directory(value, ignored) && DBTypeOfKind(DetectFileKind(value).kind).empty();
}

InputImages FindInputImages(const CommandLine& line, const Model& model,
                            const std::vector<FedInput>& fed) {
  InputImages images;
  std::string path = line.Text("image");
  if (line.Has("image") && !PathExists(path)) {
    if (const auto assignment = SplitAssignment(path)) {
      images.blob = assignment->first;
      path = assignment->second;
    }
  }
  for (const std::string& text : line.All("input")) {
    const auto assignment = SplitAssignment(text);
    if (!assignment.has_value() || !IsFolderOfInputs(assignment->second)) continue;
    if (!path.empty())
      throw UsageError("folder \"" + assignment->second + "\" is given beside \"" + path +
                       "\", want one folder or --image");
    images.blob = assignment->first;
    path = assignment->second;
  }
  if (path.empty()) return images;
  CAFFE_ENFORCE(PathExists(path), "cannot read \"", path, "\": no such file or folder");
  std::set<std::string> given;
  for (const FedInput& input : fed) given.insert(input.blob);
  if (images.blob.empty()) images.blob = BlobForImages(model, given);
  if (given.contains(images.blob))
    throw UsageError("blob \"" + images.blob + "\" is given by both --input and --image");
  CheckInputName({&model.predict_net}, images.blob);
  images.packed_bgra = TakesPackedBgra(model.predict_net, images.blob);
  if (fs::is_directory(path)) {
    AddFilesOf(path, &images);
  } else {
    images.files = {path};
  }
  return images;
}

ImageReader::ImageReader(const CommandLine& line, bool packed_bgra)
    : packed_bgra_(packed_bgra), transform_(TransformOf(line)), limits_(LimitsOfImages()) {
  if (!packed_bgra) return;
  for (const char* option : {"mean", "scale", "std", "bgr", "grey"}) {
    if (line.Has(option)) {
      throw UsageError(MakeString("option --", option, " does not apply: operator ", kBgraReader,
                                  " of the net reads the bytes of the image"));
    }
  }
}

Tensor ImageReader::Convert(const Image& image, const std::string& file) const try {
  return packed_bgra_ ? ImageToBgra(image, transform_) : ImageToTensor(image, transform_);
} catch (const EnforceNotMet& error) {
  CAFFE_THROW("image \"", file, "\": ", error.message());
}

std::string ImageReader::Describe(const std::string& file, const Image& image) const {
  std::vector<std::string> done;
  if (const std::string size = SizeText(transform_.resize, transform_.resize_to); !size.empty())
    done.push_back(MakeString("resized ", image.width, "x", image.height, " -> ", size));
  if (const std::string size = SizeText(transform_.crop, transform_.crop_to); !size.empty())
    done.push_back("centre " + size);
  if (packed_bgra_) done.push_back("BGRA bytes");
  if (transform_.bgr) done.push_back("BGR");
  if (transform_.grey) done.push_back("grey");
  const std::string name = SourceName(file);
  return done.empty() ? name : name + " (" + absl::StrJoin(done, ", ") + ")";
}

Tensor ImageReader::Read(const std::string& file, std::string* source) const {
  if (KindByBeginning(file) == FileKind::kNpy) {
    *source = SourceName(file);
    return ReadNpy(file);
  }
  const Image image = LoadImage(file, limits_);
  *source = Describe(file, image);
  return Convert(image, file);
}

FedInput FeedImage(const CommandLine& line, const InputImages& images, const std::string& file,
                   Workspace* ws) {
  FedInput fed{.blob = images.blob, .source = ""};
  SetTensor(ws, images.blob, ImageReader(line, images.packed_bgra).Read(file, &fed.source));
  return fed;
}

ImageSaver::ImageSaver(const CommandLine& line) : bgr_(line.Has("bgr")) {
  for (const std::string& text : line.All("save-image")) {
    const auto assignment = SplitAssignment(text);
    if (!assignment.has_value())
      throw UsageError("option --save-image is \"" + text + "\", want BLOB=FILE.png");
    try {
      CheckImageFileName(assignment->second);
    } catch (const EnforceNotMet& error) {
      throw UsageError(error.message());
    }
    targets_.push_back({.blob = assignment->first, .file = assignment->second});
  }
}

void ImageSaver::Save(const Target& target, const Blob& blob) const {
  const Tensor* const tensor = FindTensor(blob);
  CAFFE_ENFORCE(tensor != nullptr && tensor->IsShaped(), "cannot save output \"", target.blob,
                "\" as an image: it is ", BlobText(blob));
  const Image image = [&] {
    try {
      return TensorToImage(*tensor, bgr_);
    } catch (const EnforceNotMet& error) {
      CAFFE_THROW("output \"", target.blob, "\": ", error.message());
    }
  }();
  SaveImage(target.file, image);
}

}  // namespace caffe2rt
