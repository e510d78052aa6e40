#pragma once
// How a predictor's database says which images its net expects: entries of
// MetaNetDef.applicationSpecificInfo, which other programs ignore.
//
//   image.size      "28x28", width and height of the input     image.resize   "32", the shorter side
//   image.channels  "grey", "rgb" or "bgr"                     before a square of image.size is cut
//   image.mean      "0.5,0.4,0.3"                              out of the centre
//   image.scale, image.std                                     classes        one name on each line

#include <string>
#include <vector>

#include "caffe2_core/io/image.h"
#include "caffe2rt/metanet.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct ImagePreparation {
  bool known = false;  // whether the database has entries of images
  ImageTransform transform = {};
  std::vector<std::string> classes = {};  // names in the order of the scores, or empty
};

void AddImagePreparation(const ImagePreparation& preparation, MetaNetDef* meta);
// THROWS, naming the entry, if its value is not of the form above.
ImagePreparation ImagePreparationOf(const MetaNetDef& meta);

}  // namespace caffe2rt
#pragma GCC visibility pop
