#include "caffe2_core/training/image_records.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/image.h"

namespace caffe2rt {
namespace {

namespace fs = std::filesystem;

// Images that are in memory at the same time.
constexpr size_t kImagesAtOnce = 64;

bool IsImageName(const fs::path& path) {
  std::string ending = path.extension().string();
  for (char& c : ending) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png";
}

// The names in a folder, without those that begin with ".", sorted by their bytes.
std::vector<std::string> NamesIn(const fs::path& folder) {
  std::error_code error;
  const fs::directory_iterator entries(folder, error);
  CAFFE_ENFORCE(!error, "cannot open folder \"", folder.string(), "\": ", error.message());
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : entries) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(".")) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void AddClass(const fs::path& folder, const std::string& name, ImageList* list) {
  const auto label = static_cast<int32_t>(list->classes.size());
  const size_t before = list->files.size();
  for (const std::string& file : NamesIn(folder / name)) {
    const fs::path path = folder / name / file;
    if (fs::is_directory(path)) continue;
    const std::string relative = name + "/" + file;
    if (IsImageName(path)) {
      list->files.push_back({relative, path.string(), label});
    } else {
      list->skipped.push_back(relative);
    }
  }
  CAFFE_ENFORCE_GT(list->files.size(), before, "images (.jpg, .jpeg or .png) in the folder \"",
                   (folder / name).string(), "\" of a class");
  list->classes.push_back(name);
}

std::string PixelsOf(const Image& image, bool grey) {
  std::string pixels;
  if (grey) {
    const Tensor tensor = ImageToTensor(image, {.grey = true});
    pixels.reserve(static_cast<size_t>(tensor.numel()));
    for (int64_t i = 0; i < tensor.numel(); ++i)
      pixels.push_back(static_cast<char>(static_cast<uint8_t>(tensor.data<float>()[i])));
    return pixels;
  }
  pixels.resize(image.rgb.size());
  for (size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<char>(image.rgb[i / 3 * 3 + 2 - i % 3]);
  return pixels;
}

ImageTransform TransformOf(const ImageRecordOptions& options) {
  ImageTransform transform;
  if (options.warp) {
    transform.resize_to = {options.side, options.side};
  } else {
    transform.resize = options.side;
  }
  return transform;
}

void SetRawData(Image image, const ImageRecordOptions& options, TensorProto* data) {
  if (options.side > 0) image = ResizedAndCropped(std::move(image), TransformOf(options));
  data->set_data_type(TensorProto::BYTE);
  data->add_dims(image.height);
  data->add_dims(image.width);
  if (!options.grey) data->add_dims(3);
  data->set_byte_data(PixelsOf(image, options.grey));
}

struct MadeRecord {
  TrainingRecord record;
  std::string error;  // or ""
};

MadeRecord MakeRecord(const LabelledFile& file, int64_t number, const ImageRecordOptions& options) {
  MadeRecord made;
  try {
    made.record.key = RecordKey(number, 8) + "_" + file.name;
    std::string bytes = ReadWholeFile(file.path);
    Image image = DecodeImage(bytes, file.path);
    TensorProto* const data = made.record.tensors.add_protos();
    if (options.raw) {
      SetRawData(std::move(image), options, data);
    } else {
      data->set_data_type(TensorProto::STRING);
      data->add_dims(1);
      data->add_string_data(std::move(bytes));
    }
    AddLabel(file.label, LabelDims::kOne, &made.record.tensors);
  } catch (const EnforceNotMet& e) {
    made.error = e.message();
  }
  return made;
}

}  // namespace

ImageList ListClassFolders(const std::string& folder) {
  ImageList list;
  for (const std::string& name : NamesIn(folder)) {
    if (fs::is_directory(fs::path(folder) / name)) {
      AddClass(folder, name, &list);
    } else {
      list.skipped.push_back(name);
    }
  }
  CAFFE_ENFORCE(!list.classes.empty(), "folder \"", folder,
                "\" has no folders, want one for each class, with its images");
  return list;
}

ImageList ReadImageList(const std::string& list_file, const std::string& folder) {
  constexpr std::string_view kSpaces = " \t\r";
  ImageList list;
  const std::string text = ReadWholeFile(list_file);
  int64_t number = 0;
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    ++number;
    line.erase(line.find_last_not_of(kSpaces) + 1);
    if (line.empty()) continue;
    const size_t space = line.find_last_of(kSpaces);
    int32_t label = 0;
    CAFFE_ENFORCE(space != std::string::npos && line.find_first_not_of(kSpaces) < space &&
                      ParseNumber(line.substr(space + 1), &label),
                  "line ", number, " of \"", list_file, "\" is \"", line,
                  "\", want a path and the number of its class");
    const std::string name = line.substr(0, line.find_last_not_of(kSpaces, space) + 1);
    list.files.push_back({name, (fs::path(folder) / name).string(), label});
  }
  CAFFE_ENFORCE(!list.files.empty(), "file \"", list_file, "\" names no image");
  return list;
}

void ImageRecords(const std::vector<LabelledFile>& files, const ImageRecordOptions& options,
                  const RecordAcceptor& accept) {
  std::vector<MadeRecord> made(std::min(files.size(), kImagesAtOnce));
  for (size_t begin = 0; begin < files.size(); begin += made.size()) {
    const size_t count = std::min(made.size(), files.size() - begin);
    ParallelFor(static_cast<int>(count), [&](int piece) {
      const size_t i = static_cast<size_t>(piece);
      made[i] = MakeRecord(files[begin + i], static_cast<int64_t>(begin + i), options);
    });
    for (size_t i = 0; i < count; ++i) {
      if (made[i].error.empty()) {
        accept(made[i].record);
      } else {
        CAFFE_ENFORCE(options.on_error != nullptr, made[i].error);
        options.on_error(files[begin + i].name, made[i].error);
      }
    }
  }
}

}  // namespace caffe2rt
