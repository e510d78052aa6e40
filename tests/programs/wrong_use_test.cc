// Wrong uses of the commands: each has its exit code and its whole message, and nothing is written.

#include <absl/strings/str_replace.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "caffe2_core/io/db.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/npy.h"
#include "tests/programs/program_runner.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::wrong_use_test {
namespace {

// DIR is the folder of the test: net.pbtxt (y = relu(x)), x.npy (float [1, 2]), i.npy (int32 [2]), mean.npy (float [2,
// 3, 3]), the folder "images" with a.png and b.png of 2 x 2 pixels, an empty file "empty", and files of JSON.
struct Use {
  std::vector<std::string> args;
  int code;
  const char* message;  // behind "caffe2: "
};

class WrongUseTest : public ::testing::Test {
 protected:
  WrongUseTest() {
    dir_.Write(
        "net.pbtxt",
        R"(name: "n" external_input: "x" external_output: "y" op { type: "Relu" input: "x" output: "y" })");
    Tensor x({1, 2}, CPU), i({2}, CPU), mean({2, 3, 3}, CPU);
    std::fill_n(x.mutable_data<float>(), x.numel(), 1.0f);
    std::fill_n(i.mutable_data<int32_t>(), i.numel(), 1);
    std::fill_n(mean.mutable_data<float>(), mean.numel(), 1.0f);
    WriteNpy(dir_.path("x.npy"), x);
    WriteNpy(dir_.path("i.npy"), i);
    WriteNpy(dir_.path("mean.npy"), mean);
    dir_.Write("empty", "");
    dir_.Write("text.json", "not json");
    dir_.Write("list.json", "[1]");
    dir_.Write("object.json", "{\"median_ms\": 1}");
    const std::string net = "{\"net\": \"n\", \"threads\": 1";
    dir_.Write("numbers.json", net + ", \"median_ms\": 1, \"operators\": [1]}");
    dir_.Write("whole.json", net + ", \"median_ms\": 1}");
    dir_.Write("timeless.json", net + ", \"operators\": []}");
    dir_.Write("images/a.png", "");
    for (const char* name : {"images/a.png", "images/b.png"})
      SavePng(dir_.path(name), {.width = 2, .height = 2, .rgb = std::vector<uint8_t>(12, 7)});
  }
  size_t Files() const {
    const std::filesystem::recursive_directory_iterator begin(dir_.path("")), end;
    return static_cast<size_t>(std::distance(begin, end));
  }
  void Check(const std::vector<Use>& uses) const {
    const size_t files = Files();
    for (const Use& use : uses) {
      std::vector<std::string> args;
      for (const std::string& arg : use.args)
        args.push_back(absl::StrReplaceAll(arg, {{"DIR/", dir_.path("")}}));
      const ProgramResult result = RunCaffe2(args);
      EXPECT_EQ(result.code, use.code) << use.message;
      EXPECT_EQ(absl::StrReplaceAll(result.err, {{dir_.path(""), "DIR/"}}),
                "caffe2: " + std::string(use.message) + "\n");
      EXPECT_EQ(Files(), files) << use.message;
    }
  }
  // `caffe2 run` on the net.
  static std::vector<std::string> Run(std::vector<std::string> more) {
    const std::vector<std::string> run = {"run", "--predict-net", "DIR/net.pbtxt"};
    more.insert(more.begin(), run.begin(), run.end());
    return more;
  }
  // With a random input, too.
  static std::vector<std::string> RunX(std::vector<std::string> more) {
    const std::vector<std::string> input = {"--input", "x=1,2"};
    more.insert(more.begin(), input.begin(), input.end());
    return Run(std::move(more));
  }
  static std::vector<std::string> RunImage(std::vector<std::string> more) {
    const std::vector<std::string> image = {"--image", "x=DIR/images/a.png"};
    more.insert(more.begin(), image.begin(), image.end());
    return Run(std::move(more));
  }
  static std::vector<std::string> RunImages(std::vector<std::string> more) {
    const std::vector<std::string> image = {"--image", "x=DIR/images"};
    more.insert(more.begin(), image.begin(), image.end());
    return Run(std::move(more));
  }
  const TempDir dir_;
};

TEST_F(WrongUseTest, NumbersOutOfTheirBounds) {
  Check({
      {RunX({"--iterations", "0"}), 2,
       "option --iterations is \"0\", want a number from 1 to 1000000000"},
      {RunX({"--iterations", "1000000001"}), 2,
       "option --iterations is \"1000000001\", want a number from 1 to 1000000000"},
      {RunX({"--iterations", "a"}), 2,
       "option --iterations is \"a\", want a number from 1 to 1000000000"},
      {RunX({"--top", "0"}), 2, "option --top is \"0\", want a number from 1 to 1000000"},
      {RunX({"--threads", "0"}), 2, "option --threads is \"0\", want a number from 1 to 1024"},
      {RunX({"--threads", "1025"}), 2,
       "option --threads is \"1025\", want a number from 1 to 1024"},
      {RunX({"--timeout", "-1"}), 2,
       "option --timeout is \"-1\", want a number of seconds above 0, at most 1e9"},
      {RunX({"--memory-limit", "5Q"}), 2,
       "option --memory-limit is \"5Q\", want bytes, such as 512M or 4G"},
      {RunImages({"--batch", "0"}), 2, "option --batch is \"0\", want a number from 1 to 65536"},
      {RunImages({"--batch", "65537"}), 2,
       "option --batch is \"65537\", want a number from 1 to 65536"},
      {RunImage({"--resize", "0x3"}), 2,
       "option --resize is \"0x3\", want a number or WIDTHxHEIGHT, sides up to 100000"},
      {RunImage({"--crop", "3x"}), 2,
       "option --crop is \"3x\", want a number or WIDTHxHEIGHT, sides up to 100000"},
      {RunImage({"--mean", "1,a,3"}), 2,
       "option --mean is \"1,a,3\", want comma-separated numbers"},
      {RunImage({"--mean", "1,2"}), 2, "option --mean has 2 numbers, want 1 or 3"},
      {RunImage({"--scale", "1,2,"}), 2,
       "option --scale is \"1,2,\", want comma-separated numbers"},
      {RunImage({"--scale", "1,2,3,4"}), 2, "option --scale has 4 numbers, want 1 or 3"},
      {{"bench", "--predict-net", "DIR/net.pbtxt", "--input", "x=1,2", "--iterations", "0"},
       2,
       "option --iterations is \"0\", want a number from 1 to 10000000"},
      {{"bench", "--predict-net", "DIR/net.pbtxt", "--input", "x=1,2", "--warmup", "-1"},
       2,
       "option --warmup is \"-1\", want a number from 0 to 1000000"},
      {{"compare", "DIR/net.pbtxt", "DIR/net.pbtxt", "--input", "x=1,2", "--tol", "1,2,3"},
       2,
       "option --tol is \"1,2,3\", want ABS or ABS,REL with numbers that are 0 or greater"},
      {{"compare", "DIR/net.pbtxt", "DIR/net.pbtxt", "--input", "x=1,2", "--tol", "-1"},
       2,
       "option --tol is \"-1\", want ABS or ABS,REL with numbers that are 0 or greater"},
  });
}

TEST_F(WrongUseTest, NamesThatAreNotOfTheirSet) {
  Check({
      {RunX({"--precision", "int9"}), 2,
       "option --precision is \"int9\", want f32, bf16, int8 or auto"},
      {RunX({"--executor", "foo"}), 1,
       "executor \"foo\" is not a built-in net type, want for example simple or async_scheduling"},
      {RunX({"--phase", "tset"}), 2, "option --phase is \"tset\", want test or train"},
      {Run({"--input", "x=DIR/i.npy", "--cast", "foat"}), 2,
       "option --cast is \"foat\", want [BLOB=]TYPE, TYPE one of float, double, int32, int64, "
       "uint8, int8, int16, "
       "uint16, bool, uint32, uint64, bfloat16; did you mean float?"},
      {{"compare", "DIR/net.pbtxt", "DIR/net.pbtxt", "--input", "x=1,2", "--optimize", "frist"},
       2,
       "option --optimize is \"frist\", want first, second, both or none; did you mean first?"},
      {{"convert", "DIR/net.pbtxt", "--to", "png"},
       2,
       "option --to is \"png\", want text, binary, npy, npz, tensorprotos, minidb, leveldb, lmdb, "
       "onnx"},
      {{"receipt", "comapre", "DIR/a", "DIR/b"},
       2,
       "caffe2 receipt is given \"comapre\", want compare; did you mean compare?"},
      {{"outputs"}, 2, "command \"outputs\" is not known (`caffe2 --help` lists all)"},
  });
}

TEST_F(WrongUseTest, InputsThatAreNone) {
  Check({
      {Run({"--input", "x"}), 2,
       "option --input is \"x\", want BLOB=FILE or BLOB=SHAPE, SHAPE as 1,3,224,224"},
      {Run({"--input", "DIR/x.npy"}), 2,
       "file \"DIR/x.npy\" contains no blob name; want --input BLOB=DIR/x.npy"},
      {Run({"--input", "x=[[1,2],[3]]"}), 2,
       "option --input has \"[[1,2],[3]]\", want numbers in lists of equal length, such as [[1, "
       "2], [3, 4]]"},
      {RunX({"--input-shape", "q"}), 2,
       "option --input-shape is \"q\", want BLOB=DIMS, DIMS as 1,3,224,224"},
      {RunX({"--labels", "DIR/empty"}), 1,
       "file \"DIR/empty\" contains no labels, want one per line"},
      {{"inspect", "DIR/net.pbtxt", "--input", "x"},
       2,
       "option --input is \"x\", want BLOB=SHAPE, SHAPE as 1,3,224,224"},
      {RunImage({"--image", "y=DIR/images/b.png"}), 2,
       "images are given for the blobs \"x\" and \"y\", want one blob"},
      {RunImage({"--mean", "DIR/mean.npy"}), 1,
       "image \"DIR/images/a.png\": the mean image has shape [2, 3, 3], want at least that of the "
       "image, [3, 2, 2]; "
       "--resize or --crop makes the image smaller"},
      {{"compare", "DIR/net.pbtxt", "DIR/net.pbtxt", "--image", "x=DIR/images"},
       2,
       "option --image gives several images, want one"},
      {{"compare", "DIR/x.npy", "DIR/mean.npy", "--input", "x=1,2"},
       2,
       "--input, --image and --init-net are given, but \"DIR/x.npy\" is not a net"},
      {{"bench", "--predict-net", "DIR/net.pbtxt", "--input", "x=1,2", "--against",
        "DIR/text.json"},
       1,
       "file \"DIR/text.json\" is not a result of `caffe2 bench --json`: it is not JSON"},
      {{"bench", "--predict-net", "DIR/net.pbtxt", "--input", "x=1,2", "--against",
        "DIR/list.json"},
       1,
       "file \"DIR/list.json\" is not a result of `caffe2 bench --json`: it is not a JSON object"},
      {{"bench", "--predict-net", "DIR/net.pbtxt", "--input", "x=1,2", "--against",
        "DIR/object.json"},
       1,
       "file \"DIR/object.json\" is not a result of `caffe2 bench --json`: key \"net\" is not a "
       "string"},
  });
}

TEST_F(WrongUseTest, EarlierResultsOfBench) {
  const auto bench = [](const std::string& file) {
    return std::vector<std::string>{"bench", "--predict-net", "DIR/net.pbtxt", "--input",
                                    "x=1,2", "--against",     "DIR/" + file};
  };
  Check({
      {bench("numbers.json"), 1,
       "file \"DIR/numbers.json\" is not a result of `caffe2 bench --json`: an operator is not a "
       "JSON object"},
      {bench("whole.json"), 1,
       "file \"DIR/whole.json\" is not a result of `caffe2 bench --json`: key \"operators\" is not "
       "an array"},
      {bench("timeless.json"), 1,
       "file \"DIR/timeless.json\" is not a result of `caffe2 bench --json`: key \"median_ms\" is "
       "not a number of at "
       "least 0"},
  });
}

TEST_F(WrongUseTest, OptionsThatNeedOrExcludeOthers) {
  Check({
      {RunX({"--json-lines"}), 2, "option --json-lines is given without images, want --json"},
      {RunX({"--save-image", "y"}), 2,
       "option --save-image is \"y\", want BLOB=FILE.png, or FILE.png with --boxes"},
      {RunX({"--save-image", "y=DIR/y.txt"}), 2,
       "cannot write \"DIR/y.txt\" as an image: its name ends in neither .png nor .jpg"},
      {RunX({"--receipt-all"}), 2,
       "option --receipt-all is given without --receipt FILE, where it is written"},
      {RunImages({"--save-image", "y=DIR/y.png"}), 2,
       "option --save-image is given with several images, want one"},
      {RunImages({"--receipt", "DIR/r.json"}), 2,
       "option --receipt is given with several images, want one"},
      {RunImages({"--stats"}), 2,
       "options --stats and --fetch all are given with several images, want one"},
      {RunImages({"--fetch", "all"}), 2,
       "options --stats and --fetch all are given with several images, want one"},
      {{"bench", "--predict-net", "DIR/net.pbtxt", "--input", "x=1,2", "--fail-above", "3"},
       2,
       "option --fail-above is given without --against FILE"},
      {{"gradients", "--predict-net", "DIR/net.pbtxt", "--loss", "y"},
       2,
       "option --output is missing"},
      {{"gradients", "--predict-net", "DIR/net.pbtxt", "--loss", "y", "--verify"},
       1,
       "net \"n\": input \"x\" was not given; want --input BLOB=VALUE, or --init-net FILE, for "
       "each"},
      {{"run", "DIR/absent.pb"}, 1, "cannot open \"DIR/absent.pb\": no such file"},
      {{"bench", "absent"}, 1, "cannot open \"absent\": no such file"},
      {{"pack", "--predict-net", "DIR/net.pbtxt", "DIR/n.c2", "--weights", "int4"},
       2,
       "option --weights is \"int4\", want f32, f16, int8 or the file of a caffemodel; did you "
       "mean "
       "int8?"},
      {{"convert", "DIR/net.pbtxt", "--to", "onnx"}, 2, "want --output FILE.onnx"},
      {{"convert", "DIR/x.npy", "--output", "DIR/a.foo"},
       2,
       "option --output is \"DIR/a.foo\", whose name states no format; want --to text, npy, "
       "npz, tensorprotos, minidb, leveldb or lmdb"},
      {{"convert", "DIR/x.npy", "--to", "npy"},
       2,
       "tensors are converted to a file; want --output FILE"},
      {{"convert", "DIR/net.pbtxt", "--to", "npy", "--output", "DIR/a.npy"},
       1,
       "file \"DIR/net.pbtxt\" is a NetDef, want .npy, .npz, TensorProto(s), BlobProto or a "
       "database; --as specifies "
       "the kind"},
      {{"convert", "DIR/x.npy", "--to", "lmdb", "--output", "-"},
       2,
       "option --output is \"-\", but a database is not written to standard output"},
      {{"db", "make", "arrays", "DIR/x.npy", "DIR/x.npy"},
       2,
       "the new database has no name; want --output PATH"},
      {{"db", "make", "images", "DIR/images", "--size", "0", "--output", "DIR/q.lmdb"},
       2,
       "option --size needs --raw"},
      {{"db", "make", "images", "DIR/images", "DIR/images", "--output", "DIR/q.lmdb"},
       2,
       "db make images takes a folder with a folder of images for each class"},
      {{"inspect", "DIR/x.npy", "--svg", "-"},
       1,
       "file \"DIR/x.npy\" is a NumPy array (.npy), want a net to draw; --as specifies the kind"},
      {{"inspect", "DIR/x.npy", "--as", "NetDef"},
       1,
       "cannot read \"DIR/x.npy\" as NetDef: it is a NumPy array (.npy)"},
      {{"check", "DIR/x.npy"},
       1,
       "file \"DIR/x.npy\" is a NumPy array (.npy), want a NetDef, PlanDef, MetaNetDef, a packed "
       "model or a "
       "predictor's database; --as specifies the kind"},
      {{"train", "DIR/net.pbtxt", "--output", "DIR/o"},
       1,
       "cannot read \"DIR/net.pbtxt\" as TrainDef: line 1, column 11: Message type \"TrainDef\" "
       "has no field named "
       "\"external_input\""},
  });
}

TEST_F(WrongUseTest, CommandsWithoutWhatTheyNeed) {
  const std::string net = "DIR/net.pbtxt";
  Check({
      {{"bench", "--predict-net", net, "--input", "x=1,2", "--tune", "DIR/t.txt"},
       1,
       "net \"n\" has no convolution of a known shape to time"},
      {{"inspect", "DIR/x.npy", "--as", "Foo"},
       2,
       "option --as is \"Foo\", which is not a kind of file"},
      {{"inspect", net, "--as", "NetDeff"},
       2,
       "option --as is \"NetDeff\", which is not a kind of file; did you mean NetDef?"},
      {{"compare", "DIR/x.npy", net},
       2,
       "a net is compared with files the other way round: caffe2 compare NET FILES"},
      {{"run", "--predictor", "DIR/x.npy", "--init-net", net},
       2,
       "--init-net is given with --predictor, which contains its own init net"},
      {RunX({"--db-type", "lmdb"}), 2, "--db-type is given without --predictor"},
      {RunX({"--fetch", "nosuch"}), 2, "option --fetch: net \"n\" does not make blob \"nosuch\""},
      {Run({}), 1,
       "net \"n\": input \"x\" was not given; want --init-net FILE for weights, --input BLOB=FILE "
       "or --image FILE for "
       "data"},
      {{"bench", "--predict-net", net},
       1,
       "net \"n\": input \"x\" was not given; want --init-net FILE for weights, --input BLOB=FILE "
       "or --image FILE for data"},
      {Run({"--input", "x=DIR/none.npy"}), 2,
       "option --input x is \"DIR/none.npy\", which is neither a file that exists, a shape such as "
       "1,3,224,224, nor "
       "numbers such as 320,320,0.625"},
      {{"run", "--predict-net", "DIR/none.pb"},
       1,
       "cannot open \"DIR/none.pb\": No such file or directory"},
      {{"run", net, "--input", "x=1,2"},
       2,
       "argument \"DIR/net.pbtxt\" is not a net of Caffe (prototxt), a model of ONNX or a packed "
       "model; want --predict-net FILE for other nets"},
      {{"optimize", "--predict-net", net, "--init-net", net},
       2,
       "want --output-predict-net FILE, see --help"},
      {{"optimize", "--predict-net", net, "--init-net", net, "--output-init-net", "DIR/a.pb",
        "--output-predict-net", "DIR/a.pb"},
       2,
       "--output-init-net and --output-predict-net are the same file"},
      {{"optimize", "--predictor", "DIR/x", "--output-init-net", "DIR/a.pb", "--output-predict-net",
        "DIR/b.pb"},
       2,
       "--predictor is given: only models in --init-net and --predict-net files can be optimized "
       "to files; caffe2 convert DB --output FOLDER writes such files"},
      {{"convert", net, "DIR/out.pb"},
       2,
       "argument \"DIR/out.pb\" is unexpected; want --output (-o) before the name of the output"},
      {{"gradients", "--predict-net", net, "--loss", "q", "--output", "DIR/g.pb"},
       1,
       "no operator of \"DIR/net.pbtxt\" writes the blob \"q\"; did you mean y?"},
      {{"gradients", "--loss", "y", "--output", "DIR/g.pb"}, 2, "option --predict-net is missing"},
      {{"gradients", net, "--loss", "y", "--output", "DIR/g.pb"},
       2,
       "argument \"DIR/net.pbtxt\" is unexpected; this command reads files from options, see "
       "--help"},
      {{"gradients", "--predict-net", net, "--output", "DIR/g.pb"},
       2,
       "option --loss is missing, want the blob to differentiate"},
      {{"plan", net},
       1,
       "file \"DIR/net.pbtxt\" is a NetDef, want a PlanDef (caffe2 run accepts nets); --as "
       "specifies the kind"},
      {{"plan", net, "--output", "DIR/out"},
       2,
       "option --output is given without --fetch BLOB, which it saves"},
      {{"pack", net}, 2, "want a net and a file to write, see --help"},
      {{"pack", "--predict-net", net, "--input", "x=1,2"}, 2, "want one file to write, see --help"},
      {{"pack", "--predict-net", net, "--output", "DIR/p.c2pack", "--store-weights", "f8"},
       2,
       "option --store-weights is \"f8\", want f32, f16 or int8"},
      {{"devices", "foo"},
       2,
       "argument \"foo\" is unexpected; this command reads files from options, see --help"},
      {{"ops", "Conv", "NoSuchOp"},
       1,
       "operator type \"NoSuchOp\" is not known (`caffe2 ops` lists all)"},
      {{"receipt", "compare", "DIR/a"}, 2, "want compare and two receipts, see --help"},
      {{"receipt", "compare", "DIR/object.json", "DIR/object.json"},
       1,
       "file \"DIR/object.json\" is not a receipt of `caffe2 run --receipt`: it has no field "
       "\"receipt\""},
      {{"train", "--resume", "DIR/images"},
       1,
       "\"DIR/images\" is not the folder of a training: it has no run.pbtxt"},
      {{"train", "--evaluate", "DIR/images"}, 2, "--evaluate needs --data DB"},
      {{"train", "more", "--evaluate", "DIR/images", "--data", "x"},
       2,
       "argument \"more\" is unexpected; this command reads files from options, see --help"},
      {{"train", "--predict-net", net, "--data", "DIR/x", "--output", "DIR/o"},
       2,
       "--predict-net needs --loss: softmax, squared, or a blob of the net"},
  });
}

TEST_F(WrongUseTest, DatabasesAndTheirSources) {
  db::CreateDB("leveldb", dir_.path("empty.leveldb"), db::NEW)->Close();
  Check({
      {{"db", "throughput", "DIR/empty.leveldb"},
       1,
       "records of the database \"DIR/empty.leveldb\": got 0, want more than 0"},
      {{"db", "make", "cifar"},
       2,
       "db make cifar takes the folder of the binary files, or the files"},
      {{"db", "make", "arrays"},
       2,
       "db make arrays takes .npy files with as many rows each: data and labels"},
      {{"db", "make", "arrays", "DIR/x.npy", "DIR/i.npy", "--output", "DIR/a.minidb"},
       1,
       "rows of \"DIR/i.npy\", want as many as \"DIR/x.npy\" has (got 2, want 1)"},
      {{"db", "foo"},
       2,
       "action \"foo\" of db is not known, want make, list, info, convert, split or throughput"},
      {{"db", "list", "DIR/none"},
       1,
       "cannot read \"DIR/none\" as a database: cannot open \"DIR/none\": No such file or "
       "directory"},
      {{"db", "convert", "DIR/empty.leveldb"},
       2,
       "the new database has no name; want --output PATH"},
  });
}

TEST_F(WrongUseTest, ExamplesOfQuantize) {
  dir_.Write("labels", "a.png 0\n");
  dir_.Write("words", "a.png x\nb.png 1\n");
  const auto quantize = [](std::vector<std::string> more) {
    const std::vector<std::string> args = {"quantize",
                                           "--init-net",
                                           DemoFile("init_net.pb"),
                                           "--predict-net",
                                           DemoFile("predict_net.pb"),
                                           "--output-predict-net",
                                           "DIR/q.pb",
                                           "--calibrate"};
    more.insert(more.begin(), args.begin(), args.end());
    return more;
  };
  Check({
      {quantize({"DIR/x.npy"}), 2,
       "option --calibrate is \"DIR/x.npy\", want a folder of images or .npy files, or a .npz "
       "file"},
      {quantize({"DIR/images", "--max-drop", "1"}), 2,
       "--max-drop is given without --labels FILE, by which accuracy is measured"},
      {quantize({"DIR/images", "--labels", "DIR/empty"}), 1,
       "file \"DIR/empty\" contains no labels"},
      {quantize({"DIR/images", "--labels", "DIR/labels"}), 1,
       "file \"DIR/labels\" has no line for \"DIR/images/b.png\""},
      {quantize({"DIR/images", "--labels", "DIR/words"}), 1,
       "line 1 of \"DIR/words\" ends in \"x\", want the number of a class"},
      {quantize({"DIR/images", "--min-snr", "-1"}), 2,
       "option --min-snr is \"-1\", want a number from 0 to 200"},
      {quantize({"DIR/images", "--headroom", "-1"}), 2,
       "option --headroom is \"-1\", want a number from 0 to 1000"},
  });
}

TEST_F(WrongUseTest, NetsOfCaffe) {
  dir_.Write("p.prototxt",
             "name: 'p' input: 'data' input_shape { dim: 1 } layer { name: 'a' type: 'ReLU' "
             "bottom: 'data' top: 'y' }");
  Check({
      {{"convert", "DIR/p.prototxt"}, 2, "want --output FOLDER for init_net.pb and predict_net.pb"},
      {{"convert", "DIR/p.prototxt", "--output", "DIR/o", "--to", "npz"},
       2,
       "option --to is \"npz\", want text or binary for a model of Caffe or ONNX"},
      {{"run", "DIR/p.prototxt", "--input", "data=1.", "--weights", "DIR/none.caffemodel"},
       1,
       "cannot open \"DIR/none.caffemodel\": No such file or directory"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::wrong_use_test
