#pragma once
// NumPy files: .npy (one array) and .npz (a zip archive of .npy files).
//
//   Tensor t = ReadNpy("in__data.npy");
//   WriteNpy("out__prob.npy", t);
//   for (auto& [name, tensor] : ReadNpz("inputs.npz")) ...
//   WriteNpz("outputs.npz", {{"prob", t}});
//
// Element types: bool, (u)int8, (u)int16, int32, int64, float16, float32, float64. uint32 and
// uint64 are converted to int64; a uint64 value that does not fit is an error. ml_dtypes' float8_e5m2 ("f1")
// is converted to float. Complex numbers,
// strings, records and Python objects are rejected with a reason (strings can be written, but not
// read). Fortran order is converted to row-major order, big endian to little endian. All sizes are
// checked against the bytes present before memory is allocated. Writing is atomic. Thread safe.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "caffe2_core/tensor/tensor.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Returns a CPU tensor. THROWS, naming the file, if it is not a supported .npy file.
Tensor ReadNpy(const std::string& path);
// Like ReadNpy, for bytes in memory; errors use `subject` as the name of the file.
Tensor ParseNpy(std::string_view bytes, const std::string& subject);

// Write the tensor's elements, copied from its device, to a file or a string. Strings are written
// as bytes of one width ("|S7"). THROW for an element type that .npy cannot represent.
void WriteNpy(const std::string& path, const Tensor& tensor);
std::string NpyBytes(const Tensor& tensor);

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

// Returns {name without ".npy", array} for every entry, in archive order. An entry that is not an
// .npy file is an error. Stored and deflated entries are supported, and Zip64: archives and entries
// above 4 GiB. The bytes of a name are returned as they are, except that zero bytes become spaces.
// THROWS before unpacking if two entries have the same name or share bytes, if together they unpack
// to more than 64 MiB and more than 100 times the file size, or if there are more than 16,384.
NamedTensors ReadNpz(const std::string& path);

// Writes an archive of the tensors, copied from their devices, with `name`.npy as the names of the
// entries: numpy.load(path)[name] returns the array. Names are written as they are, "/" included,
// and marked as UTF-8 if they are. The entries are stored without compression, and equal tensors
// give equal files. Above 4 GiB the archive uses Zip64. Writing is atomic; the bytes for a pipe are
// kept in memory until the archive is complete. THROWS as WriteNpy does, if a name contains a zero byte, is longer than 65,531 bytes or
// exists twice, and if ReadNpz would reject the number of tensors.
void WriteNpz(const std::string& path, const NamedTensors& tensors);

}  // namespace caffe2rt
#pragma GCC visibility pop
