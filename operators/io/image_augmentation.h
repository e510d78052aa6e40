#pragma once
// What ImageInput does to an image between its decoding and the net.
//
//   1. The box of the record, or that of the arguments, is cut out.
//   2. The image is scaled: with scale, its shorter side becomes that (both sides with warp); with minsize,
//      only if it is smaller. random_scale draws the size of each image. In training, scale jitter in the style of Inception
//      cuts out a part of 8 to 100 % of the area with sides of 3:4 to 4:3 instead.
//   3. A square of `crop` pixels is cut out, at random in training and in the centre otherwise, and
//      mirrored at random in training.
//   4. In training, colours are changed at random: saturation, brightness and contrast in an order by lot (Howard, "Some
//      Improvements on Deep Convolutional Neural Network Based Image Classification", 2013), then
//      lighting along the principal components of ImageNet's colours (Krizhevsky et al., 2012).
//   5. The mean is subtracted and the result divided by the standard deviation.
//
// Images are resized by the mean of the area that a pixel covers.

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "caffe2_core/io/image.h"
#include "operators/io/image_record.h"

namespace caffe2rt {

struct ImageAugmentation {
  bool color = true;
  std::optional<ImageBox> box;    // of records without one
  int scale = -1;                 // pixels; below 1: none
  int min_size = -1;              // pixels; below 1: none
  std::vector<int> random_scale;  // empty, or the least and the greatest scale
  bool warp = false;
  bool inception_scale_jitter = false;
  int crop = 0;  // pixels
  bool mirror = false;
  bool is_test = false;
  bool color_jitter = false;
  float saturation = 0.4f;
  float brightness = 0.4f;
  float contrast = 0.4f;
  bool color_lighting = false;
  float color_lighting_std = 0.1f;
  // In the order of the channels: blue, green, red, or one for grey images.
  std::vector<float> mean;
  std::vector<float> std;

  int channels() const { return color ? 3 : 1; }
  // The elements of one image in the output.
  int64_t size() const { return int64_t{channels()} * crop * crop; }
};

// Writes [channels, crop, crop] floats, channels in the order blue, green, red. Random numbers come
// from `generator` alone, so that an image depends on nothing but its record and the generator's
// state. THROWS if the image is smaller than the crop after scaling, or the box lies outside.
void AugmentImage(const ImageRecord& record, const ImageAugmentation& how, std::mt19937* generator,
                  float* output);

}  // namespace caffe2rt
