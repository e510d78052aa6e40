#include "tests/fuzz/exercise.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <filesystem>
#include <stdexcept>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/import/caffe/caffe_import.h"
#include "caffe2_core/import/onnx/onnx_import.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/net_weights.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/io/random_access_input.h"
#include "caffe2_core/io/weights_reader.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/packed_model.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/model/preparation.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "tests/fuzz/exercise_nets.h"
#include "tests/fuzz/random.h"

namespace caffe2rt::test {
namespace {

constexpr int kMaxRecords = 2000;
constexpr int64_t kMaxPixels = 250'000;  // decoded in a few milliseconds under a sanitizer

// Writes a database to the current folder. Returns its path.
std::string WriteDatabase(const std::string& bytes, FileKind kind) {
  const bool folder = kind == FileKind::kLMDB;
  const std::string path = folder ? "fuzz_lmdb" : "fuzz_db";
  if (folder) std::filesystem::create_directory(path);
  CAFFE_ENFORCE(WriteStringToFile(bytes, (folder ? path + "/data.mdb" : path).c_str()),
                "cannot write ", path);
  return path;
}

void ReadDatabase(const std::string& bytes, FileKind kind) {
  const std::string path = WriteDatabase(bytes, kind);
  const std::string type = DBTypeOfKind(kind);
  const std::unique_ptr<db::DB> source = db::OpenDB(type, path, db::READ);
  const std::unique_ptr<db::Cursor> cursor = source->NewCursor();
  const FileAccess access = FileAccess::Below({"."});
  Workspace ws;
  ws.SetFileAccess(access);
  const FileAccessScope scope(access);
  std::string error;
  int records = 0;
  for (; cursor->Valid() && records < kMaxRecords; cursor->Next(), ++records) {
    Blob* blob = ws.CreateBlob(BlobNameFromKey(cursor->key()));
    try {
      DeserializeBlob(cursor->value(), blob);
    } catch (const EnforceNotMet& thrown) {
      error = thrown.message();
    }
  }
  OperatorDef load = CreateOperatorDef("Load", "", {}, {});
  AddArgument("db", path, &load);
  AddArgument("db_type", type, &load);
  AddArgument("load_all", 1, &load);
  ws.RunOperatorOnce(load);
  try {
    LoadPredictor(path, type);
  } catch (const EnforceNotMet&) {
    // Most databases contain no predictor.
  }
  CAFFE_ENFORCE(error.empty(), error);
}

template <class Message>
Message Parse(const std::string& bytes) {
  Message message;
  ParseProto(bytes, "input", &message);
  return message;
}

// THROWS std::logic_error, which is a failure, unless both tensors have the same contents. Objects
// other than strings are not compared.
void ExpectEqual(const Tensor& a, const Tensor& b) {
  bool equal = a.dims() == b.dims() && a.dtype() == b.dtype();
  if (equal && a.numel() > 0 && a.dtype().IsPlainData()) {
    equal = std::memcmp(a.raw_data(), b.raw_data(), a.nbytes()) == 0;
  } else if (equal && a.numel() > 0 && a.IsType<std::string>()) {
    equal =
        std::equal(a.data<std::string>(), a.data<std::string>() + a.numel(), b.data<std::string>());
  }
  if (!equal) throw std::logic_error("a tensor changed when it was written and read again");
}

// Reads a tensor, and writes and reads it again.
void ReadTensor(const TensorProto& proto) {
  const Tensor tensor = TensorDeserializer().Deserialize(proto);
  TensorProto again;
  TensorSerializer().Serialize(tensor, "again", &again, 0, kNoChunking);
  ExpectEqual(tensor, TensorDeserializer().Deserialize(again));
}

void ReadTensors(const TensorProtos& protos) {
  for (const TensorProto& proto : protos.protos()) ReadTensor(proto);
}

// Reads an array, and writes and reads it again.
void ReadArray(const std::string& bytes) {
  const Tensor tensor = ParseNpy(bytes, "input");
  ExpectEqual(tensor, ParseNpy(NpyBytes(tensor), "again"));
}

void ReadArchive(const std::string& bytes) {
  CAFFE_ENFORCE(WriteStringToFile(bytes, "fuzz_npz"), "cannot write fuzz_npz");
  ReadNpz("fuzz_npz");
}

// Decodes an image and converts it to the input of a net.
void ReadImage(const std::string& bytes, Random* random) {
  const Image image = DecodeImage(bytes, "input", {.max_pixels = kMaxPixels, .max_scans = 20});
  const auto side = [&] { return static_cast<int>(random->Below(40)); };
  const ImageTransform transform = {
      .bgr = random->OneIn(2), .grey = random->OneIn(2), .resize = side(), .crop = side()};
  ImageToTensor(image, transform);
}

// Reads a net as LoadModel reads init nets, and compares the result with protobuf's parser. THROWS
// std::logic_error, which is a failure, if they differ.
void CompareReaders(const std::string& bytes) {
  std::optional<NetWithWeights> read = ReadNetWithWeights(MemoryInput(bytes));
  if (!read.has_value()) return;
  RestoreWeights(&*read);
  NetDef parsed;
  if (!ParseProtoFromLargeString(bytes, &parsed) ||
      parsed.SerializePartialAsString() != read->net.SerializePartialAsString()) {
    throw std::logic_error("the reader of weights and the parser disagree");
  }
}

// Opens a packed model, reads all of it, and runs its net.
void ReadPackedModel(const std::string& bytes, const CorpusFile* origin, Random* random) {
  CAFFE_ENFORCE(WriteStringToFile(bytes, "fuzz.c2pack"), "cannot write fuzz.c2pack");
  Model model = LoadModel({.predict_net = "fuzz.c2pack", .device_fallback = true});
  CAFFE_ENFORCE(model.packed != nullptr, "a file of ", bytes.size(),
                " bytes is another kind of net");
  Workspace ws(".");
  ws.SetFileAccess(RandomAccess(random));
  RunInitNets(&model, &ws);
  try {
    model.packed->Verify();
  } catch (const EnforceNotMet&) {
    // Damaged weights may be used.
  }
  for (const std::string& name : ws.Blobs()) {
    const Tensor* tensor = FindTensor(*ws.GetBlob(name));
    if (tensor != nullptr && tensor->HasData()) (void)tensor->Clone();
  }
  try {
    const PreparationOptions options = {.packed = model.packed};
    ExerciseNet(PrepareNet(NetDef(model.predict_net), options, &ws).net, origin, random, &ws);
  } catch (const EnforceNotMet&) {
    // The packed net may be used although it cannot be prepared.
  }
  ExerciseNet(model.predict_net, origin, random, &ws);
}

// A net of one convolution, whose weights the bytes may have.
constexpr char kSmallCaffeNet[] = R"(
    layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 1 dim: 4 dim: 4 } } }
    layer { name: "c" type: "Convolution" bottom: "x" top: "c"
            convolution_param { num_output: 1 kernel_size: 2 } })";

// Imports the bytes as a net and as weights.
void ImportModel(const std::string& bytes) {
  try {
    (void)ImportCaffeFromMemory(kSmallCaffeNet, bytes.empty() ? " " : bytes, {});
  } catch (const EnforceNotMet&) {
    // Most files have no such layer.
  }
  (void)ImportCaffeFromMemory(bytes, "", {});
}

// A model of ONNX that copies an initializer, which the bytes are, to its output. In the file's folder
// there are a file of data, and a link to the root.
void ImportOnnxTensor(const std::string& bytes) {
  const auto field = [](int number, const std::string& value) {
    std::string text(1, static_cast<char>(number << 3 | 2));
    for (size_t size = value.size();; size >>= 7) {
      text.push_back(static_cast<char>(size > 127 ? size % 128 + 128 : size));
      if (size <= 127) return text + value;
    }
  };
  const std::string node = field(1, "w") + field(2, "y") + field(4, "Relu");
  // The name comes last, so that it is the one that counts.
  const std::string graph =
      field(1, node) + field(5, bytes + field(8, "w")) + field(12, field(1, "y"));
  std::filesystem::create_directory("fuzz_onnx");
  std::error_code exists;
  std::filesystem::create_directory_symlink("/", "fuzz_onnx/up", exists);
  CAFFE_ENFORCE(WriteStringToFile("\x08\x08" + field(7, graph), "fuzz_onnx/model.onnx") &&
                    WriteStringToFile(std::string(64, 'x'), "fuzz_onnx/data.bin"),
                "cannot write fuzz_onnx");
  (void)ImportOnnx({.net = "fuzz_onnx/model.onnx"});
}

void Dispatch(FileKind kind, const std::string& bytes, const CorpusFile* origin) {
  Random random(HashOf(bytes));
  switch (kind) {
    case FileKind::kPlanDef:
      return ExercisePlan(Parse<PlanDef>(bytes), origin, &random);
    case FileKind::kMetaNetDef:
      return ExerciseMetaNet(Parse<MetaNetDef>(bytes), origin, &random);
    case FileKind::kMiniDB:
    case FileKind::kLMDB:
      return ReadDatabase(bytes, kind);
    case FileKind::kTensorProto:
      return ReadTensor(Parse<TensorProto>(bytes));
    case FileKind::kTensorProtos:
      return ReadTensors(Parse<TensorProtos>(bytes));
    case FileKind::kBlobProto: {
      Blob blob;
      const FileAccess access = RandomAccess(&random);
      const FileAccessScope scope(access);
      DeserializeBlob(bytes, &blob);
      return;
    }
    case FileKind::kNpy:
      return ReadArray(bytes);
    case FileKind::kNpz:
      return ReadArchive(bytes);
    case FileKind::kJpeg:
    case FileKind::kPng:
      return ReadImage(bytes, &random);
    case FileKind::kCaffeText:
    case FileKind::kCaffeModel:
      return ImportModel(bytes);
    case FileKind::kOnnxModel:
      (void)ImportOnnxFromMemory(bytes, {});
      return;
    case FileKind::kOnnxTensor:
      return ImportOnnxTensor(bytes);
    case FileKind::kPackedModel:
      return ReadPackedModel(bytes, origin, &random);
    default:
      CompareReaders(bytes);
      return ExerciseNet(Parse<NetDef>(bytes), origin, &random);
  }
}

template <class Function>
ExerciseResult Run(const WorkBudget& budget, Function exercise) {
  ExerciseResult result;
  StartBudget(budget);
  try {
    exercise();
  } catch (const EnforceNotMet& thrown) {
    result.outcome = BudgetExceeded() ? Outcome::kOverBudget : Outcome::kRefused;
    result.error = thrown.message();
  } catch (const std::exception& thrown) {
    result.outcome = Outcome::kFailed;
    result.error = thrown.what();
  }
  return result;
}

}  // namespace

ExerciseResult ExerciseAs(FileKind kind, const std::string& bytes, const CorpusFile* origin,
                          const WorkBudget& budget) {
  return Run(budget, [&] { Dispatch(kind, bytes, origin); });
}

ExerciseResult Exercise(const std::string& bytes, FileKind kind_of_origin,
                        const CorpusFile* origin) {
  return Run({}, [&] {
    FileKind kind = DetectContentKind(bytes, static_cast<int64_t>(bytes.size())).kind;
    // An input that is too damaged to be detected is read as the kind of its origin.
    if (kind == FileKind::kUnknown || kind_of_origin == FileKind::kLMDB) kind = kind_of_origin;
    Dispatch(kind, bytes, origin);
  });
}

}  // namespace caffe2rt::test
