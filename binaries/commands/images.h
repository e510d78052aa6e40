#pragma once
// The images given to `run`, `bench` and `pack`: finds, reads, transforms and feeds them.

#include <string>
#include <vector>

#include "binaries/command_line.h"
#include "binaries/commands/model.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

// The images given by --image, and the blob that they are fed to. Empty if none are given.
struct InputImages {
  std::string blob;
  std::vector<std::string> files;  // sorted; of a folder also .npy files
  bool from_folder = false;
  // Whether the blob is the input of a style net, which is bytes: blue, green, red, alpha.
  bool packed_bgra = false;
};
// A folder may also be given by --input BLOB=FOLDER. THROWS if no operator reads the blob, and
// UsageError if it is one of the inputs that were `fed`.
InputImages FindInputImages(const CommandLine& line, const Model& model,
                            const std::vector<FedInput>& fed);
// Whether the value of an --input option is a folder of files, which FindInputImages handles.
bool IsFolderOfInputs(const std::string& value);

// Reads files according to the options. Thread safe.
class ImageReader {
 public:
  // THROWS UsageError for options that do not go together.
  explicit ImageReader(const CommandLine& line, bool packed_bgra = false);
  // Reads and transforms an image, or reads an .npy file. Sets `source` to a description of it.
  // THROWS if it cannot.
  Tensor Read(const std::string& file, std::string* source) const;

 private:
  Tensor Convert(const Image& image, const std::string& file) const;
  std::string Describe(const std::string& file, const Image& image) const;

  const bool packed_bgra_;
  ImageTransform transform_;
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
  const std::vector<Target>& targets() const { return targets_; }
  // THROWS, naming the blob, if it is not an image.
  void Save(const Target& target, const Blob& blob) const;

 private:
  bool bgr_ = false;
  std::vector<Target> targets_;
};

}  // namespace caffe2rt
