#include "caffe2_core/io/caffe_datum.h"

#include <climits>
#include <cstdint>
#include <string>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/proto_file.h"

namespace caffe2rt {
namespace {

void SetDims(int64_t channels, int64_t height, int64_t width, TensorProto* proto) {
  for (const int64_t dim : {channels, height, width}) proto->add_dims(dim);
}

// The bytes of an image in Caffe's order: planes of blue, green and red.
std::string PlanesOf(const Image& image) {
  const size_t pixels = image.rgb.size() / 3;
  std::string bytes(3 * pixels, '\0');
  for (size_t channel = 0; channel < 3; ++channel) {
    for (size_t i = 0; i < pixels; ++i)
      bytes[channel * pixels + i] = static_cast<char>(image.rgb[3 * i + (2 - channel)]);
  }
  return bytes;
}

}  // namespace

bool ParseDatum(std::string_view record, CaffeDatum* datum) {
  CAFFE_ENFORCE(datum != nullptr, "argument datum of ParseDatum is null");
  if (record.size() > INT_MAX ||
      !datum->ParseFromArray(record.data(), static_cast<int>(record.size())) ||
      HasUnknownFields(*datum)) {
    return false;
  }
  if (datum->encoded()) return !datum->data().empty();
  if (datum->channels() <= 0 || datum->height() <= 0 || datum->width() <= 0) return false;
  const auto pixels = int64_t{datum->height()} * datum->width();  // at most 2^62
  const auto values = datum->has_data() ? static_cast<int64_t>(datum->data().size())
                                        : int64_t{datum->float_data_size()};
  return values % pixels == 0 && values / pixels == datum->channels();
}

TensorProtos DatumToTensorProtos(const CaffeDatum& datum) {
  TensorProtos tensors;
  TensorProto* const data = tensors.add_protos();
  data->set_name("data");
  // BYTE is the type of bytes in one string; it is read as uint8.
  data->set_data_type(datum.has_data() ? TensorProto::BYTE : TensorProto::FLOAT);
  if (datum.encoded()) {
    const Image image = DecodeImage(datum.data(), "Datum");
    SetDims(3, image.height, image.width, data);
    data->set_byte_data(PlanesOf(image));
  } else {
    SetDims(datum.channels(), datum.height(), datum.width(), data);
    if (datum.has_data()) {
      data->set_byte_data(datum.data());
    } else {
      *data->mutable_float_data() = datum.float_data();
    }
  }
  TensorProto* const label = tensors.add_protos();
  label->set_name("label");
  label->set_data_type(TensorProto::INT32);
  label->add_int32_data(datum.label());
  return tensors;
}

}  // namespace caffe2rt
