#include "binaries/commands/images.h"

#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <filesystem>

#include "binaries/commands/imported_model.h"
#include "binaries/commands/input_values.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/import/caffe/caffe_import.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/standard_streams.h"
#include "caffe2_core/tensor/data_type.h"
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

// Whether --mean names a file with an image.
bool IsMeanFile(const CommandLine& line) {
  const std::string text = line.Text("mean");
  return text.ends_with(".binaryproto") || text.ends_with(".npy") ||
         (line.Has("mean") && PathExists(text));
}

// The image of --mean FILE as [C, H, W].
Tensor ReadMeanFile(const std::string& file) {
  Tensor mean = KindByBeginning(file) == FileKind::kNpy ? ReadNpy(file) : ReadCaffeMean(file);
  CAFFE_ENFORCE(mean.IsType<float>() || mean.IsType<double>(), "mean file \"", file,
                "\" has elements of type ", DataTypeName(mean.meta()), ", want float");
  if (mean.IsType<double>()) {
    Tensor floats(mean.dims(), CPU);
    std::copy_n(mean.data<double>(), mean.numel(), floats.mutable_data<float>());
    mean = floats;
  }
  if (mean.dim() == 4 && mean.dim(0) == 1) {
    mean.Reshape({mean.dim(1), mean.dim(2), mean.dim(3)});
  }
  if (mean.dim() == 1) mean.Reshape({mean.dim(0), 1, 1});
  CAFFE_ENFORCE(mean.dim() == 3, "mean file \"", file, "\" has shape [",
                absl::StrJoin(mean.dims(), ", "), "], want [C, H, W], [1, C, H, W] or [C]");
  return mean;
}

// Subtracts the centre of the mean image, or one value for each channel, from an image
// [1, C, H, W]; then scales.
void SubtractMean(const Tensor& mean, const ImageTransform& transform, Tensor* image) {
  const int64_t channels = image->dim(1), height = image->dim(2), width = image->dim(3);
  const bool whole = mean.dim(1) > 1 || mean.dim(2) > 1;
  CAFFE_ENFORCE(
      mean.dim(0) == channels && (!whole || (mean.dim(1) >= height && mean.dim(2) >= width)),
      "the mean image has shape [", absl::StrJoin(mean.dims(), ", "),
      "], want at least that of the image, [", channels, ", ", height, ", ", width,
      "]; --resize or --crop makes the image smaller");
  const int64_t top = whole ? (mean.dim(1) - height) / 2 : 0;
  const int64_t left = whole ? (mean.dim(2) - width) / 2 : 0;
  float* to = image->mutable_data<float>();
  for (int64_t c = 0; c < channels; ++c) {
    const auto at = [&](const std::vector<float>& values) {
      return values.size() == 1 ? values[0] : values[static_cast<size_t>(c)];
    };
    const float factor = at(transform.scale) / at(transform.std);
    const float* plane = mean.data<float>() + c * mean.dim(1) * mean.dim(2);
    for (int64_t y = 0; y < height; ++y) {
      for (int64_t x = 0; x < width; ++x, ++to) {
        *to = (*to - plane[whole ? (top + y) * mean.dim(2) + left + x : 0]) * factor;
      }
    }
  }
}

// The same for what a predictor's database states.
void ApplyPreparation(const CommandLine& line, const ImageTransform& stated,
                      ImageTransform* transform) {
  if (!line.Has("resize")) {
    transform->resize = stated.resize;
    transform->resize_to = stated.resize_to;
  }
  if (!line.Has("crop")) transform->crop_to = stated.crop_to;
  if (!line.Has("bgr") && !line.Has("grey")) {
    transform->grey = stated.grey;
    transform->bgr = stated.bgr;
  }
  if (!line.Has("mean")) transform->mean = stated.mean;
  if (!line.Has("scale")) transform->scale = stated.scale;
  if (!line.Has("std")) transform->std = stated.std;
}

// Sets what no option gives.
void ApplyDefaults(const CommandLine& line, const ImageDefaults& defaults,
                   ImageTransform* transform) {
  if (line.Text("mean").empty()) return;  // a command without these options
  if (defaults.image.known) ApplyPreparation(line, defaults.image.transform, transform);
  const std::vector<int64_t>& dims = defaults.dims;
  const ImageForm form = defaults.form.value_or(
      dims.size() == 4 ? ImageForm{.channels = dims[1], .height = dims[2], .width = dims[3]}
                       : ImageForm{});
  if (form.channels == 1 && !line.Has("bgr")) transform->grey = true;
  const bool crops = !line.Has("crop");
  if (crops && form.height > 0 && form.width > 0) {
    transform->crop_to = {.width = static_cast<int>(form.width),
                          .height = static_cast<int>(form.height)};
  }
  if (!defaults.transform.has_value()) return;
  const CaffeTransform& stated = *defaults.transform;
  if (!line.Has("scale")) transform->scale = {stated.scale};
  if (crops && dims.size() != 4) transform->crop = static_cast<int>(stated.crop_size);
  if (line.Has("mean")) return;
  if (!stated.mean_file.empty()) {
    PrintNotes({MakeString("the net subtracts the mean image \"", Shortened(stated.mean_file),
                           "\", which is not opened; give it with --mean")});
  }
  if (stated.mean_values.empty()) return;
  transform->mean = stated.mean_values;
  // Caffe's images are in this order, and so are its means.
  if (stated.mean_values.size() == 3) transform->bgr = true;
}

ImageTransform TransformOf(const CommandLine& line) {
  ImageTransform transform;
  if (line.Text("mean").empty()) return transform;  // a command without these options
  for (const char* option : {"scale", "std"}) CheckChannels(line, option);
  if (!IsMeanFile(line)) {
    CheckChannels(line, "mean");
    transform.mean = line.Floats("mean");
  }
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

ImageReader::ImageReader(const CommandLine& line, bool packed_bgra, const std::string& blob,
                         const ImageDefaults& defaults)
    : line_(line),
      packed_bgra_(packed_bgra),
      form_(defaults.form.value_or(ImageForm{})),
      blob_(blob),
      transform_(TransformOf(line)),
      limits_(LimitsOfImages()) {
  ApplyDefaults(line, defaults, &transform_);
  if (IsMeanFile(line)) mean_ = ReadMeanFile(line.Text("mean"));
  if (form_.bytes) {
    for (const char* option : {"mean", "scale", "std"}) {
      if (line.Has(option)) {
        throw UsageError(MakeString("option --", option, " does not apply: input \"", blob,
                                    "\" of the model has type uint8, the bytes of the image"));
      }
    }
  }
  if (!packed_bgra) return;
  for (const char* option : {"mean", "scale", "std", "bgr", "grey"}) {
    if (line.Has(option)) {
      throw UsageError(MakeString("option --", option, " does not apply: operator ",
                                  kPackedBgraReader, " of the net reads the bytes of the image"));
    }
  }
}

Tensor ImageReader::Convert(const Image& image, const std::string& file) const try {
  if (packed_bgra_) return ImageToBgra(image, transform_);
  if (!IsMeanFile(line_)) return InImageForm(ImageToTensor(image, transform_), form_);
  ImageTransform plain = transform_;
  plain.scale = plain.std = {1};
  Tensor tensor = ImageToTensor(image, plain);
  SubtractMean(mean_, transform_, &tensor);
  return InImageForm(std::move(tensor), form_);
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
  if (form_.channels_last) done.push_back("NHWC");
  if (form_.bytes) done.push_back("bytes");
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
  SetTensor(
      ws, images.blob,
      ImageReader(line, images.packed_bgra, images.blob, images.defaults).Read(file, &fed.source));
  return fed;
}

ImageSaver::ImageSaver(const CommandLine& line) : bgr_(line.Has("bgr")) {
  for (const std::string& text : line.All("save-image")) {
    // A path of an image has an end without an equals sign.
    const auto assignment = SplitAtLastEquals(text);
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
    assignments_.push_back(text);
  }
}

void ImageSaver::FindTargets(const std::set<std::string>& blobs) {
  targets_.clear();
  for (const std::string& text : assignments_) {
    const auto assignment = SplitAssignment("save-image", text, blobs);
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
