#include "caffe2_core/tensor/blob.h"

namespace caffe2rt {

Tensor* Blob::ResetTensor(DeviceType device) { return Reset(new Tensor(device)); }

void Blob::ThrowWrongType(TypeMeta wanted) const {
  if (meta_ == wanted && meta_.Match<Tensor>()) {  // BlobContent did not accept the device
    CAFFE_THROW("wrong device for the blob: it holds a tensor on ",
                DeviceTypeName(static_cast<const Tensor*>(object_)->GetDeviceType()),
                ", want one on another device");
  }
  CAFFE_THROW("wrong type for the blob: it holds ", meta_.IsSet() ? meta_.name() : "nothing",
              ", want ", wanted.name());
}

const Tensor& BlobGetTensor(const Blob& blob, DeviceType device) {
  const Tensor& tensor = blob.Get<Tensor>();
  CAFFE_ENFORCE(tensor.GetDeviceType() == device, "the blob holds a tensor on ",
                DeviceTypeName(tensor.GetDeviceType()), ", want one on ", DeviceTypeName(device));
  return tensor;
}

Tensor* BlobSetTensor(Blob* blob, Tensor&& tensor) {
  CAFFE_ENFORCE(blob != nullptr, "argument blob of BlobSetTensor is null");
  return blob->Reset(new Tensor(std::move(tensor)));
}

}  // namespace caffe2rt
