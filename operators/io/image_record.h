#pragma once
// The records that ImageInput reads: an image, its label, and what follows them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "caffe2_core/io/image.h"
#include "caffe2_core/tensor/tensor.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// Caffe2's numbers of the argument label_type.
enum class ImageLabels {
  kSingle = 0,          // one number
  kSparse = 1,          // the indices of the classes that apply
  kDense = 2,           // num_labels numbers
  kWeightedSparse = 3,  // indices, and in the next tensor as many weights
  kSingleWeighted = 4,  // as kSingle; the weight is the first additional output
};

// A part of an image, in pixels.
struct ImageBox {
  int y = 0;
  int x = 0;
  int height = 0;
  int width = 0;
};

struct ImageRecordForm {
  bool is_datum = false;  // Caffe's Datum instead of TensorProtos
  bool color = true;      // false: images become grey
  ImageLabels labels = ImageLabels::kSingle;
  int num_labels = 0;
  std::vector<int> additional_sizes;
};

// A parsed record. `image` has three channels, which are equal if the image is grey.
struct ImageRecord {
  std::string key;
  Image image;
  TensorProtos tensors;  // without the bytes of the image
  std::optional<ImageBox> box;
};

// Parses the record and decodes its image: a STRING [1] with a JPEG or PNG file, or BYTE [height,
// width], [height, width, 1] or [height, width, 3] in the order blue, green, red. A tensor more than
// the form needs is a box: four int32, y, x, height and width. THROWS, naming the key, if the
// record is not of this form or the image is damaged.
ImageRecord ParseImageRecord(const std::string& key, const std::string& value,
                             const ImageRecordForm& form);

// Writes the label and the additional outputs of item `item` of a batch of `batch_size`; the first
// item sets shapes and types. outputs[0] is the label. THROWS, naming the key, if a value is missing
// or of another type than in the items before.
void SetRecordOutputs(const ImageRecord& record, const ImageRecordForm& form, int64_t item,
                      int64_t batch_size, const std::vector<Tensor*>& outputs);

}  // namespace caffe2rt
