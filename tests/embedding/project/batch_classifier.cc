// Classifies all images of a folder on several threads, and prints the best five classes of each.
//
//   batch_classifier INIT_NET PREDICT_NET LABELS FOLDER [THREADS]
#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "caffe2_core/io/image.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/predictor.h"

namespace {

std::vector<std::string> ReadLines(const std::string& path) {
  std::ifstream file(path);
  CAFFE_ENFORCE(file, "cannot read \"", path, "\"");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.is_regular_file()) files.push_back(entry.path().string());
  }
  CAFFE_ENFORCE(!error, "cannot read folder \"", folder, "\": ", error.message());
  std::sort(files.begin(), files.end());
  return files;
}

// One line per class, the best first.
std::string TopFive(const caffe2rt::Tensor& scores, const std::vector<std::string>& labels) {
  const float* values = scores.data<float>();
  std::vector<size_t> order(static_cast<size_t>(scores.numel()));
  std::iota(order.begin(), order.end(), size_t{0});
  const auto middle = order.begin() + std::min<ptrdiff_t>(5, std::ssize(order));
  std::partial_sort(order.begin(), middle, order.end(),
                    [&](size_t a, size_t b) { return values[a] > values[b]; });
  std::string text;
  for (auto it = order.begin(); it != middle; ++it) {
    const std::string label = *it < labels.size() ? labels[*it] : "class " + std::to_string(*it);
    text += caffe2rt::MakeString("  ", values[*it], "  ", label, "\n");
  }
  return text;
}

// Classifies files[next], files[next + 1], ... until none is left. An image that cannot be read has
// its error as the result.
void Classify(caffe2rt::Predictor predictor, const std::vector<std::string>& files,
              const std::vector<std::string>& labels, std::atomic<size_t>* next,
              std::vector<std::string>* results) {
  std::vector<caffe2rt::Tensor> out;
  for (size_t i = (*next)++; i < files.size(); i = (*next)++) {
    try {
      // A net that was trained on other values needs ImageTransform's mean, scale, resize and crop.
      predictor({caffe2rt::ImageToTensor(caffe2rt::LoadImage(files[i]), {})}, &out);
      (*results)[i] = TopFive(out.at(0), labels);
    } catch (const caffe2rt::EnforceNotMet& error) {
      (*results)[i] = "  error: " + error.message() + "\n";
    }
  }
}

int Run(char** argv, int num_threads) {
  caffe2rt::Predictor predictor(
      caffe2rt::LoadModel({.init_nets = {argv[1]}, .predict_net = argv[2]}));
  const std::vector<std::string> labels = ReadLines(argv[3]);
  const std::vector<std::string> files = FilesIn(argv[4]);
  std::vector<std::string> results(files.size());
  std::atomic<size_t> next = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < num_threads; ++t) {
      // Copies of a predictor share its weights.
      threads.emplace_back([&] { Classify(predictor, files, labels, &next, &results); });
    }
  }  // joins the threads
  for (size_t i = 0; i < files.size(); ++i) {
    std::printf("%s\n%s", files[i].c_str(), results[i].c_str());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  int num_threads = 2;
  if (argc == 6) std::from_chars(argv[5], argv[5] + std::strlen(argv[5]), num_threads);
  if (argc < 5 || argc > 6 || num_threads < 1 || num_threads > 64) {
    std::fputs(
        "usage: batch_classifier INIT_NET PREDICT_NET LABELS FOLDER [THREADS]\n"
        "       THREADS is 1 to 64, by default 2\n",
        stderr);
    return 2;
  }
  try {
    return Run(argv, num_threads);
  } catch (const caffe2rt::EnforceNotMet& error) {
    std::fprintf(stderr, "batch_classifier: %s\n", error.message().c_str());
    return 1;
  }
}
