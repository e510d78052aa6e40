#include "binaries/commands/images.h"

#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <filesystem>

#include "binaries/commands/input_values.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/standard_streams.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "contexts/cpu/cpu_allocator.h"

namespace caffe2rt {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

FileKind KindByBeginning(const std::string& path) {
  constexpr int64_t kBytes = 64;
  const FileDescriptor file = OpenForReading(path);
  const int64_t size = FileSize(file, path);
  std::string begin(static_cast<size_t>(std::min(size, kBytes)), '\0');
  ReadAt(file, path, 0, begin.data(), begin.size());
  return DetectContentKind(begin, size).kind;
}

ImageReader::ImageReader(const CommandLine& line, bool packed_bgra, const std::string& blob)
    : line_(line),
      packed_bgra_(packed_bgra),
      blob_(blob),
      transform_(TransformOf(line)),
      limits_(LimitsOfImages()) {
  if (!packed_bgra) return;
  for (const char* option : {"mean", "scale", "std", "bgr", "grey"}) {
    if (line.Has(option)) {
      throw UsageError(MakeString("option --", option, " does not apply: operator ",
                                  kPackedBgraReader, " of the net reads the bytes of the image"));
    }
  }
}

Tensor ImageReader::Convert(const Image& image, const std::string& file) const try {
  return packed_bgra_ ? ImageToBgra(image, transform_) : ImageToTensor(image, transform_);
} catch (const OutOfMemory& error) {
  throw OutOfMemory(__FILE__, __LINE__, "", MakeString("image \"", file, "\": ", error.message()));
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
    return CastAsTold(line_, blob_, ReadNpy(file));
  }
  const Image image = LoadImage(file, limits_);
  *source = Describe(file, image);
  return Convert(image, file);
}

Tensor ImageReader::Decode(std::string_view bytes, const std::string& name,
                           std::string* source) const {
  const Image image = DecodeImage(bytes, name, limits_);
  *source = Describe(name, image);
  return Convert(image, name);
}

FedInput FeedImage(const CommandLine& line, const InputImages& images, const std::string& file,
                   Workspace* ws) {
  FedInput fed{.blob = images.blob, .source = ""};
  SetTensor(ws, images.blob,
            ImageReader(line, images.packed_bgra, images.blob).Read(file, &fed.source));
  return fed;
}

ImageSaver::ImageSaver(const CommandLine& line) : bgr_(line.Has("bgr")) {
  for (const std::string& text : line.All("save-image")) {
    const auto assignment = SplitAssignment(text);
    if (!assignment.has_value() && !line.Has("boxes"))
      throw UsageError("option --save-image is \"" + text +
                       "\", want BLOB=FILE.png, or FILE.png with --boxes");
    try {
      CheckImageFileName(assignment.has_value() ? assignment->second : text);
    } catch (const EnforceNotMet& error) {
      throw UsageError(error.message());
    }
    if (!assignment.has_value()) {
      box_file_ = text;
      continue;
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
