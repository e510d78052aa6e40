#include "operators/io/image_input.h"

#include <algorithm>
#include <climits>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/random_stream.h"
#include "caffe2_core/base/work_scope.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/waiting.h"
#include "operators/io/database_arguments.h"
#include "operators/io/tensor_protos_db_input.h"

namespace caffe2rt {
namespace {

constexpr ArgumentCheck<int> kPositive{[](int value) { return value > 0; }, "above 0"};

constexpr ArgumentSpec<int> kImageBatchSize{"batch_size", 0, "number of images", kPositive, true};
constexpr ArgumentSpec<int> kLabelType{
    "label_type",
    0,
    "0: one number; 1: indices of classes, which become 1 in num_labels zeros; 2: num_labels "
    "numbers; 3: as 1, with weights "
    "in the next tensor of the record; 4: as 0, with a weight as the first additional output",
    {[](int type) { return type >= 0 && type <= 4; }, "0 to 4"}};
constexpr ArgumentSpec<int> kNumLabels{"num_labels", 0, "length of a label of types 1, 2 and 3"};
constexpr ArgumentSpec<bool> kColor{"color", true, "1: three channels; 0: one, grey"};
constexpr ArgumentSpec<bool> kColorJitter{
    "color_jitter", false, "change saturation, brightness and contrast at random, in training"};
constexpr ArgumentSpec<float> kSaturation{"img_saturation", 0.4f,
                                          "with color_jitter: the greatest change"};
constexpr ArgumentSpec<float> kBrightness{"img_brightness", 0.4f,
                                          "with color_jitter: the greatest change"};
constexpr ArgumentSpec<float> kContrast{"img_contrast", 0.4f,
                                        "with color_jitter: the greatest change"};
constexpr ArgumentSpec<bool> kColorLighting{
    "color_lighting", false,
    "shift colours along the principal components of ImageNet's, in training"};
constexpr ArgumentSpec<float> kColorLightingStd{"color_lighting_std", 0.1f,
                                                "with color_lighting: standard deviation"};
constexpr ArgumentSpec<int> kScaleJitterType{
    "scale_jitter_type",
    0,
    "1: cut out and scale a random part as Inception does, in training; 0: do not",
    {[](int type) { return type == 0 || type == 1; }, "0 or 1"}};
constexpr ArgumentSpec<int> kScale{"scale", -1,
                                   "length of the shorter side after scaling, in pixels"};
constexpr ArgumentSpec<int> kMinSize{
    "minsize", -1, "instead of scale: smaller images are scaled to it, others stay"};
constexpr ArgumentSpec<bool> kWarp{"warp", false, "scale both sides to scale"};
constexpr ArgumentSpec<int> kImageCrop{"crop", -1, "side of the square that is cut out, in pixels",
                                       kPositive, true};
constexpr ArgumentSpec<bool> kMirror{"mirror", false, "mirror half of the images, in training"};
constexpr ArgumentSpec<bool> kImageIsTest{"is_test", false,
                                          "1: cut out the centre and change nothing at random"};
constexpr ArgumentSpec<bool> kUseCaffeDatum{"use_caffe_datum", false, "records are Caffe's Datum"};
constexpr ArgumentSpec<bool> kUseGpuTransform{
    "use_gpu_transform", false,
    "has no effect; accepted for compatibility: images are changed on the CPU"};
constexpr ArgumentSpec<int> kDecodeThreads{
    "decode_threads",
    4,
    "threads of the operator that decode images, as far as there are CPUs",
    {[](int threads) { return threads >= 1 && threads <= 1024; }, "1 to 1024"}};
constexpr RepeatedArgumentSpec<int> kRandomScale{
    "random_scale", "two numbers: the least and the greatest scale, drawn for each image"};
constexpr ArgumentSpec<float> kMean{"mean", 0, "mean of all channels, subtracted"};
constexpr RepeatedArgumentSpec<float> kMeanPerChannel{"mean_per_channel",
                                                      "mean of each channel: blue, green, red"};
constexpr ArgumentSpec<float> kStd{"std", 1, "standard deviation of all channels, a divisor"};
constexpr RepeatedArgumentSpec<float> kStdPerChannel{
    "std_per_channel", "standard deviation of each channel: blue, green, red"};
constexpr RepeatedArgumentSpec<int> kOutputSizes{"output_sizes",
                                                 "sizes of the additional outputs (1 each)"};
constexpr ArgumentSpec<int> kBoxTop{"bounding_ymin", -1, "box of records without one: first row"};
constexpr ArgumentSpec<int> kBoxLeft{"bounding_xmin", -1, "first column"};
constexpr ArgumentSpec<int> kBoxHeight{"bounding_height", -1, "rows"};
constexpr ArgumentSpec<int> kBoxWidth{"bounding_width", -1, "columns"};
constexpr ArgumentSpec<std::string> kImageDatabase{"db", "",
                                                   "path of the database, if there is no input"};
constexpr ArgumentSpec<std::string> kImageDatabaseType{"db_type", "leveldb", kDatabaseType.doc,
                                                       kKnownDatabaseType};
constexpr ArgumentSpec<std::string> kOutputType{
    "output_type",
    "unknown",
    "type of the data: float, the only one on the CPU",
    {[](const std::string& type) { return type == "unknown" || type == "float"; }, "float"}};
// One value for each channel, from the list or the single value.
std::vector<float> PerChannel(const OperatorBase& op, const RepeatedArgumentSpec<float>& list,
                              const ArgumentSpec<float>& single, size_t channels) {
  std::vector<float> values = op.ReadArgument(list);
  if (values.empty()) values.assign(channels, op.ReadArgument(single));
  if (values.size() == 1) values.assign(channels, values[0]);
  CAFFE_ENFORCE_EQ(values.size(), channels, "values of argument ", list.name,
                   ", want one for each channel");
  return values;
}

std::optional<ImageBox> DefaultBox(const OperatorBase& op) {
  const ImageBox box = {op.ReadArgument(kBoxTop), op.ReadArgument(kBoxLeft),
                        op.ReadArgument(kBoxHeight), op.ReadArgument(kBoxWidth)};
  const bool given = box.y >= 0 || box.x >= 0 || box.height > 0 || box.width > 0;
  CAFFE_ENFORCE(!given || (box.y >= 0 && box.x >= 0 && box.height > 0 && box.width > 0),
                "some of the arguments bounding_ymin, bounding_xmin, bounding_height and "
                "bounding_width are missing, want all "
                "four or none");
  return given ? std::optional<ImageBox>(box) : std::nullopt;
}

void CheckScales(const ImageAugmentation& how) {
  if (!how.random_scale.empty()) {
    CAFFE_ENFORCE(how.random_scale.size() == 2 && how.random_scale[0] <= how.random_scale[1],
                  "argument random_scale has ", how.random_scale.size(),
                  " values, want the least and the greatest scale");
    CAFFE_ENFORCE_GE(how.random_scale[0], how.crop,
                     "the least of argument random_scale, want at least crop");
    return;
  }
  CAFFE_ENFORCE((how.scale > 0) != (how.min_size > 0), "argument scale is ", how.scale,
                " and minsize is ", how.min_size, ", want one of them above 0");
  const int side = how.scale > 0 ? how.scale : how.min_size;
  CAFFE_ENFORCE_GE(side, how.crop, "argument ", how.scale > 0 ? kScale.name : kMinSize.name,
                   ", want at least crop");
}

void ReadColorChanges(const OperatorBase& op, ImageAugmentation* how) {
  how->color_jitter = op.ReadArgument(kColorJitter);
  how->saturation = op.ReadArgument(kSaturation);
  how->brightness = op.ReadArgument(kBrightness);
  how->contrast = op.ReadArgument(kContrast);
  how->color_lighting = op.ReadArgument(kColorLighting);
  how->color_lighting_std = op.ReadArgument(kColorLightingStd);
}

// The types of the labels and the additional outputs are those of the records.
std::vector<TensorShape> InferImageInput(const OperatorDef& def,
                                         const std::vector<TensorShape>& /*in*/) {
  const ArgumentHelper args(def);
  const int64_t crop = args.Read(kImageCrop);
  std::vector<TensorShape> shapes(static_cast<size_t>(def.output_size()));
  for (TensorShape& shape : shapes) shape.set_unknown_shape(true);
  shapes[0] = CreateTensorShape(
      std::vector<int64_t>{args.Read(kImageBatchSize), args.Read(kColor) ? 3 : 1, crop, crop},
      TensorProto::FLOAT);
  return shapes;
}

}  // namespace

ImageRecordForm ReadImageRecordForm(const OperatorBase& op) {
  ImageRecordForm form;
  form.is_datum = op.ReadArgument(kUseCaffeDatum);
  form.color = op.ReadArgument(kColor);
  form.labels = static_cast<ImageLabels>(op.ReadArgument(kLabelType));
  form.num_labels = op.ReadArgument(kNumLabels);
  const bool single =
      form.labels == ImageLabels::kSingle || form.labels == ImageLabels::kSingleWeighted;
  CAFFE_ENFORCE(single || form.num_labels > 0, "argument num_labels is ", form.num_labels,
                ", want above 0 for label_type ", static_cast<int>(form.labels));
  const auto additional = static_cast<size_t>(op.OutputSize() - 2);
  form.additional_sizes = op.ReadArgument(kOutputSizes);
  if (form.additional_sizes.empty()) form.additional_sizes.assign(additional, 1);
  CAFFE_ENFORCE_EQ(form.additional_sizes.size(), additional,
                   "values of argument output_sizes, want one for each output after the label");
  for (const int size : form.additional_sizes)
    CAFFE_ENFORCE_GT(size, 0, "a value of argument output_sizes");
  return form;
}

ImageAugmentation ReadImageAugmentation(const OperatorBase& op) {
  ImageAugmentation how;
  how.color = op.ReadArgument(kColor);
  how.box = DefaultBox(op);
  how.scale = op.ReadArgument(kScale);
  how.min_size = op.ReadArgument(kMinSize);
  how.random_scale = op.ReadArgument(kRandomScale);
  if (how.random_scale == std::vector<int>{-1, -1}) how.random_scale.clear();
  how.warp = op.ReadArgument(kWarp);
  how.inception_scale_jitter = op.ReadArgument(kScaleJitterType) == 1;
  how.crop = op.ReadArgument(kImageCrop);
  how.mirror = op.ReadArgument(kMirror);
  how.is_test = op.ReadArgument(kImageIsTest);
  (void)op.ReadArgument(kOutputType);
  ReadColorChanges(op, &how);
  const auto channels = static_cast<size_t>(how.channels());
  how.mean = PerChannel(op, kMeanPerChannel, kMean, channels);
  how.std = PerChannel(op, kStdPerChannel, kStd, channels);
  for (const float std : how.std)
    CAFFE_ENFORCE(std != 0, "a standard deviation is 0, want another number");
  CheckScales(how);
  return how;
}

ImageDatabase ReadImageDatabase(const OperatorBase& op) {
  const ImageDatabase database = {op.ReadArgument(kImageDatabaseType),
                                  op.ReadArgument(kImageDatabase)};
  CAFFE_ENFORCE((op.InputSize() == 1) != !database.path.empty(),
                "want either an input, the reader, or the argument db, and not both");
  return database;
}

namespace {

// The key of the operator's random streams. It does not depend on the run: a training that is
// resumed goes on with the same numbers.
uint64_t RandomKey(const OperatorBase& op, const CPUContext& context) {
  const std::optional<uint64_t> seed = op.workspace()->random_seed();
  if (op.device_option().has_random_seed() || !seed.has_value()) return context.random_seed();
  return MixRandomKeys(*seed, RandomKeyOf(op.debug_def().output(0)));
}

std::unique_ptr<ThreadPool> MakeDecoders(int wanted) {
  const int threads = std::min(wanted, static_cast<int>(std::thread::hardware_concurrency()));
  if (threads <= 1) return nullptr;
  return std::make_unique<ThreadPool>(
      ThreadPoolOptions{.num_threads = threads, .spin_us = 0, .back_off = false});
}

}  // namespace

ImageInputOp::ImageInputOp(const OperatorDef& def, Workspace* ws)
    : Operator<CPUContext>(def, ws),
      form_(ReadImageRecordForm(*this)),
      augmentation_(ReadImageAugmentation(*this)),
      database_(ReadImageDatabase(*this)),
      skips_damaged_(ReadArgument(kOnRecordError) == "skip"),
      random_key_(RandomKey(*this, context_)),
      batch_(static_cast<size_t>(ReadArgument(kImageBatchSize))),
      decoders_(MakeDecoders(ReadArgument(kDecodeThreads))),
      ahead_([this](BatchRecords& records) { Fill(records); }, !ReadArgument(kNoPrefetch)) {
  for (int i = 0; i < OutputSize(); ++i) {
    tensors_.emplace_back(CPU);
    taken_.emplace_back(CPU);
  }
}

const db::DBReader& ImageInputOp::Reader() {
  if (database_.path.empty()) return OperatorBase::Input<db::DBReader>(0);
  if (!own_reader_.IsOpen()) {
    own_reader_.Open(database_.type, workspace()->file_access().CheckRead(database_.path));
  }
  return own_reader_;
}

void ImageInputOp::LeaveOut(const std::exception_ptr& error, int in_a_row) {
  if (!skips_damaged_ || in_a_row == kMostSkippedInARow) std::rethrow_exception(error);
  try {
    std::rethrow_exception(error);
  } catch (const OutOfMemory&) {
    throw;  // not the fault of the record
  } catch (const EnforceNotMet& damage) {
    ++skipped_;
    LOG(WARNING) << "ImageInput leaves out a damaged record: " << damage.message();
  }
}

void ImageInputOp::ReadItem(BatchRecords& records, Item* item) {
  for (int in_a_row = 0;; ++in_a_row) {
    const db::DBReaderPosition before = records.position();
    try {
      return records.Read(&item->record);
    } catch (const RunStopped&) {
      throw;
    } catch (const EnforceNotMet&) {
      if (records.position() == before) throw;  // nothing behind it can be read
      LeaveOut(std::current_exception(), in_a_row);
    }
  }
}

void ImageInputOp::MakeItem(size_t i, float* pixels) {
  Item& item = batch_[i];
  try {
    item.error = nullptr;
    item.image = ParseImageRecord(item.record.key, item.record.value, form_);
    const db::DBReaderPosition& position = item.record.position;
    RandomWords words(
        MixRandomKeys(MixRandomKeys(random_key_, static_cast<uint64_t>(position.epoch)),
                      static_cast<uint64_t>(position.record)));
    std::mt19937 generator(words);
    AugmentImage(item.image, augmentation_, &generator,
                 pixels + static_cast<int64_t>(i) * augmentation_.size());
    item.image.image = {};
  } catch (...) {
    item.error = std::current_exception();
  }
}

void ImageInputOp::ReplaceDamaged(BatchRecords& records, float* pixels) {
  for (size_t i = 0; i < batch_.size(); ++i) {
    Item& item = batch_[i];
    for (int in_a_row = 0; item.error != nullptr; ++in_a_row) {
      LeaveOut(std::exchange(item.error, nullptr), in_a_row);
      ReadItem(records, &item);
      MakeItem(i, pixels);
    }
  }
}

void ImageInputOp::Fill(BatchRecords& records) {
  for (Item& item : batch_) ReadItem(records, &item);
  const int items = static_cast<int>(batch_.size());
  tensors_[0].Resize(items, augmentation_.channels(), augmentation_.crop, augmentation_.crop);
  float* const pixels = tensors_[0].mutable_data<float>();
  auto make = [&](int i) { MakeItem(static_cast<size_t>(i), pixels); };
  if (decoders_ != nullptr) {
    // The threads of the calling thread's scope are those of the net's pool: one while reading ahead.
    const WorkScope scope({.threads = decoders_->num_threads()});
    decoders_->Run(items, PieceFunction(make));
  } else {
    for (int i = 0; i < items; ++i) make(i);
  }
  ReplaceDamaged(records, pixels);
  others_.clear();
  for (size_t i = 1; i < tensors_.size(); ++i) others_.push_back(&tensors_[i]);
  for (int i = 0; i < items; ++i) {
    SetRecordOutputs(batch_[static_cast<size_t>(i)].image, form_, i, items, others_);
  }
}

bool ImageInputOp::RunOnDevice() {
  ahead_.Next(Reader(), [this] { std::swap(tensors_, taken_); });
  for (size_t i = 0; i < taken_.size(); ++i) {
    Output(static_cast<int>(i))->CopyFrom(taken_[i], &context_);
  }
  return true;
}

void RegisterImageInput() {
  RegisterSchema("ImageInput", __FILE__)
      .NumInputs(0, 1)
      .NumOutputs(2, INT_MAX)
      .Args(kImageBatchSize, kLabelType, kNumLabels, kColor, kColorJitter, kSaturation, kBrightness,
            kContrast, kColorLighting, kColorLightingStd)
      .Args(kScaleJitterType, kScale, kMinSize, kWarp, kImageCrop, kMirror, kImageIsTest,
            kUseCaffeDatum, kUseGpuTransform, kDecodeThreads, kNoPrefetch)
      .Args(kRandomScale, kMean, kMeanPerChannel, kStd, kStdPerChannel, kOutputSizes, kBoxTop,
            kBoxLeft, kBoxHeight, kBoxWidth)
      .Args(kImageDatabase, kImageDatabaseType, kOutputType, kOnRecordError)
      .Input(
          0, "reader",
          "(optional) DBReader, as CreateDB makes it; without it, argument db names the database")
      .Output(0, "data",
              "float [batch_size, channels, crop, crop], channels in the order blue, green, red")
      .Output(1, "label", "[batch_size], or [batch_size, num_labels] for label types 1, 2 and 3")
      .Output(2, "additional",
              "(optional) [batch_size], or [batch_size, size]: further tensors of the records")
      .TensorInferenceFunction(InferImageInput)
      .SynchronizedInputs({0})
      .ModifiesInputs({0})
      .HasEffect(Effect::kRandom)
      .AccessesFiles()
      .SetDoc(
          "Reads a batch of images with their labels from a database, decodes them, scales them, "
          "cuts out squares, and in "
          "training changes them at random. Records are TensorProtos of an image (an encoded JPEG "
          "or PNG, or bytes), a label "
          "and perhaps a box, as `caffe2 db make images` writes them, or Caffe's Datum.");
  RegisterCpuOperator<ImageInputOp>("ImageInput", __FILE__);
  // The input is not a tensor.
  RegisterGradient<NoGradient>("ImageInput", __FILE__);
}

}  // namespace caffe2rt
