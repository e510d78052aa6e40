#include "caffe2_core/training/cifar_records.h"

#include <algorithm>
#include <filesystem>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/training/data_file.h"

namespace caffe2rt {
namespace {

namespace fs = std::filesystem;

constexpr size_t kSide = 32, kPixels = kSide * kSide, kChannels = 3;
constexpr int64_t kMaxRecords = 100000;

struct LabelForm {
  size_t bytes;  // labels before the pixels
  size_t index;  // of the label that counts
  uint8_t classes;
};

LabelForm FormOf(CifarLabels labels) {
  switch (labels) {
    case CifarLabels::kCifar10:
      return {1, 0, 10};
    case CifarLabels::kCifar100:
      return {2, 1, 100};
    case CifarLabels::kCifar100Coarse:
      return {2, 0, 20};
  }
  CAFFE_THROW("kind of labels ", static_cast<int>(labels), " is not known");
}

// The three planes, pixel by pixel.
std::string ChannelsLast(const char* planes) {
  std::string pixels(kPixels * kChannels, '\0');
  for (size_t channel = 0; channel < kChannels; ++channel) {
    for (size_t i = 0; i < kPixels; ++i)
      pixels[i * kChannels + channel] = planes[channel * kPixels + i];
  }
  return pixels;
}

void SetData(const char* planes, PixelOrder order, TensorProto* data) {
  data->set_data_type(TensorProto::BYTE);
  const bool first = order == PixelOrder::kChannelsFirst;
  if (first) data->add_dims(kChannels);
  data->add_dims(kSide);
  data->add_dims(kSide);
  if (!first) data->add_dims(kChannels);
  if (first) {
    data->set_byte_data(planes, kPixels * kChannels);
  } else {
    data->set_byte_data(ChannelsLast(planes));
  }
}

}  // namespace

void CifarRecords(const std::vector<std::string>& files, const CifarOptions& options,
                  const RecordAcceptor& accept) {
  const LabelForm form = FormOf(options.labels);
  std::string image(form.bytes + kPixels * kChannels, '\0');
  const int64_t limit = options.limit > 0 ? options.limit : INT64_MAX;
  int64_t records = 0;
  for (const std::string& path : files) {
    DataFile file(path);
    while (records < limit && file.Read(image.data(), image.size(), "an image")) {
      const auto label = static_cast<uint8_t>(image[form.index]);
      CAFFE_ENFORCE(label < form.classes, "label of image ", records, " in \"", path, "\" is ",
                    int{label}, ", want 0 to ", form.classes - 1, ": is it a binary file of CIFAR-",
                    options.labels == CifarLabels::kCifar10 ? "10" : "100", "?");
      CAFFE_ENFORCE_LT(records, kMaxRecords, "images, whose keys have five digits");
      TrainingRecord record;
      record.key = RecordKey(records++, 5);
      SetData(image.data() + form.bytes, options.order, record.tensors.add_protos());
      AddLabel(label, LabelDims::kOne, &record.tensors);
      accept(record);
    }
  }
}

std::vector<std::string> CifarFilesOf(const std::string& folder, bool test) {
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool is_test = name == "test_batch.bin" || name == "test.bin";
    const bool is_train =
        name == "train.bin" || (name.starts_with("data_batch_") && name.ends_with(".bin"));
    if (test ? is_test : is_train) files.push_back(entry.path().string());
  }
  CAFFE_ENFORCE(!files.empty(), "folder \"", folder, "\" has no file of CIFAR's ",
                test ? "test" : "training", " images, want ",
                test ? "test_batch.bin or test.bin" : "data_batch_1.bin ... or train.bin",
                " (the binary version); other names are given one by one");
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace caffe2rt
