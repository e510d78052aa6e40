#pragma once
// How a predictor's database says which images its net expects: entries of
// MetaNetDef.applicationSpecificInfo, which other programs ignore.
//
//   image.size      "28x28", width and height of the input     image.resize   "32", the shorter side
//   image.channels  "grey", "rgb" or "bgr"                     before a square of image.size is cut
//   image.mean      "0.5,0.4,0.3"                              out of the centre
//   image.scale, image.std                                     classes        one name on each line

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "caffe2_core/io/image.h"
#include "caffe2_core/tensor/tensor.h"
#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/metanet.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct ImagePreparation {
  bool known = false;  // whether the database has entries of images
  ImageTransform transform = {};
  std::vector<std::string> classes = {};  // names in the order of the scores, or empty
};

// The form in which a net wants its images: float [1, C, H, W] unless its file states another.
struct ImageForm {
  bool has_batch = true;       // whether the first of four axes is one of images
  bool channels_last = false;  // [1, H, W, C]
  bool bytes = false;          // uint8
  int64_t channels = -1, height = -1, width = -1;  // -1: any
};

// The form of an input of a model. `dims` may contain -1 for a dimension without a number. An axis of 1
// or 3 elements is that of the channels: the one before the rows and columns, or else the last. Nothing if
// the input cannot be an image: other ranks than 3 and 4, neither 1 nor 3 channels, or a type other than
// uint8, float, float16 and bfloat16.
std::optional<ImageForm> ImageFormOf(const std::vector<int64_t>& dims, TensorProto::DataType type);

// The image [1, C, H, W] of floats in a form. Bytes are rounded and lie in 0 to 255.
Tensor InImageForm(Tensor image, const ImageForm& form);

void AddImagePreparation(const ImagePreparation& preparation, MetaNetDef* meta);
// THROWS, naming the entry, if its value is not of the form above.
ImagePreparation ImagePreparationOf(const MetaNetDef& meta);

}  // namespace caffe2rt
#pragma GCC visibility pop
