#include "operators/io/image_record.h"

#include <algorithm>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/io/caffe_datum.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/io/record_checksum.h"
#include "caffe2rt/caffe2_legacy.pb.h"

namespace caffe2rt {
namespace {

void MakeGrey(Image* image) {
  for (size_t i = 0; i + 2 < image->rgb.size(); i += 3) {
    uint8_t* const pixel = &image->rgb[i];
    // ITU-R BT.601, rounded.
    const int grey = (299 * pixel[0] + 587 * pixel[1] + 114 * pixel[2] + 500) / 1000;
    pixel[0] = pixel[1] = pixel[2] = static_cast<uint8_t>(grey);
  }
}

// `bytes` are `channels` values a pixel, blue first, or one plane after the other.
enum class ByteOrder { kPixels, kPlanes };
Image ImageOfBytes(const std::string& bytes, int64_t height, int64_t width, int64_t channels,
                   ByteOrder order) {
  constexpr int64_t kMaxSide = 1 << 20;
  CAFFE_ENFORCE(height >= 1 && width >= 1 && height <= kMaxSide && width <= kMaxSide, "image has ",
                height, " x ", width, " pixels, want 1 to ", kMaxSide, " each");
  CAFFE_ENFORCE(channels == 1 || channels == 3, "image has ", channels, " channels, want 1 or 3");
  const int64_t pixels = height * width;
  CAFFE_ENFORCE_EQ(static_cast<int64_t>(bytes.size()), pixels * channels, "bytes of an image of ",
                   height, " x ", width, " pixels and ", channels, " channels");
  Image image{.width = static_cast<int>(width), .height = static_cast<int>(height), .rgb = {}};
  image.rgb.resize(static_cast<size_t>(3 * pixels));
  for (int64_t i = 0; i < pixels; ++i) {
    for (int64_t c = 0; c < 3; ++c) {
      const int64_t channel = channels == 1 ? 0 : 2 - c;
      const int64_t at =
          order == ByteOrder::kPixels ? i * channels + channel : channel * pixels + i;
      image.rgb[static_cast<size_t>(3 * i + c)] =
          static_cast<uint8_t>(bytes[static_cast<size_t>(at)]);
    }
  }
  return image;
}

Image ImageOf(const TensorProto& data) {
  if (data.data_type() == TensorProto::STRING) {
    CAFFE_ENFORCE_EQ(data.string_data_size(), 1, "strings of the image");
    return DecodeImage(data.string_data(0), "image");
  }
  CAFFE_ENFORCE(data.data_type() == TensorProto::BYTE, "image is of type ",
                TensorProto::DataType_Name(data.data_type()),
                ", want STRING (an encoded image) or BYTE (pixels)");
  const int rank = data.dims_size();
  CAFFE_ENFORCE(rank == 2 || rank == 3, "pixels have ", rank,
                " dims, want [height, width] or [height, width, channels]");
  return ImageOfBytes(data.byte_data(), data.dims(0), data.dims(1), rank == 2 ? 1 : data.dims(2),
                      ByteOrder::kPixels);
}

ImageBox BoxOf(const TensorProto& proto) {
  CAFFE_ENFORCE_EQ(proto.int32_data_size(), 4, "int32 of the box: y, x, height, width");
  return {proto.int32_data(0), proto.int32_data(1), proto.int32_data(2), proto.int32_data(3)};
}

void ParseTensors(const std::string& value, const ImageRecordForm& form, ImageRecord* record) {
  ParseBinaryProto(CheckedRecord(value), "record", &record->tensors);
  if (CaffeDatum datum; record->tensors.protos_size() == 0 && ParseDatum(value, &datum)) {
    CAFFE_THROW("it is a Datum of Caffe, want TensorProtos, or the argument use_caffe_datum");
  }
  const int weights = form.labels == ImageLabels::kWeightedSparse ? 1 : 0;
  const int want = 2 + weights + static_cast<int>(form.additional_sizes.size());
  const int got = record->tensors.protos_size();
  CAFFE_ENFORCE(
      got == want || got == want + 1, "it has ", CountText(got, "tensor"), ", want ", want,
      ": the image, the label, what the label type and the other outputs need, and perhaps a box");
  record->image = ImageOf(record->tensors.protos(0));
  record->tensors.mutable_protos(0)->Clear();
  if (got > want) record->box = BoxOf(record->tensors.protos(want));
}

void ParseDatumRecord(const std::string& value, const ImageRecordForm& form, ImageRecord* record) {
  CaffeDatum datum;
  CAFFE_ENFORCE(ParseDatum(value, &datum),
                "it is no Datum of Caffe, want one, or use_caffe_datum = 0");
  CAFFE_ENFORCE(form.additional_sizes.empty() && form.labels == ImageLabels::kSingle,
                "a Datum of Caffe has one label and no more, want label_type 0 and two outputs");
  CAFFE_ENFORCE(datum.encoded() || datum.has_data(),
                "the Datum has floats, want an image of bytes");
  record->image = datum.encoded() ? DecodeImage(datum.data(), "image")
                                  : ImageOfBytes(datum.data(), datum.height(), datum.width(),
                                                 datum.channels(), ByteOrder::kPlanes);
  record->tensors.add_protos();
  TensorProto* const label = record->tensors.add_protos();
  label->set_data_type(TensorProto::INT32);
  label->add_int32_data(datum.label());
}

// The numbers of a label or of an additional output.
struct Numbers {
  bool is_float;
  const TensorProto& proto;

  explicit Numbers(const TensorProto& proto_in)
      : is_float(proto_in.data_type() == TensorProto::FLOAT), proto(proto_in) {
    CAFFE_ENFORCE(is_float || proto.data_type() == TensorProto::INT32, "it is of type ",
                  TensorProto::DataType_Name(proto.data_type()), ", want FLOAT or INT32");
  }
  int size() const { return is_float ? proto.float_data_size() : proto.int32_data_size(); }
};

// The tensor of a batch: [batch_size] or [batch_size, size] of T, created by its first item.
template <class T>
T* RowOf(Tensor* output, int64_t item, int64_t batch_size, std::optional<int64_t> size) {
  if (item == 0) {
    output->Resize(size ? std::vector<int64_t>{batch_size, *size}
                        : std::vector<int64_t>{batch_size});
  } else {
    CAFFE_ENFORCE(output->IsType<T>(), "it is of another type than in the records before, want ",
                  output->dtype().name());
  }
  return output->mutable_data<T>() + item * size.value_or(1);
}

void CopyNumbers(const Numbers& numbers, int64_t item, int64_t batch_size,
                 std::optional<int64_t> size, Tensor* output) {
  CAFFE_ENFORCE_EQ(numbers.size(), size.value_or(1), "numbers");
  if (numbers.is_float) {
    std::copy(numbers.proto.float_data().begin(), numbers.proto.float_data().end(),
              RowOf<float>(output, item, batch_size, size));
  } else {
    std::copy(numbers.proto.int32_data().begin(), numbers.proto.int32_data().end(),
              RowOf<int32_t>(output, item, batch_size, size));
  }
}

// Zeros, and value(i) at the i-th index of the proto.
template <class T, class Value>
void SetAtIndices(const TensorProto& indices, int num_labels, T* row, Value value) {
  std::fill(row, row + num_labels, T{0});
  for (int i = 0; i < indices.int32_data_size(); ++i) {
    const int32_t index = indices.int32_data(i);
    CAFFE_ENFORCE(index >= 0 && index < num_labels, "index ", i, " is ", index, ", want 0 to ",
                  num_labels - 1);
    row[index] = value(i);
  }
}

void SetLabel(const ImageRecord& record, const ImageRecordForm& form, int64_t item,
              int64_t batch_size, Tensor* output) {
  const TensorProto& label = record.tensors.protos(1);
  const bool sparse =
      form.labels == ImageLabels::kSparse || form.labels == ImageLabels::kWeightedSparse;
  CAFFE_ENFORCE(!sparse || label.data_type() == TensorProto::INT32, "it is of type ",
                TensorProto::DataType_Name(label.data_type()),
                ", want INT32, the indices of classes");
  if (form.labels == ImageLabels::kSparse) {
    SetAtIndices(label, form.num_labels, RowOf<int32_t>(output, item, batch_size, form.num_labels),
                 [](int) { return 1; });
  } else if (form.labels == ImageLabels::kWeightedSparse) {
    const TensorProto& weights = record.tensors.protos(2);
    CAFFE_ENFORCE_EQ(weights.float_data_size(), label.int32_data_size(),
                     "weights, want one for each index");
    SetAtIndices(label, form.num_labels, RowOf<float>(output, item, batch_size, form.num_labels),
                 [&](int i) { return weights.float_data(i); });
  } else {
    const bool dense = form.labels == ImageLabels::kDense;
    CopyNumbers(Numbers(label), item, batch_size,
                dense ? std::optional<int64_t>(form.num_labels) : std::nullopt, output);
  }
}

// Runs `function`; its errors name the part of the record.
template <class Function>
void WithSubject(const std::string& subject, Function function) {
  try {
    function();
  } catch (EnforceNotMet& error) {
    error.AppendMessage(subject);
    throw;
  }
}

}  // namespace

ImageRecord ParseImageRecord(const std::string& key, const std::string& value,
                             const ImageRecordForm& form) {
  ImageRecord record;
  record.key = key;
  WithSubject(MakeString("record \"", key, "\""), [&] {
    if (form.is_datum) {
      ParseDatumRecord(value, form, &record);
    } else {
      ParseTensors(value, form, &record);
    }
  });
  if (!form.color) MakeGrey(&record.image);
  return record;
}

void SetRecordOutputs(const ImageRecord& record, const ImageRecordForm& form, int64_t item,
                      int64_t batch_size, const std::vector<Tensor*>& outputs) {
  WithSubject(MakeString("label of record \"", record.key, "\""),
              [&] { SetLabel(record, form, item, batch_size, outputs[0]); });
  const int first = form.labels == ImageLabels::kWeightedSparse ? 3 : 2;
  for (size_t i = 0; i < form.additional_sizes.size(); ++i) {
    const int size = form.additional_sizes[i];
    WithSubject(MakeString("additional output ", i, " of record \"", record.key, "\""), [&] {
      CopyNumbers(Numbers(record.tensors.protos(first + static_cast<int>(i))), item, batch_size,
                  size == 1 ? std::nullopt : std::optional<int64_t>(size), outputs[i + 1]);
    });
  }
}

}  // namespace caffe2rt
