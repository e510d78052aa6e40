#include "caffe2_core/training/mnist_records.h"

#include <algorithm>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/training/data_file.h"

namespace caffe2rt {
namespace {

// Two zero bytes, 8 for unsigned bytes, and the number of dimensions.
constexpr uint32_t kImagesMagic = 0x0803, kLabelsMagic = 0x0801;
constexpr uint32_t kMaxSide = 4096;  // pixels

void ReadMagic(DataFile* file, uint32_t want, const char* what) {
  const uint32_t magic = file->ReadBigEndian("the first number");
  CAFFE_ENFORCE(magic == want, "file \"", file->path(), "\" begins with ", magic, ", want ", want,
                ", a file of ", what,
                magic == (want == kImagesMagic ? kLabelsMagic : kImagesMagic)
                    ? "; images and labels seem to be swapped"
                    : "");
}

uint32_t ReadSide(DataFile* file, const char* what) {
  const uint32_t side = file->ReadBigEndian(what);
  CAFFE_ENFORCE(side >= 1 && side <= kMaxSide, "file \"", file->path(), "\" has images of ", side,
                " ", what, ", want 1 to ", kMaxSide);
  return side;
}

}  // namespace

void MnistRecords(const MnistFiles& files, const MnistOptions& options,
                  const RecordAcceptor& accept) {
  DataFile images(files.images), labels(files.labels);
  ReadMagic(&images, kImagesMagic, "images");
  ReadMagic(&labels, kLabelsMagic, "labels");
  const int64_t count = images.ReadBigEndian("the number of images");
  const int64_t label_count = labels.ReadBigEndian("the number of labels");
  CAFFE_ENFORCE_EQ(label_count, count, "labels in \"", files.labels,
                   "\", want as many as images in \"", files.images, "\"");
  const uint32_t rows = ReadSide(&images, "rows"), columns = ReadSide(&images, "columns");
  std::string pixels(size_t{rows} * columns, '\0');
  const int64_t records = options.limit > 0 ? std::min(options.limit, count) : count;
  for (int64_t i = 0; i < records; ++i) {
    images.ReadAll(pixels.data(), pixels.size(), "an image");
    uint8_t label = 0;
    labels.ReadAll(&label, 1, "a label");
    TrainingRecord record;
    record.key = RecordKey(i, 8);
    TensorProto* const data = record.tensors.add_protos();
    data->set_data_type(TensorProto::BYTE);
    const bool first = options.order == PixelOrder::kChannelsFirst;
    if (first) data->add_dims(1);
    data->add_dims(rows);
    data->add_dims(columns);
    if (!first) data->add_dims(1);
    data->set_byte_data(pixels);
    AddLabel(label, LabelDims::kNone, &record.tensors);
    accept(record);
  }
  if (records < count) return;
  images.ExpectEnd("the last image");
  labels.ExpectEnd("the last label");
}

}  // namespace caffe2rt
