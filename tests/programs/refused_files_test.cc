// Files and options that the commands refuse: whole messages and exit codes. No use leaves a file.

#include <absl/strings/str_replace.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "caffe2_core/io/image.h"
#include "caffe2_core/io/npy.h"
#include "tests/programs/program_runner.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::refused_files_test {
namespace {

using Words = std::vector<std::string>;

// DIR/ is the folder of the test.
struct Use {
  Words args;
  int code;
  const char* message;  // behind "caffe2: "
};

class RefusedFilesTest : public ::testing::Test {
 protected:
  RefusedFilesTest() {
    dir_.Write("net.pbtxt",
               R"(name: "n" external_input: "x" external_output: "y"
                  op { type: "Relu" input: "x" output: "y" })");
    WriteNpy(dir_.path("x.npy"), Ones<float>({1, 2}));
    WriteNpy(dir_.path("i.npy"), Ones<int32_t>({2}));
    dir_.Write("empty", "");
    for (const char* name : {"images/a.png", "images/b.png"}) {
      dir_.Write(name, "");
      SavePng(dir_.path(name), {.width = 2, .height = 2, .rgb = std::vector<uint8_t>(12, 7)});
    }
  }
  template <class T>
  static Tensor Ones(const std::vector<int64_t>& dims) {
    Tensor tensor(dims, CPU);
    std::fill_n(tensor.mutable_data<T>(), tensor.numel(), T{1});
    return tensor;
  }
  size_t Files() const {
    const std::filesystem::recursive_directory_iterator begin(dir_.path("")), end;
    return static_cast<size_t>(std::distance(begin, end));
  }
  void Check(const std::vector<Use>& uses, const ProgramSetup& setup = {}) const {
    const size_t files = Files();
    for (const Use& use : uses) {
      Words args;
      for (const std::string& arg : use.args)
        args.push_back(absl::StrReplaceAll(arg, {{"DIR/", dir_.path("")}}));
      const ProgramResult result = RunCaffe2(args, setup);
      EXPECT_EQ(result.code, use.code) << use.message;
      EXPECT_EQ(absl::StrReplaceAll(result.err, {{dir_.path(""), "DIR/"}}),
                "caffe2: " + std::string(use.message) + "\n");
      EXPECT_EQ(Files(), files) << use.message;
    }
  }
  static Words Joined(Words first, const Words& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  }
  // `caffe2 run` on the net, without and with a random input or an image.
  static Words Run(const Words& more) {
    return Joined({"run", "--predict-net", "DIR/net.pbtxt"}, more);
  }
  static Words RunX(const Words& more) { return Joined(Run({"--input", "x=1,2"}), more); }
  static Words RunImage(const Words& more) {
    return Joined(Run({"--image", "x=DIR/images/a.png"}), more);
  }
  const TempDir dir_;
};

TEST_F(RefusedFilesTest, DataSetsAndDatabases) {
  ASSERT_EQ(
      RunCaffe2({"db", "make", "arrays", dir_.path("x.npy"), "--output", dir_.path("x.minidb")})
          .code,
      0);
  const auto make = [](const Words& more) {
    return Joined(Joined({"db", "make"}, more), {"--output", "DIR/new.minidb"});
  };
  const char* const mnist = "db make mnist takes a file of images and one of labels";
  Check({
      {{"db"},
       2,
       "an action is missing, want caffe2 db make, list, info, convert, split or throughput"},
      {{"db", "lits", "DIR/x.minidb"},
       2,
       "action \"lits\" of db is not known, want make, list, info, convert, split or throughput; "
       "did you mean list?"},
      {{"db", "list"}, 2, "0 databases are given, want one"},
      {{"db", "info", "DIR/x.minidb", "DIR/x.minidb"}, 2, "2 databases are given, want one"},
      {{"db", "info", "DIR/x.npy"},
       1,
       "file \"DIR/x.npy\" is a NumPy array (.npy), want a database; --as specifies the kind"},
      {{"db", "info", "DIR/x.minidb", "--limit", "1"},
       2,
       "option --limit does not apply to `caffe2 db info`"},
      {{"db", "make"}, 2, "the data set is missing, want db make mnist, cifar, images or arrays"},
      {make({"mnsit"}), 2,
       "data set \"mnsit\" is not known, want mnist, cifar, images or arrays; did you mean mnist?"},
      {make({"mnist", "DIR/empty"}), 2, mnist},
      {make({"mnist", "DIR/empty", "DIR/empty", "DIR/empty"}), 2, mnist},
      {make({"mnist", "DIR/empty", "DIR/empty", "--cifar100"}), 2,
       "option --cifar100 does not apply to `caffe2 db make mnist`"},
      {make({"cifar", "DIR/empty", "--coarse"}), 2, "option --coarse needs --cifar100"},
      {make({"cifar", "DIR/empty", "--test"}), 2,
       "option --test chooses the files of a folder, but files are given"},
      {make({"images", "DIR/images"}), 1,
       "folder \"DIR/images\" has no folders, want one for each class, with its images"},
      {make({"images", "DIR/images", "--seed", "3"}), 2, "option --seed needs --shuffle"},
      {make({"arrays", "DIR/x.npy", "--limit", "-1"}), 2,
       "option --limit is \"-1\", want a number from 0 to 9223372036854775807"},
      {make({"arrays", "DIR/x.npy", "--db-type", "protodb"}), 1,
       "database type \"protodb\" is not known, want lmdb, leveldb or minidb"},
      {{"db", "make", "arrays", "DIR/x.npy", "--output", "DIR/new"},
       1,
       "the name \"DIR/new\" states no type of database, want one that ends in .lmdb, .leveldb or "
       ".minidb, or --db-type"},
      {{"db", "throughput", "DIR/x.minidb", "--readers", "2", "--batch-size", "2"},
       1,
       "--readers with --batch-size: an operator is one reader: got 2, want 1"},
      {{"db", "throughput", "DIR/x.minidb", "--readers", "0"},
       2,
       "option --readers is \"0\", want a number from 1 to 1024"},
      {{"db", "split", "DIR/x.minidb", "--output", "DIR/part"},
       1,
       "records of the last of 2 parts of \"DIR/x.minidb\": got 0, want more than 0"},
  });
}

TEST_F(RefusedFilesTest, ImagesAndHowTheyArePrepared) {
  std::filesystem::create_directory(dir_.path("none"));
  dir_.Write("bgra.pbtxt",
             R"(name: "b" op { type: "PackedInt8BGRANHWCToNCHWCStylizerPreprocess"
                               input: "x" input: "mean" output: "y" })");
  WriteNpy(dir_.path("two.npy"), Ones<float>({2}));
  const auto bgra = [](const Words& more) {
    return Joined({"run", "--predict-net", "DIR/bgra.pbtxt", "--input", "mean=1.,1.,1.", "--image",
                   "x=DIR/images/a.png"},
                  more);
  };
  Check({
      {RunImage({"--bgr", "--grey"}), 2, "options --bgr and --grey are mutually exclusive"},
      {RunImage({"--interpolation", "linaer"}), 2,
       "option --interpolation is \"linaer\", want one of nearest, linear, cubic, area, box, "
       "bilinear, hamming, bicubic, lanczos; did you mean linear?"},
      {RunImage({"--std", "0"}), 2, "option --std is \"0\", want numbers other than 0"},
      {RunImage({"--std", "1,1,0"}), 2, "option --std is \"1,1,0\", want numbers other than 0"},
      {RunImage({"--std", "1,2"}), 2, "option --std has 2 numbers, want 1 or 3"},
      {RunImage({"--resize", "100001"}), 2,
       "option --resize is \"100001\", want a number or WIDTHxHEIGHT, sides up to 100000"},
      {RunImage({"--resize", "1x100001"}), 2,
       "option --resize is \"1x100001\", want a number or WIDTHxHEIGHT, sides up to 100000"},
      {RunImage({"--resize", "1x1x1"}), 2,
       "option --resize is \"1x1x1\", want a number or WIDTHxHEIGHT, sides up to 100000"},
      {RunImage({"--crop", "-1"}), 2,
       "option --crop is \"-1\", want a number or WIDTHxHEIGHT, sides up to 100000"},
      {RunImage({"--mean", "DIR/i.npy"}), 1,
       "mean file \"DIR/i.npy\" has elements of type int32, want float"},
      {RunImage({"--mean", "DIR/x.npy"}), 1,
       "mean file \"DIR/x.npy\" has shape [1, 2], want [C, H, W], [1, C, H, W] or [C]"},
      {RunImage({"--mean", "DIR/two.npy"}), 1,
       "image \"DIR/images/a.png\": the mean image has shape [2, 1, 1], want at least that of the "
       "image, [3, 2, 2]; --resize or --crop makes the image smaller"},
      {bgra({"--mean", "1"}), 2,
       "option --mean does not apply: operator PackedInt8BGRANHWCToNCHWCStylizerPreprocess of the "
       "net reads the bytes of the image"},
      {bgra({"--grey"}), 2,
       "option --grey does not apply: operator PackedInt8BGRANHWCToNCHWCStylizerPreprocess of the "
       "net reads the bytes of the image"},
      {Run({"--image", "x=DIR/nofile"}), 1, "cannot read \"DIR/nofile\": no such file or folder"},
      {Run({"--image", "x=DIR/none"}), 1,
       "folder \"DIR/none\" contains no JPEG or PNG image and no .npy file"},
      {Run({"--image-list", "DIR/empty"}), 1,
       "file \"DIR/empty\" names no images, want one file on each line"},
      {Run({"--input", "x=DIR/images", "--image", "DIR/images/a.png"}), 2,
       "folder \"DIR/images\" is given beside \"DIR/images/a.png\", want one folder or --image"},
      {RunX({"--image", "x=DIR/images/a.png"}), 2,
       "blob \"x\" is given by both --input and --image"},
  });
}

TEST_F(RefusedFilesTest, StreamsBesideOtherImages) {
  dir_.Write("list", dir_.path("images/a.png") + "\n");
  Check(
      {
          {Run({"--image", "x=DIR/images/a.png", "--image", "x=-", "--json-lines"}), 2,
           "option --image is \"-\", which has several images, beside other images"},
          {Run({"--image", "x=-", "--image-list", "DIR/list", "--json-lines"}), 2,
           "images of standard input are given beside other images"},
          {{"quantize", "--predict-net", "DIR/net.pbtxt", "--output-predict-net", "DIR/q.pb",
            "--image", "x=-", "--image", "x=-"},
           2,
           "standard input is given for --image x=- and --image x=-, want at most one argument; "
           "<(...) of the shell reads another command"},
      },
      {.in = dir_.path("images/a.png")});
}

TEST_F(RefusedFilesTest, InputsOfOtherKinds) {
  WriteNpz(dir_.path("two.npz"), {{"a", Ones<float>({1, 2})}, {"b", Ones<float>({1, 2})}});
  dir_.Write("text.pbtxt", R"(name: "b" type: "std::string" content: "abc")");
  Check({
      {Run({"--input", "x=DIR/two.npz"}), 1,
       "file \"DIR/two.npz\" contains 2 tensors, none of them named \"x\": \"a\", \"b\""},
      {Run({"--input", "x=DIR/net.pbtxt"}), 1,
       "cannot read \"DIR/net.pbtxt\" as an input: it is a NetDef; want .npy, .npz, "
       "TensorProto(s), JPEG or PNG"},
      {Run({"--input", "x=DIR/text.pbtxt"}), 1,
       "cannot read \"DIR/text.pbtxt\" as an input: its blob \"b\" is a \"std::string\""},
      {Run({"--input", "x=[1,[2]]"}), 2,
       "option --input has \"[1,[2]]\", want numbers in lists of equal length, such as [[1, 2], "
       "[3, 4]]"},
      {Run({"--input", "x=[\"a\"]"}), 2,
       "option --input has \"[\"a\"]\", want numbers in lists of equal length, such as [[1, 2], "
       "[3, 4]]"},
      {RunX({"--input", "x=1,2"}), 2, "blob \"x\" is given by more than one --input option"},
      {RunX({"--seed", "4294967296"}), 2,
       "option --seed is \"4294967296\", want a number from 0 to 4294967295"},
  });
  dir_.Write("empty.onnx", "");
  const char* const dim = "option --dim is \"batch=1,2\", want NAME=NUMBER, such as batch=8";
  Check({
      {{"run", "DIR/empty.onnx", "--dim", "a"},
       2,
       "option --dim is \"a\", want NAME=NUMBER, such as batch=8"},
      {{"run", "DIR/empty.onnx", "--dim", "batch=1,2"}, 2, dim},
  });
}

TEST_F(RefusedFilesTest, ModelsAndDevices) {
  dir_.Write("plan.pbtxt", R"(name: "p" execution_step { name: "s" num_iter: 2 })");
  dir_.Write("w.pbtxt", R"(name: "w" op { type: "GivenTensorFill" output: "x"
                             arg { name: "shape" ints: 2 } arg { name: "values" floats: [1, nan] } })");
  Check({
      {RunX({"--device", "cuad"}), 2,
       "option --device is \"cuad\", want auto, cpu, cuda or cuda:N; did you mean cuda?"},
      {RunX({"--predictor", "DIR/x"}), 2,
       "--predictor and --predict-net are both given, want only one"},
      {{"run"}, 2, "want --predict-net FILE or --predictor DB, see --help"},
      {{"inspect", "DIR/plan.pbtxt", "--svg", "-"},
       1,
       "file \"DIR/plan.pbtxt\" contains no net to draw"},
      {RunX({"--without-pass", "fuse_rleu"}), 2,
       "option --without-pass is \"fuse_rleu\", want a name that caffe2 optimize --passes lists; "
       "did you mean fuse_gelu?"},
      {RunX({"--without-pass", "fuse_gelu", "--without-pass", "foo"}), 2,
       "option --without-pass is \"foo\", want a name that caffe2 optimize --passes lists"},
      {RunX({"--precision", "auto", "--min-snr", "201"}), 2,
       "option --min-snr is \"201\", want a number from 0 to 200"},
      {{"convert", "DIR/net.pbtxt", "--to", "caffe2"},
       1,
       "cannot convert to caffe2: only text, binary, onnx and formats of tensors are supported"},
      {{"run", "--predict-net", "DIR/net.pbtxt", "--init-net", "DIR/w.pbtxt", "--check-finite"},
       1,
       "blob \"x\" has 1 NaN and 0 infinite of 2 elements, the first at element 1, before the net "
       "runs; an init net or the file sets it"},
      {{"bench", "--predict-net", "DIR/net.pbtxt", "--against", "DIR/empty", "--fail-above", "1,2"},
       2,
       "option --fail-above is \"1,2\", want a percentage such as 5 or 2.5"},
      {{"bench", "--predict-net", "DIR/net.pbtxt", "--against", "DIR/empty", "--fail-above", "-1"},
       2,
       "option --fail-above is \"-1\", want a percentage such as 5 or 2.5"},
      {{"compare", "DIR/x.npy", "DIR/x.npy", "--image-list", "DIR/empty"},
       2,
       "--input, --image and --init-net are given, but \"DIR/x.npy\" is not a net"},
      {{"compare", "DIR/x.npy", "DIR/x.npy", "--tol", "inf"},
       2,
       "option --tol is \"inf\", want ABS or ABS,REL with numbers that are 0 or greater"},
  });
}

TEST_F(RefusedFilesTest, PackingWithoutPreparation) {
  const auto pack = [](const Words& more) {
    return Joined({"pack", "--predict-net", "DIR/net.pbtxt", "--output", "DIR/p.c2pack"}, more);
  };
  const char* const run = "--input or --image is given without --prepare, which runs the net on it";
  Check({
      {pack({"--input", "x=1,2"}), 2, run},
      {pack({"--image", "x=DIR/images/a.png"}), 2, run},
      {pack({"--image-list", "DIR/empty"}), 2, run},
      {pack({"--no-optimize"}), 2,
       "--no-optimize is given without --prepare, which optimizes the net"},
      {pack({"--precision", "int8"}), 2,
       "--precision is given without --prepare, which optimizes the net"},
      {pack({"--prepare", "--input", "x=1,2", "--store-weights", "int8"}), 2,
       "--store-weights int8 is given with --prepare, which stores weights in full"},
      {pack({"--prepare", "--input", "x=1,2", "--weights", "f16"}), 2,
       "--store-weights f16 is given with --prepare, which stores weights in full"},
      {pack({"--store-weights", "f61"}), 2,
       "option --store-weights is \"f61\", want f32, f16 or int8; did you mean f16?"},
  });
}

TEST_F(RefusedFilesTest, ExamplesOfQuantize) {
  WriteNpz(dir_.path("scalar.npz"), {{"x", Ones<float>({})}});
  WriteNpz(dir_.path("rowless.npz"), {{"x", Ones<float>({0, 2})}});
  WriteNpz(dir_.path("uneven.npz"), {{"x", Ones<float>({2, 2})}, {"z", Ones<float>({3, 2})}});
  WriteNpz(dir_.path("x.npz"), {{"x", Ones<float>({2, 2})}});
  dir_.Write("two.pbtxt", R"(name: "t" op { type: "Add" input: "x" input: "z" output: "y" })");
  const auto quantize = [](const Words& more, const std::string& net = "DIR/net.pbtxt") {
    return Joined({"quantize", "--predict-net", net, "--output-predict-net", "DIR/q.pb"}, more);
  };
  const char* const none =
      "want examples to measure ranges on: --calibrate FOLDER or FILE.npz, --image FOLDER, or "
      "--input BLOB=FILE.npy";
  Check({
      {quantize({"--calibrate", "DIR/images", "--image", "x=DIR/images"}), 2,
       "--calibrate and --image both name examples, want one of them"},
      {quantize({"--calibrate", "DIR/images", "--image-list", "DIR/empty"}), 2,
       "--calibrate and --image both name examples, want one of them"},
      {quantize({"--calibrate", "DIR/nofile"}), 1,
       "cannot read \"DIR/nofile\": no such file or folder"},
      {quantize({}), 2, none},
      {quantize({"--input", "x=1,2"}), 2, none},
      {quantize({"--calibrate", "DIR/scalar.npz"}), 1,
       "array \"x\" of file \"DIR/scalar.npz\" has shape [], want at least one row, which is one "
       "example"},
      {quantize({"--calibrate", "DIR/rowless.npz"}), 1,
       "array \"x\" of file \"DIR/rowless.npz\" has shape [0, 2], want at least one row, which is "
       "one example"},
      {quantize({"--calibrate", "DIR/uneven.npz"}, "DIR/two.pbtxt"), 1,
       "rows of array \"z\" of file \"DIR/uneven.npz\", each one example, beside array \"x\": got "
       "3, want 2"},
      {quantize({"--calibrate", "DIR/x.npz", "--input", "x=DIR/x.npy"}), 2,
       "blob \"x\" is given by both --input and --calibrate"},
      {{"quantize", "--predict-net", "DIR/net.pbtxt"},
       2,
       "want --output-predict-net FILE, see --help"},
      {quantize({"--input", "x=DIR/x.npy", "--max-drop", "101"}), 2,
       "option --max-drop is \"101\", want a number from 0 to 100"},
      {quantize({"--input", "x=DIR/x.npy", "--min-snr", "nan"}), 2,
       "option --min-snr is \"nan\", want a number from 0 to 200"},
      {quantize({"--input", "x=DIR/x.npy", "--headroom", "1001"}), 2,
       "option --headroom is \"1001\", want a number from 0 to 1000"},
  });
  // Numbers and nothing else.
  for (const char* text : {"30dB", "1,5", "5 ", " 5", "", "0x10", "1e", "-0.5", "inf"}) {
    for (const auto& [name, most] :
         {std::pair("min-snr", "200"), {"max-drop", "100"}, {"headroom", "1000"}}) {
      const std::string option = std::string("--") + name;
      const std::string message =
          "option " + option + " is \"" + text + "\", want a number from 0 to " + most;
      Check({{quantize({"--input", "x=DIR/x.npy", option + "=" + text}), 2, message.c_str()}});
    }
  }
}

TEST_F(RefusedFilesTest, PlansAndTheirOptions) {
  dir_.Write("plan.pbtxt", R"(name: "p"
      network { name: "fill" op { type: "ConstantFill" output: "x" } }
      network { name: "later" op { type: "Copy" input: "x" output: "late" } }
      execution_step { network: "fill" } execution_step { network: "later" num_iter: 0 })");
  const auto plan = [](const Words& more) { return Joined({"plan", "DIR/plan.pbtxt"}, more); };
  Check({
      {plan({"--device", "cup"}), 2,
       "option --device is \"cup\", want auto or cpu: a plan's nets specify their devices; did you "
       "mean cpu?"},
      {plan({"--device", "cuda"}), 2,
       "option --device is \"cuda\", want auto or cpu: a plan's nets specify their devices"},
      {plan({"--on-interrupt", "lates"}), 2,
       "option --on-interrupt is \"lates\", which is no net of the plan; did you mean later?"},
      {plan({"--fetch", "q"}), 2,
       "option --fetch: the plan's nets do not make blob \"q\"; close: \"x\""},
  });
}

TEST_F(RefusedFilesTest, TrainingsWithoutWhatTheyNeed) {
  dir_.Write("train.pbtxt", R"(net { op { type: "FC" input: ["data", "w", "b"] output: "y" } })");
  const auto train = [](const Words& more) {
    return Joined({"train", "DIR/train.pbtxt", "--output", "DIR/run"}, more);
  };
  Environment environment;
  Check({
      {train({}), 2, "the data are missing; want --data DB, from caffe2 db make"},
      {{"train", "DIR/train.pbtxt", "--data", "DIR/x"},
       2,
       "the folder of the run is missing; want --output RUN"},
      {train({"--loss", "y"}), 2, "option --loss applies to --predict-net only"},
      {train({"--data", "DIR/x", "--rate", "1,2"}), 2, "option --rate is \"1,2\", want one number"},
      {train({"--data", "DIR/x", "--batch-size", "1048577"}), 2,
       "option --batch-size is \"1048577\", want a number from 1 to 1048576"},
      {train({"--store", "DIR/s"}), 2, "option --store is \"DIR/s\", want file:DIR"},
      {train({"--store", "file:"}), 2, "option --store is \"file:\", want file:DIR"},
      {train({"--rank", "0"}), 2, "option --rank is given without --size"},
      {train({"--ranks", "2", "--rank", "0"}), 2,
       "option --ranks, which starts processes, does not go with --rank, which numbers this one"},
      {{"train", "--resume", "DIR/run", "--epochs", "2"},
       2,
       "option --epochs does not apply to --resume"},
  });
  environment.Set("RANK", "1");
  environment.Set("WORLD_SIZE", "2");
  Check({
      {train({}), 2,
       "RANK and WORLD_SIZE state 2 ranks, which need --store file:DIR, a folder that all of them "
       "see"},
      {train({"--ranks", "3"}), 2,
       "option --ranks is 3, but RANK and WORLD_SIZE state that a launcher has started 2 "
       "processes; leave --ranks out"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::refused_files_test
