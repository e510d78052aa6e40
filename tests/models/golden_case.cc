#include "tests/models/golden_case.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/device_fallback.h"
#include "caffe2_core/graph/net_file.h"
#include "tests/support/shared.h"

namespace caffe2rt::test {
namespace {

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

// Splits "a=b" at the last '=', because blob names may contain one.
std::pair<std::string, std::string> SplitPair(const std::string& text) {
  const size_t at = text.rfind('=');
  CAFFE_ENFORCE(at != std::string::npos, "\"", text, "\" has no '='");
  return {text.substr(0, at), text.substr(at + 1)};
}

// Splits outputs at commas, except those inside crops.
std::vector<std::string> SplitOutsideBrackets(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

GoldenCase ParseRow(const std::string& line, const std::string& models) {
  const std::vector<std::string> columns = Split(line, '\t');
  CAFFE_ENFORCE_EQ(columns.size(), 6u, "columns of the row \"", line, "\"");
  GoldenCase golden;
  golden.folder = models + "/" + columns[0];
  golden.init = columns[1];
  golden.predict = columns[2];
  for (const std::string& input : SplitOutsideBrackets(columns[3])) {
    golden.inputs.insert(SplitPair(input));
  }
  for (const std::string& text : SplitOutsideBrackets(columns[4])) {
    const auto [blob, file] = SplitPair(text);
    const size_t bracket = blob.find('[');
    GoldenCase::Output output{blob.substr(0, bracket), "", file};
    if (bracket != std::string::npos) {
      output.crop = blob.substr(bracket + 1, blob.size() - bracket - 2);
    }
    golden.outputs.push_back(output);
  }
  golden.tolerance = std::strtod(columns[5].c_str(), nullptr);
  CAFFE_ENFORCE_GT(golden.tolerance, 0, "tolerance of the row \"", line, "\"");
  return golden;
}

template <class T>
double ErrorOf(const Tensor& got, const Tensor& want) {
  const T* a = got.data<T>();
  const T* b = want.data<T>();
  double difference = 0, largest = 0;
  for (int64_t i = 0; i < want.numel(); ++i) {
    const double x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    if (std::isnan(x) != std::isnan(y)) return 1e30;
    if (std::isnan(y) || x == y) continue;
    difference = std::max(difference, std::abs(x - y));
    largest = std::max(largest, std::abs(y));
  }
  for (int64_t i = 0; i < want.numel(); ++i) {
    const double y = std::abs(static_cast<double>(b[i]));
    if (std::isfinite(y)) largest = std::max(largest, y);
  }
  return difference == 0 ? 0 : largest == 0 ? 1e30 : difference / largest;
}

}  // namespace

std::string GoldenCase::Name() const {
  std::string name = std::filesystem::path(folder).filename().string() + "_" +
                     std::filesystem::path(predict).stem().string();
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

std::ostream& operator<<(std::ostream& out, const GoldenCase& golden) {
  return out << golden.Name();
}

std::vector<GoldenCase> ReadGoldenCases() {
  const std::string models = SharedPath("models");
  std::ifstream in(models + "/CASES.tsv");
  std::vector<GoldenCase> cases;
  std::string line;
  std::getline(in, line);  // the header line
  while (std::getline(in, line)) {
    if (!line.empty()) cases.push_back(ParseRow(line, models));
  }
  return cases;
}

NetDef LoadNetForCPU(const std::string& path) {
  NetDef net = LoadNet(path);
  FindDatabases(&net, ".", std::filesystem::path(path).parent_path().string());
  FallBackToCPU(&net);
  return net;
}

Tensor Crop(const Tensor& tensor, const std::string& crop) {
  if (crop.empty()) return tensor;
  const std::vector<std::string> parts = Split(crop, ',');
  CAFFE_ENFORCE(parts.size() == 3 && parts[0] == "...", "crop \"", crop, "\"");
  int64_t begin[2], end[2];
  for (int i = 0; i < 2; ++i) {
    const std::vector<std::string> range = Split(parts[i + 1], ':');
    CAFFE_ENFORCE_EQ(range.size(), 2u, "crop \"", crop, "\"");
    begin[i] = std::stoll(range[0]);
    end[i] = std::stoll(range[1]);
    CAFFE_ENFORCE(0 <= begin[i] && begin[i] <= end[i] && end[i] <= tensor.size(i - 2), "crop \"",
                  crop, "\" of ", tensor.DebugString());
  }
  std::vector<int64_t> dims = tensor.dims();
  const int64_t planes = tensor.size_to_dim(tensor.dim() - 2);
  const int64_t rows = tensor.size(-2), columns = tensor.size(-1);
  dims[dims.size() - 2] = end[0] - begin[0];
  dims[dims.size() - 1] = end[1] - begin[1];
  Tensor part(dims, CPU);
  float* to = part.mutable_data<float>();
  for (int64_t plane = 0; plane < planes; ++plane) {
    for (int64_t y = begin[0]; y < end[0]; ++y) {
      const float* from = tensor.data<float>() + (plane * rows + y) * columns + begin[1];
      to = std::copy(from, from + end[1] - begin[1], to);
    }
  }
  return part;
}

double RelativeError(const Tensor& got, const Tensor& want) {
  if (got.dims() != want.dims() || got.dtype() != want.dtype()) return 1e30;
  if (got.IsType<float>()) return ErrorOf<float>(got, want);
  if (got.IsType<double>()) return ErrorOf<double>(got, want);
  if (got.IsType<uint8_t>()) return ErrorOf<uint8_t>(got, want);
  if (got.IsType<int8_t>()) return ErrorOf<int8_t>(got, want);
  if (got.IsType<uint16_t>()) return ErrorOf<uint16_t>(got, want);
  if (got.IsType<int16_t>()) return ErrorOf<int16_t>(got, want);
  if (got.IsType<int32_t>()) return ErrorOf<int32_t>(got, want);
  if (got.IsType<int64_t>()) return ErrorOf<int64_t>(got, want);
  if (got.IsType<bool>()) return ErrorOf<bool>(got, want);
  if (got.nbytes() == want.nbytes() && got.itemsize() == 2) {  // float16: the same bits
    return std::memcmp(got.raw_data(), want.raw_data(), got.nbytes()) == 0 ? 0 : 1e30;
  }
  return 1e30;
}

}  // namespace caffe2rt::test
