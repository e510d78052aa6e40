#pragma once
// The images given to `run`, `bench` and `pack`: finds, reads, transforms and feeds them.

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "binaries/command_line.h"
#include "binaries/commands/model.h"
#include "caffe2_core/import/caffe/caffe_import.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/image_stream.h"
#include "caffe2_core/model/image_preparation.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

// The operator that reads the bytes of an image in style nets.
inline constexpr char kPackedBgraReader[] = "PackedInt8BGRANHWCToNCHWCStylizerPreprocess";

// The kind of a file by its first bytes, which distinguish images and arrays from others.
FileKind KindByBeginning(const std::string& path);

// What a net of Caffe or a predictor's database states about its images. Used where an option is not
// given.
struct ImageDefaults {
  std::optional<CaffeTransform> transform = {};
  std::vector<int64_t> dims = {};  // of the input, or empty
  ImagePreparation image = {};
  std::optional<ImageForm> form = {};  // of an input of a model of ONNX that can be an image
};

// The images given by --image and --image-list, and the blob that they are fed to. Empty if none
// are given.
struct InputImages {
  std::string blob;
  std::vector<std::string> files;  // in the order given; of a folder sorted, also .npy files
  // Images that follow each other on standard input or in a pipe, instead of files; or null. Shared
  // by the copies of this struct.
  std::shared_ptr<ImageStream> stream;
  bool several = false;  // a folder, a list, more than one file, or a stream
  // Whether the blob is the input of a style net, which is bytes: blue, green, red, alpha.
  bool packed_bgra = false;
  ImageDefaults defaults = {};
};
// Whether a command runs on every image, or on the first one.
enum class ImageCount { kOne, kAll };
// A folder may also be given by --input BLOB=FOLDER. The files of a folder that are neither images
// nor arrays are named in a warning. With kAll, standard input or a pipe with more than one image
// becomes a stream; with --json-lines it does so before its images have arrived. THROWS if no
// operator reads the blob, and UsageError if it is one of the inputs that were `fed`.
InputImages FindInputImages(const CommandLine& line, const Model& model,
                            const std::vector<FedInput>& fed, ImageCount count = ImageCount::kOne);
// Whether the value of an --input option is a folder of files, which FindInputImages handles.
bool IsFolderOfInputs(const std::string& value);

// Reads files according to the options. Thread safe.
class ImageReader {
 public:
  // THROWS UsageError for options that do not go together.
  // Arrays are cast as told for `blob` (--cast). `line` must outlive the reader.
  explicit ImageReader(const CommandLine& line, bool packed_bgra = false,
                       const std::string& blob = "", const ImageDefaults& defaults = {});
  // Reads and transforms an image, or reads an .npy file. Sets `source` to a description of it.
  // THROWS if it cannot.
  Tensor Read(const std::string& file, std::string* source) const;
  // The same for the bytes of an image; errors and the description call it `name`.
  Tensor Decode(std::string_view bytes, const std::string& name, std::string* source) const;
  // Reads an image without transforming it.
  Image Load(const std::string& file) const { return LoadImage(file, limits_); }
  const ImageTransform& transform() const { return transform_; }

 private:
  Tensor Convert(const Image& image, const std::string& file) const;
  std::string Describe(const std::string& file, const Image& image) const;

  const CommandLine& line_;
  const bool packed_bgra_;
  const ImageForm form_;
  const std::string blob_;
  ImageTransform transform_;
  Tensor mean_;  // an image [C, H, W] in the net's order of channels; without elements: none
  ImageLimits limits_;
};

// Reads, transforms and feeds one image.
FedInput FeedImage(const CommandLine& line, const InputImages& images, const std::string& file,
                   Workspace* ws);

// Saves outputs as images, according to the --save-image options BLOB=FILE.
class ImageSaver {
 public:
  ImageSaver() = default;  // saves nothing
  // THROWS UsageError for a value that is not BLOB=FILE, and for a file that is not .png or .jpg.
  explicit ImageSaver(const CommandLine& line);

  struct Target {
    std::string blob, file;
  };
  // Finds the targets among the blobs of the net and others that exist. THROWS UsageError if a
  // value can name two of them.
  void FindTargets(const std::set<std::string>& blobs);
  // What FindTargets found.
  const std::vector<Target>& targets() const { return targets_; }
  // The file for the image with boxes: the value without BLOB=, which needs --boxes; or "".
  const std::string& box_file() const { return box_file_; }
  // THROWS, naming the blob, if it is not an image.
  void Save(const Target& target, const Blob& blob) const;

 private:
  bool bgr_ = false;
  std::vector<std::string> assignments_;
  std::vector<Target> targets_;
  std::string box_file_;
};

}  // namespace caffe2rt
