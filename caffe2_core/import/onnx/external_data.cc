#include "caffe2_core/import/onnx/external_data.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/utf8.h"

namespace caffe2rt {
namespace {

int64_t NumberOf(const std::string& key, const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  CAFFE_ENFORCE(error == std::errc() && end == text.data() + text.size() && value >= 0,
                "external data: ", key, " is \"", Shortened(text), "\", want a number from 0 up");
  return value;
}

// Whether the path lies below the folder; both are canonical.
bool IsBelow(const std::filesystem::path& path, const std::filesystem::path& folder) {
  const auto rest = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return rest.first == folder.end() && rest.second != path.end();
}

}  // namespace

std::shared_ptr<const RandomAccessInput> OnnxExternalData::Open(const std::string& location) {
  const auto found = files_.find(location);
  if (found != files_.end()) return found->second;
  CAFFE_ENFORCE(!model_.empty(), "external data \"", Shortened(location),
                "\" belongs to a model in memory, want a model in a file");
  const std::filesystem::path relative = location;
  bool allowed =
      !location.empty() && relative.is_relative() && location.find('\0') == std::string::npos;
  for (const auto& part : relative) allowed = allowed && part != "..";
  CAFFE_ENFORCE(allowed, "external data \"", Shortened(location),
                "\": want a relative path without \"..\"");
  std::error_code error;
  const std::filesystem::path given = std::filesystem::absolute(model_, error).parent_path();
  const std::filesystem::path folder = std::filesystem::canonical(given, error);
  const std::filesystem::path file_folder =
      error ? given : std::filesystem::canonical(model_, error).parent_path();
  std::filesystem::path path;
  if (!error) path = std::filesystem::canonical(folder / relative, error);
  if (error) path = std::filesystem::canonical(file_folder / relative, error);
  CAFFE_ENFORCE(!error, "external data \"", Shortened(location), "\": ", error.message());
  CAFFE_ENFORCE(IsBelow(path, folder) || IsBelow(path, file_folder), "external data \"",
                Shortened(location), "\" is a link to a file outside of the model's folder");
  CAFFE_ENFORCE(std::filesystem::is_regular_file(path, error), "external data \"",
                Shortened(location), "\" is not a regular file");
  auto file = std::make_shared<FileInput>(path.string());
  files_[location] = file;
  return file;
}

OnnxSpan OnnxExternalData::Find(const onnx::TensorProto& proto) {
  std::string location;
  int64_t offset = 0, length = -1;
  for (const onnx::StringStringEntryProto& entry : proto.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = NumberOf(entry.key(), entry.value());
    if (entry.key() == "length") length = NumberOf(entry.key(), entry.value());
  }
  OnnxSpan span = {.input = Open(location), .offset = offset};
  const int64_t size = span.input->size();
  CAFFE_ENFORCE(offset <= size && length <= size - offset, "external data \"", Shortened(location),
                "\" has ", size, " bytes, want ", std::max<int64_t>(length, 0), " from ", offset);
  span.open_end = length < 0;
  span.size = span.open_end ? size - offset : length;
  return span;
}

}  // namespace caffe2rt
