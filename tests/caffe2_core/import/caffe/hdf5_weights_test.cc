// Weights in HDF5 are read by a process of their own, whose end is never that of this one.
#include "caffe2_core/import/caffe/hdf5_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/import/caffe/weights_file.h"
#include "caffe2_core/io/atomic_file.h"
#include "tests/caffe2_core/import/caffe/hdf5_file.h"
#include "tests/support/operator_test.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::hdf5_weights_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

#define SKIP_WITHOUT_HDF5() \
  if (!HasHdf5()) GTEST_SKIP() << "this build has no HDF5 (libhdf5-dev)"

std::vector<float> ValuesOf(const Tensor& tensor) {
  return {tensor.data<float>(), tensor.data<float>() + tensor.numel()};
}

CaffeWeightsFile Open(const std::string& path) { return {ReadHdf5Weights(path), path}; }

class Hdf5WeightsTest : public testing::Test {
 protected:
  std::string File(const std::string& name) { return folder_.path(name); }
  std::string Script(const std::string& text) {
    WriteFileAtomically(File("script"), "#!/bin/sh\n" + text + "\n");
    chmod(File("script").c_str(), 0700);
    setenv("CAFFE2RT_READ_HDF5", File("script").c_str(), 1);
    return File("script");
  }
  void TearDown() override { unsetenv("CAFFE2RT_READ_HDF5"); }

  TempDir folder_;
};

TEST_F(Hdf5WeightsTest, GivesEachLayerItsBlobs) {
  SKIP_WITHOUT_HDF5();
  for (const bool doubles : {false, true}) {
    WriteHdf5Weights(File("w.h5"),
                     {{"ip", {{0, {{2, 3}, {1, 2, 3, 4, 5, 6}}}, {1, {{2}, {-1, 0.5f}}}}},
                      {"in/1x1", {{0, {{1, 1, 1, 1}, {7}}}}}},
                     doubles);
    const CaffeWeightsFile file = Open(File("w.h5"));
    ASSERT_EQ(file.layers().size(), 2u);
    EXPECT_EQ(file.layers()[0].name, "in/1x1");
    EXPECT_EQ(file.layers()[1].name, "ip");
    ASSERT_EQ(file.layers()[1].blobs.size(), 2u);
    const Tensor w = file.ReadBlob(file.layers()[1].blobs[0]);
    EXPECT_THAT(w.dims(), ElementsAre(2, 3));
    EXPECT_THAT(ValuesOf(w), ElementsAre(1, 2, 3, 4, 5, 6));
    EXPECT_THAT(ValuesOf(file.ReadBlob(file.layers()[1].blobs[1])), ElementsAre(-1, 0.5f));
  }
}

TEST_F(Hdf5WeightsTest, BlobsThatAnotherLayerOwnsFitNoShape) {
  SKIP_WITHOUT_HDF5();
  WriteHdf5Weights(File("w.h5"), {{"ip", {{1, {{1}, {5}}}}}});
  const CaffeWeightsFile file = Open(File("w.h5"));
  ASSERT_EQ(file.layers()[0].blobs.size(), 2u);
  EXPECT_THAT(file.layers()[0].blobs[0].dims, ElementsAre(0));
  EXPECT_THAT(ValuesOf(file.ReadBlob(file.layers()[0].blobs[1])), ElementsAre(5));
}

TEST_F(Hdf5WeightsTest, AgreesWithThePublishedWeights) {
  SKIP_WITHOUT_HDF5();
  SKIP_WITHOUT_SHARED("models/c1_cifar10_full_v1");
  const CaffeWeightsFile file =
      Open(SharedPath("models/c1_cifar10_full_v1/cifar10_full_iter_60000.caffemodel.h5"));
  std::vector<std::string> names;
  for (const CaffeLayerBlobs& layer : file.layers()) names.push_back(layer.name);
  EXPECT_THAT(names, ElementsAre("conv1", "conv2", "conv3", "ip1"));
  const Tensor b = file.ReadBlob(file.layers()[3].blobs[1]);
  // By h5py.
  EXPECT_THAT(b.dims(), ElementsAre(10));
  EXPECT_FLOAT_EQ(b.data<float>()[0], -0.20842750370502472f);
  EXPECT_FLOAT_EQ(b.data<float>()[9], -0.3180553913116455f);
}

TEST_F(Hdf5WeightsTest, OtherFilesAreErrors) {
  SKIP_WITHOUT_HDF5();
  WriteHdf5Weights(File("w.h5"), {});
  ExpectThrows([&] { ReadHdf5Weights(File("w.h5")); }, "has no group /data");
  WriteHdf5Weights(File("w.h5"), {{"ip", {{300, {{1}, {1}}}}}});
  ExpectThrows([&] { ReadHdf5Weights(File("w.h5")); },
               "dataset \"/data/ip/300\" is not a blob of a layer, want /data/LAYER/0");
  WriteFileAtomically(File("w.h5"), "\x89HDF\r\n\x1a\n and no more");
  ExpectThrows([&] { ReadHdf5Weights(File("w.h5")); },
               "w.h5\" as weights of Caffe: it cannot be opened, so that it is damaged");
}

TEST_F(Hdf5WeightsTest, DamagedFilesEndInErrorsOrAreRead) {
  SKIP_WITHOUT_HDF5();
  WriteHdf5Weights(File("w.h5"), {{"a/b", {{0, {{2, 2}, {1, 2, 3, 4}}}, {1, {{2}, {5, 6}}}}},
                                  {"c", {{0, {{3}, {7, 8, 9}}}}}});
  const std::string whole = ReadWholeFile(File("w.h5"));
  std::mt19937 random(5);
  int read = 0;
  for (int i = 0; i < 500; ++i) {
    std::string bytes = whole;
    for (size_t changes = 1 + random() % 4; changes > 0; --changes) {
      const size_t at = random() % bytes.size();
      bytes.replace(at, 1 + random() % 4, 1 + random() % 4, static_cast<char>(random()));
    }
    if (i % 10 == 0) bytes.resize(random() % bytes.size());
    WriteFileAtomically(File("damaged.h5"), bytes);
    try {
      const CaffeWeightsFile file = Open(File("damaged.h5"));
      for (const CaffeLayerBlobs& layer : file.layers()) {
        for (const CaffeBlob& blob : layer.blobs) (void)file.ReadBlob(blob);
      }
      ++read;
    } catch (const EnforceNotMet&) {
    }
  }
  EXPECT_GT(read, 10);  // the damage is not so large that nothing is tested
  EXPECT_LT(read, 490);
}

// --- the process ---

TEST_F(Hdf5WeightsTest, EndOfTheProcessIsAnError) {
  WriteFileAtomically(File("w.h5"), "");
  Script("kill -SEGV $$");
  ExpectThrows(
      [&] { ReadHdf5Weights(File("w.h5")); },
      "the process that reads HDF5 ended by signal 11 without a result, want weights as "
      "Caffe writes them; the file is damaged or hostile; save the weights as a caffemodel");
  Script("exit 3");
  ExpectThrows([&] { ReadHdf5Weights(File("w.h5")); }, "ended with code 3 without a result");
  Script("exec sleep 1000");
  ExpectThrows([&] { ReadHdf5Weights(File("w.h5"), std::chrono::seconds(1)); },
               "the process that reads HDF5 took more than 1 s");
}

TEST_F(Hdf5WeightsTest, OutputOfTheProcessIsChecked) {
  WriteFileAtomically(File("w.h5"), "");
  Script("printf '\\001\\002\\003'; printf ok >&2");
  ExpectThrows([&] { Open(File("w.h5")); }, "w.h5");
  Script("printf 'a\\033[31mb' >&2");
  ExpectThrows([&] { ReadHdf5Weights(File("w.h5")); }, "as weights of Caffe: a\\x1b[31mb");
  // A report of several reads of the pipe, and one that is too long for an error.
  Script("printf '%0700d' 7 >&2");
  ExpectThrows([&] { ReadHdf5Weights(File("w.h5")); },
               "as weights of Caffe: " + std::string(699, '0') + "7");
  Script("printf '%0400d' 7 >&2; printf '%0400d' 5 >&2");
  ExpectThrows([&] { ReadHdf5Weights(File("w.h5")); },
               std::string(399, '0') + "7" + std::string(399, '0') + "5");
  Script("printf '%09000d' 7 >&2");
  ExpectThrows([&] { ReadHdf5Weights(File("w.h5")); },
               "as weights of Caffe: " + std::string(997, '0') + "...");
}

// A variable without a value names no program: the installed ones are looked for.
TEST_F(Hdf5WeightsTest, AnEmptyVariableNamesNoProgram) {
  WriteFileAtomically(File("w.h5"), "");
  setenv("CAFFE2RT_READ_HDF5", "", 1);
  try {
    ReadHdf5Weights(File("w.h5"));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const EnforceNotMet& error) {
    const std::string text = error.message();
    if (text.find("as weights of Caffe: ") == std::string::npos) {
      EXPECT_THAT(text, HasSubstr("/caffe2-read-hdf5; set CAFFE2RT_READ_HDF5"));
    }
  }
}

TEST_F(Hdf5WeightsTest, AProgramThatCannotBeRunIsAnErrorWithARemedy) {
  WriteFileAtomically(File("w.h5"), "");
  const std::string program = Script("");
  const std::string remedy =
      "; save the weights as a caffemodel (snapshot_format: BINARYPROTO) instead";
  for (const auto& [text, number] :
       {std::pair(std::string("#!/no/such/interpreter\n"), ENOENT), {"no program", ENOEXEC}}) {
    WriteFileAtomically(program, text);
    chmod(program.c_str(), 0700);
    try {
      ReadHdf5Weights(File("w.h5"));
      ADD_FAILURE() << "nothing was thrown";
    } catch (const EnforceNotMet& error) {
      EXPECT_EQ(error.message(), MakeString("cannot read \"", File("w.h5"), "\": cannot run \"",
                                            program, "\": errno ", number, remedy));
    }
  }
}

// A hundred times the file, 64 MiB at least, and no more than the memory that is left.
TEST_F(Hdf5WeightsTest, TheProcessGetsALimitThatFollowsTheFileAndTheMemory) {
  Script("printf '%s' \"$1\" >&2");
  const auto limit = [&](int64_t bytes) {
    WriteFileAtomically(File("w.h5"), "");
    std::filesystem::resize_file(File("w.h5"), static_cast<uintmax_t>(bytes));
    try {
      ReadHdf5Weights(File("w.h5"));
    } catch (const EnforceNotMet& error) {
      const std::string text = error.message(), head = "as weights of Caffe: ";
      return text.substr(text.find(head) + head.size());
    }
    return std::string("none");
  };
  EXPECT_EQ(limit(0), "67108864");
  EXPECT_EQ(limit(671088), "67108864");
  EXPECT_EQ(limit(671089), "67108900");
  EXPECT_EQ(limit(1000000), "100000000");
  const size_t before = GlobalCPUMemoryOptions().limit_bytes;
  const CPUMemoryReservation others(5000);
  const size_t used = GetCPUMemoryUsage().in_use_bytes;
  ASSERT_GE(used, 5000u);
  GlobalCPUMemoryOptions().limit_bytes = used + 12345;
  EXPECT_EQ(limit(0), "12345");
  EXPECT_EQ(limit(1000000), "12345");
  GlobalCPUMemoryOptions().limit_bytes = used + 80000000;
  EXPECT_EQ(limit(0), "67108864");
  EXPECT_EQ(limit(1000000), "80000000");
  GlobalCPUMemoryOptions().limit_bytes = before;
}

TEST_F(Hdf5WeightsTest, FilesAreKnownByTheirSignature) {
  const std::string signature = "\x89HDF\r\n\x1a\n";
  const auto is_hdf5 = [](const std::string& bytes) { return IsHdf5(MemoryInput(bytes)); };
  EXPECT_TRUE(is_hdf5(signature));
  EXPECT_TRUE(is_hdf5(signature + "more"));
  EXPECT_FALSE(is_hdf5(""));
  EXPECT_FALSE(is_hdf5(signature.substr(0, 7)));
  EXPECT_FALSE(is_hdf5(" " + signature));
  EXPECT_FALSE(is_hdf5("\x89HDF\r\n\x1a\r"));
}

TEST_F(Hdf5WeightsTest, AMissingProgramIsAnErrorWithARemedy) {
  WriteFileAtomically(File("w.h5"), "");
  setenv("CAFFE2RT_READ_HDF5", File("absent").c_str(), 1);
  ExpectThrows([&] { ReadHdf5Weights(File("w.h5")); },
               "HDF5 files are read by the program caffe2-read-hdf5, which belongs to builds with "
               "libhdf5-dev and is not installed as ");
}

// Variables of this process do not reach the program: they could make it load other code.
TEST_F(Hdf5WeightsTest, TheProgramHasNoVariables) {
  WriteFileAtomically(File("w.h5"), "\x89HDF\r\n\x1a\n");
  (void)Script("echo \"[$OF_THIS_PROCESS]\" > " + File("seen") + "\nexit 1");
  setenv("OF_THIS_PROCESS", "1", 1);
  EXPECT_THROW(ReadHdf5Weights(File("w.h5")), EnforceNotMet);
  unsetenv("OF_THIS_PROCESS");
  EXPECT_EQ(ReadWholeFile(File("seen")), "[]\n");
}

}  // namespace
}  // namespace caffe2rt::test::hdf5_weights_test
