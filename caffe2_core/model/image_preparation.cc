#include "caffe2_core/model/image_preparation.h"

#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"

namespace caffe2rt {
namespace {

void Add(const std::string& key, const std::string& value, MetaNetDef* meta) {
  StringMap* const entry = meta->add_applicationspecificinfo();
  entry->set_key(key);
  entry->set_value(value);
}

std::string NumbersText(const std::vector<float>& numbers) {
  std::vector<std::string> texts;
  for (const float number : numbers) texts.push_back(ShortText(static_cast<double>(number)));
  return absl::StrJoin(texts, ",");
}

[[noreturn]] void Fail(const StringMap& entry, const char* want) {
  CAFFE_THROW("entry \"", entry.key(), "\" of the predictor's database is \"", entry.value(),
              "\", want ", want);
}

void ReadNumbers(const StringMap& entry, std::vector<float>* numbers) {
  numbers->clear();
  for (const std::string& word : std::vector<std::string>(absl::StrSplit(entry.value(), ','))) {
    float number = 0;
    if (!ParseNumber(word, &number)) Fail(entry, "numbers with commas between them");
    numbers->push_back(number);
  }
}

void ReadSize(const StringMap& entry, ImageSize* size) {
  const std::vector<std::string> sides = absl::StrSplit(entry.value(), 'x');
  constexpr int kMost = 100000;
  const bool fine = sides.size() == 2 && ParseNumber(sides[0], &size->width) &&
                    ParseNumber(sides[1], &size->height) && size->width > 0 && size->height > 0 &&
                    size->width <= kMost && size->height <= kMost;
  if (!fine) Fail(entry, "WIDTHxHEIGHT");
}

void ReadChannels(const StringMap& entry, ImageTransform* transform) {
  transform->grey = entry.value() == "grey";
  transform->bgr = entry.value() == "bgr";
  if (!transform->grey && !transform->bgr && entry.value() != "rgb")
    Fail(entry, "grey, rgb or bgr");
}

void ReadEntry(const StringMap& entry, ImagePreparation* preparation, ImageSize* size) {
  ImageTransform& transform = preparation->transform;
  if (entry.key() == "image.size") {
    ReadSize(entry, size);
  } else if (entry.key() == "image.resize") {
    if (!ParseNumber(entry.value(), &transform.resize) || transform.resize < 1)
      Fail(entry, "a number of pixels");
  } else if (entry.key() == "image.channels") {
    ReadChannels(entry, &transform);
  } else if (entry.key() == "image.mean") {
    ReadNumbers(entry, &transform.mean);
  } else if (entry.key() == "image.scale") {
    ReadNumbers(entry, &transform.scale);
  } else if (entry.key() == "image.std") {
    ReadNumbers(entry, &transform.std);
  }
  preparation->known = preparation->known || entry.key().starts_with("image.");
}

bool IsFloatingPoint(TensorProto::DataType type) {
  return type == TensorProto::FLOAT || type == TensorProto::FLOAT16 ||
         type == TensorProto::BFLOAT16;
}

// The address of element (channel, place) of an image of `pixels` places, in one form or the other.
int64_t At(bool channels_last, int64_t channels, int64_t pixels, int64_t channel, int64_t place) {
  return channels_last ? place * channels + channel : channel * pixels + place;
}

template <class T>
Tensor Arranged(const Tensor& image, const ImageForm& form) {
  const int64_t channels = image.dim(1), height = image.dim(2), width = image.dim(3);
  const int64_t pixels = height * width;
  Tensor result(
      form.channels_last ? std::vector<int64_t>{1, height, width, channels} : image.dims(), CPU);
  const float* const from = image.data<float>();
  T* const to = result.mutable_data<T>();
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t i = 0; i < pixels; ++i) {
      float value = from[At(false, channels, pixels, c, i)];
      if constexpr (std::is_integral_v<T>) value = std::clamp(std::round(value), 0.f, 255.f);
      to[At(form.channels_last, channels, pixels, c, i)] = static_cast<T>(value);
    }
  }
  return result;
}

}  // namespace

std::optional<ImageForm> ImageFormOf(const std::vector<int64_t>& dims, TensorProto::DataType type) {
  ImageForm form{.bytes = type == TensorProto::UINT8};
  if (!form.bytes && !IsFloatingPoint(type)) return std::nullopt;
  if (dims.size() != 3 && dims.size() != 4) return std::nullopt;
  form.has_batch = dims.size() == 4;
  const int64_t* const axes = dims.data() + (form.has_batch ? 1 : 0);
  const auto is_channels = [](int64_t dim) { return dim == 1 || dim == 3; };
  if (is_channels(axes[0])) {
    form.channels = axes[0], form.height = axes[1], form.width = axes[2];
  } else if (is_channels(axes[2])) {
    form.channels_last = true;
    form.height = axes[0], form.width = axes[1], form.channels = axes[2];
  } else if (axes[0] < 0) {
    form.height = axes[1], form.width = axes[2];
  } else {
    return std::nullopt;
  }
  return form;
}

Tensor InImageForm(Tensor image, const ImageForm& form) {
  if (form.bytes) {
    image = Arranged<uint8_t>(image, form);
  } else if (form.channels_last) {
    image = Arranged<float>(image, form);
  }
  if (!form.has_batch) image.Reshape({image.dim(1), image.dim(2), image.dim(3)});
  return image;
}

void AddImagePreparation(const ImagePreparation& preparation, MetaNetDef* meta) {
  const ImageTransform& transform = preparation.transform;
  if (preparation.known) {
    const ImageSize size = transform.resize > 0 ? transform.crop_to : transform.resize_to;
    Add("image.size", MakeString(size.width, "x", size.height), meta);
    if (transform.resize > 0) Add("image.resize", MakeString(transform.resize), meta);
    Add("image.channels", transform.grey ? "grey" : transform.bgr ? "bgr" : "rgb", meta);
    Add("image.mean", NumbersText(transform.mean), meta);
    Add("image.scale", NumbersText(transform.scale), meta);
    Add("image.std", NumbersText(transform.std), meta);
  }
  if (!preparation.classes.empty()) Add("classes", absl::StrJoin(preparation.classes, "\n"), meta);
}

ImagePreparation ImagePreparationOf(const MetaNetDef& meta) {
  ImagePreparation preparation;
  ImageSize size;
  for (const StringMap& entry : meta.applicationspecificinfo()) {
    if (entry.key() == "classes") {
      preparation.classes = absl::StrSplit(entry.value(), '\n');
    } else {
      ReadEntry(entry, &preparation, &size);
    }
  }
  (preparation.transform.resize > 0 ? preparation.transform.crop_to
                                    : preparation.transform.resize_to) = size;
  return preparation;
}

}  // namespace caffe2rt
