// External data: which files may be read, and which bytes of them.
#include "caffe2_core/import/onnx/external_data.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "caffe2_core/base/enforce.h"
#include "tests/caffe2_core/import/onnx/imported_onnx.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::external_data_test {
namespace {

namespace fs = std::filesystem;

// A model that adds an external weight of two floats.
std::string Model(const std::string& location, const std::string& more = "") {
  return OnnxBytes(OnnxValue("input", "x", {"2"}) +
                   "initializer { name: 'w' data_type: 1 dims: 2 data_location: EXTERNAL "
                   "external_data { key: 'location' value: '" +
                   location + "' } " + more +
                   "} node { op_type: 'Add' name: 'n' input: 'x' input: 'w' output: 'y' } " +
                   OnnxValue("output", "y", {"2"}));
}

class OnnxExternalDataTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(folder_ / "model");
    fs::create_directory(folder_ / "model" / "sub");
    Write("model/weights.bin", {0, 10, 20, 30});
    Write("model/sub/weights.bin", {1, 2});
    Write("secret.bin", {7, 7});
    fs::create_symlink(folder_ / "secret.bin", folder_ / "model" / "link.bin");
    fs::create_symlink("weights.bin", folder_ / "model" / "inner.bin");
    fs::create_directory_symlink(folder_, folder_ / "model" / "up");
    // Deeper than the model's folder, and with its name as a prefix.
    for (const char* other : {"other", "model2"}) {
      fs::create_directories(folder_ / other / "sub" / "deep");
      Write(std::string(other) + "/sub/deep/secret.bin", {7, 7});
      fs::create_symlink(folder_ / other / "sub" / "deep" / "secret.bin",
                         folder_ / "model" / (std::string(other) + ".bin"));
    }
  }

  void Write(const std::string& name, const std::vector<float>& values) {
    std::ofstream(folder_ / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(float)));
  }

  // The message of the error, or the sum with zeros.
  std::string Import(const std::string& bytes, std::vector<float>* sum) try {
    const std::string path = (folder_ / "model" / "m.onnx").string();
    std::ofstream(path, std::ios::binary) << bytes;
    Workspace ws;
    RunOnnx(ImportOnnx({.net = path}), {{"x", FloatTensor({2}, {0, 0})}}, &ws);
    *sum = FloatsOf(ws.GetBlob("y")->Get<Tensor>());
    return "";
  } catch (const EnforceNotMet& error) {
    return error.message();
  }

  const TempDir dir_;
  const fs::path folder_ = dir_.path();
};

struct Allowed {
  const char* location;
  const char* more;
  std::vector<float> want;
};

TEST_F(OnnxExternalDataTest, FilesBelowTheModelAreRead) {
  const Allowed cases[] = {
      {"weights.bin",
       "external_data { key: 'offset' value: '4' } external_data { key: 'length' value: '8' }",
       {10, 20}},
      {"weights.bin", "external_data { key: 'offset' value: '8' }", {20, 30}},
      // Without a length the file may be longer.
      {"weights.bin", "external_data { key: 'offset' value: '4' }", {10, 20}},
      {"sub/weights.bin", "", {1, 2}},
      {"./sub/weights.bin", "", {1, 2}},
      {"inner.bin", "external_data { key: 'length' value: '8' }", {0, 10}}};
  for (const Allowed& allowed : cases) {
    std::vector<float> sum;
    EXPECT_EQ(Import(Model(allowed.location, allowed.more), &sum), "") << allowed.location;
    EXPECT_EQ(sum, allowed.want) << allowed.location;
  }
}

struct Refused {
  const char* location;
  const char* more;
  const char* error;
};

TEST_F(OnnxExternalDataTest, OtherFilesAreNot) {
  const Refused cases[] = {
      {"../secret.bin", "", "want a relative path without \"..\""},
      {"sub/../../secret.bin", "", "want a relative path without \"..\""},
      {"/etc/hostname", "", "want a relative path without \"..\""},
      {"", "", "want a relative path without \"..\""},
      {"weights.bin\\000x", "", "want a relative path without \"..\""},
      {"link.bin", "", "is a link to a file outside of the model's folder"},
      {"up/secret.bin", "", "is a link to a file outside of the model's folder"},
      {"up", "", "is a link to a file outside of the model's folder"},
      {"other.bin", "", "is a link to a file outside of the model's folder"},
      {"model2.bin", "", "is a link to a file outside of the model's folder"},
      {"sub", "", "is not a regular file"},
      {"none.bin", "", "No such file or directory"},
      {"weights.bin", "external_data { key: 'length' value: '4' }", "bytes of elements"},
      {"weights.bin", "external_data { key: 'length' value: '12' }", "bytes of elements"},
      {"weights.bin", "external_data { key: 'offset' value: '12' }",
       "bytes of elements: got 4, want at least 8"},
      {"weights.bin", "external_data { key: 'offset' value: '17' }",
       "has 16 bytes, want 0 from 17"},
      {"weights.bin",
       "external_data { key: 'offset' value: '12' } external_data { key: 'length' value: '8' }",
       "has 16 bytes, want 8 from 12"},
      {"weights.bin", "external_data { key: 'offset' value: '-4' }", "want a number from 0 up"},
      {"weights.bin", "external_data { key: 'offset' value: '99999999999999999999' }",
       "want a number from 0 up"},
      {"weights.bin", "external_data { key: 'length' value: '8x' }", "want a number from 0 up"},
      {"weights.bin", "raw_data: 'abcdefgh'", "places with elements"}};
  for (const Refused& refused : cases) {
    std::vector<float> sum;
    const std::string error = Import(Model(refused.location, refused.more), &sum);
    EXPECT_NE(error.find(refused.error), std::string::npos) << refused.location << ": " << error;
  }
}

// The cache of Hugging Face has folders of links to files whose names are hashes.
TEST_F(OnnxExternalDataTest, LinksToAModelMayHaveLinksToItsData) {
  for (const char* folder : {"blobs", "snapshot"}) fs::create_directory(folder_ / folder);
  std::ofstream(folder_ / "blobs" / "5f", std::ios::binary) << Model("weights.bin");
  std::ofstream(folder_ / "blobs" / "70", std::ios::binary) << Model("secret.bin");
  Write("blobs/6e", {3, 4});
  const fs::path snapshot = folder_ / "snapshot";
  fs::create_symlink("../blobs/5f", snapshot / "m.onnx");
  fs::create_symlink("../blobs/6e", snapshot / "weights.bin");
  fs::create_symlink("../blobs/70", snapshot / "other.onnx");
  fs::create_symlink("../secret.bin", snapshot / "secret.bin");
  const auto import = [&](const fs::path& path) {
    Workspace ws;
    RunOnnx(ImportOnnx({.net = path.string()}), {{"x", FloatTensor({2}, {0, 0})}}, &ws);
    return FloatsOf(ws.GetBlob("y")->Get<Tensor>());
  };
  EXPECT_EQ(import(snapshot / "m.onnx"), (std::vector<float>{3, 4}));
  EXPECT_THROW(import(snapshot / "other.onnx"), EnforceNotMet);
  // A link to the model alone.
  Write("blobs/weights.bin", {5, 6});
  fs::create_symlink("blobs/5f", folder_ / "alone.onnx");
  EXPECT_EQ(import(folder_ / "alone.onnx"), (std::vector<float>{5, 6}));
}

TEST_F(OnnxExternalDataTest, AModelInMemoryHasNone) {
  EXPECT_NE(OnnxImportError(Model("weights.bin")).find("belongs to a model in memory"),
            std::string::npos);
}

}  // namespace
}  // namespace caffe2rt::test::external_data_test
