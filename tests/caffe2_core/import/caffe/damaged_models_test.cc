// Damaged models of Caffe end in an error or are imported.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/import/caffe/caffe_import.h"
#include "caffe2_core/io/atomic_file.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::damaged_models_test {
namespace {

std::vector<std::string> FilesOf(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(SourcePath(folder))) {
    files.push_back(ReadWholeFile(entry.path()));
  }
  return files;
}

// Changes bytes, numbers and pieces.
std::string Damaged(std::string bytes, std::mt19937* random) {
  const auto pick = [&](size_t count) { return (*random)() % std::max<size_t>(count, 1); };
  static const char* const kPieces[] = {"-1", "0", "99999999999", "1e30",
                                        "{",  "}", "nan",         "2147483648"};
  for (size_t i = 0, count = 1 + pick(2); i < count && !bytes.empty(); ++i) {
    const size_t at = pick(bytes.size());
    switch (pick(4)) {
      case 0:
        bytes[at] = static_cast<char>(pick(256));
        break;
      case 1:
        bytes.replace(at, 1, kPieces[pick(8)]);
        break;
      case 2:
        bytes.erase(at, 1 + pick(8));
        break;
      default:
        bytes.insert(at, bytes.substr(pick(bytes.size()), 1 + pick(40)));
    }
  }
  return bytes;
}

// Returns whether it could be imported.
bool Imports(const std::string& net, const std::string& weights) {
  try {
    (void)ImportCaffeFromMemory(net, weights, {});
    return true;
  } catch (const EnforceNotMet&) {
    return false;
  }
}

TEST(DamagedCaffeModelsTest, EndInAnErrorOrAreImported) {
  constexpr int kRuns = 4000;
  // Another seed, for longer searches: --gtest_random_seed.
  std::mt19937 random(3 + static_cast<unsigned>(testing::UnitTest::GetInstance()->random_seed()));
  int imported = 0;
  const std::vector<std::string> texts = FilesOf("tests/fuzz/corpus/caffe_text");
  const std::vector<std::string> binaries = FilesOf("tests/fuzz/corpus/caffe_model");
  for (const std::string& text : texts) EXPECT_TRUE(Imports(text, "")) << text;
  for (int i = 0; i < kRuns; ++i) {
    const std::string& text = texts[random() % texts.size()];
    const std::string& binary = binaries[random() % binaries.size()];
    imported += Imports(Damaged(text, &random), "");
    imported += Imports(Damaged(binary, &random), "");
    imported += Imports(text, Damaged(binary, &random));
  }
  EXPECT_GT(imported, 100);  // the damage is not so large that nothing is tested
}

}  // namespace
}  // namespace caffe2rt::test::damaged_models_test
