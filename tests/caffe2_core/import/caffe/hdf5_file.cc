#define H5_USE_110_API
#include "tests/caffe2_core/import/caffe/hdf5_file.h"

#include <gtest/gtest.h>
#include <hdf5.h>

namespace caffe2rt::test {

bool HasHdf5() { return true; }

void WriteHdf5Weights(const std::string& path,
                      const std::map<std::string, std::map<int, Hdf5Blob>>& layers, bool doubles) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  ASSERT_GE(file, 0) << path;
  // Names of layers may have slashes.
  const hid_t nested = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(nested, 1);
  for (const auto& [layer, blobs] : layers) {
    for (const auto& [index, blob] : blobs) {
      const std::string name = "/data/" + layer + "/" + std::to_string(index);
      const std::vector<hsize_t> dims(blob.dims.begin(), blob.dims.end());
      const hid_t space = H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr);
      const hid_t type = doubles ? H5T_IEEE_F64LE : H5T_IEEE_F32LE;
      const hid_t data =
          H5Dcreate2(file, name.c_str(), type, space, nested, H5P_DEFAULT, H5P_DEFAULT);
      EXPECT_GE(H5Dwrite(data, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, blob.values.data()),
                0);
      H5Dclose(data);
      H5Sclose(space);
    }
  }
  H5Gclose(H5Gcreate2(file, "/diff", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Pclose(nested);
  H5Fclose(file);
}

}  // namespace caffe2rt::test
