#include "python/engine/frontend_tensors.h"

#include <nanobind/stl/vector.h>

#include <vector>

#include "caffe2_core/tensor/data_type.h"
#include "python/engine/arrays.h"
#include "python/engine/dlpack.h"

namespace caffe2rt {

namespace nb = nanobind;

Tensor& FrontendTensor::get() const {
  CAFFE_ENFORCE(blob_->IsTensor(CPU), "the blob does not hold a tensor on the CPU, but ",
                blob_->IsEmpty() ? "nothing" : blob_->TypeName());
  return *blob_->GetMutableTensor(CPU);
}

void BindFrontendTensors(nb::module_& m) {
  nb::class_<FrontendTensor>(m, "TensorCPU")
      .def_prop_ro("data", [](const FrontendTensor& self) { return ViewOfTensor(&self.get()); })
      .def("feed",
           [](const FrontendTensor& self, nb::handle array) {
             CAFFE_ENFORCE(IsNumpyArray(array), "argument of TensorCPU.feed is ",
                           nb::type_name(array.type()).c_str(), ", want a numpy array");
             FeedArray(array, &self.get());
           })
      .def("fetch", [](const FrontendTensor& self) { return FetchTensor(self.get()); })
      .def(
          "init",
          [](const FrontendTensor& self, const std::vector<int64_t>& dims, int data_type) {
            const TypeMeta meta = DataTypeToTypeMeta(static_cast<int64_t>(data_type));
            CAFFE_ENFORCE(meta.IsPlainData(), "TensorCPU.init does not support element type ",
                          meta.name(), "; feed an array instead");
            self.get().Resize(dims);
            self.get().raw_mutable_data(meta);
          },
          nb::arg("dims"), nb::arg("caffe_type") = static_cast<int>(TensorProto::FLOAT))
      .def_prop_ro("_shape", [](const FrontendTensor& self) { return self.get().dims(); })
      .def("_reshape", [](const FrontendTensor& self,
                          const std::vector<int64_t>& dims) { self.get().Resize(dims); })
      .def("_tensor_impl_raw_handle",
           [](const FrontendTensor&) {
             CAFFE_THROW(
                 "a tensor of this library is not a tensor of PyTorch; import caffe2rt.frontend "
                 "before caffe2, whose to_torch() goes through DLPack");
           })
      .def("_to_dlpack", [](const FrontendTensor& self) { return DLPackOf(&self.get()); });
  nb::class_<FrontendDLPackTensor>(m, "DLPackTensorCPU")
      .def_prop_ro("data",
                   [](const FrontendDLPackTensor& self) {
                     Tensor& content = self.get();
                     if (!content.dtype_initialized()) content.mutable_data<float>();
                     return DLPackOf(&content);
                   })
      .def("feed", [](const FrontendDLPackTensor& self,
                      nb::handle capsule) { ShareDLPack(capsule, &self.get()); })
      .def_prop_ro("_shape", [](const FrontendDLPackTensor& self) { return self.get().dims(); })
      .def("_reshape", [](const FrontendDLPackTensor& self, const std::vector<int64_t>& dims) {
        self.get().Resize(dims);
      });
}

}  // namespace caffe2rt
