#pragma once
// Reads Caffe's weights: binary files (caffemodel) of the three generations, and text files.
//
//   CaffeWeightsFile file(std::make_shared<FileInput>(path), path);
//   Tensor w = file.ReadBlob(file.layers()[3].blobs[0]);
//
// Opening walks over the file once and remembers where the blobs lie: `net` has all other fields.
// ReadBlob then reads the elements straight into the memory of the tensor.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "caffe2_core/import/caffe/message_tree.h"
#include "caffe2_core/io/random_access_input.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

// One array of a layer.
struct CaffeBlob {
  std::vector<int64_t> dims = {};
  bool legacy = false;                 // dims are num, channels, height and width
  int64_t offset = 0, size = 0;        // the bytes of the message, in a binary file
  const CaffeMessage* text = nullptr;  // in a text file
};

struct CaffeLayerBlobs {
  std::string name;
  std::string type;
  std::vector<CaffeBlob> blobs = {};
};

class CaffeWeightsFile {
 public:
  // THROWS if the bytes are not a net of Caffe; the error names `subject`.
  CaffeWeightsFile(std::shared_ptr<const RandomAccessInput> input, std::string subject);

  const std::string& subject() const { return subject_; }
  // The net without its blobs; layers of all generations are in `layers` and `layer`.
  const CaffeMessage& net() const { return net_; }
  // Those that have blobs, in the order of the file.
  const std::vector<CaffeLayerBlobs>& layers() const { return layers_; }
  // As floats, with the dims of the blob. THROWS if the number of elements does not match them.
  Tensor ReadBlob(const CaffeBlob& blob) const;

 private:
  void ReadText();
  void ReadBinary();

  std::shared_ptr<const RandomAccessInput> input_;
  std::string subject_;
  CaffeMessage net_;
  std::vector<CaffeLayerBlobs> layers_;
};

}  // namespace caffe2rt
