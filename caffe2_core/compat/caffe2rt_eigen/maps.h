#pragma once
// Eigen's matrices, vectors and arrays as views of memory. Empty unless Eigen (libeigen3-dev) is
// installed.
#if __has_include(<Eigen/Core>)
#include <Eigen/Core>
#define CAFFE2RT_HAS_EIGEN 1
#elif __has_include(<eigen3/Eigen/Core>)
#include <eigen3/Eigen/Core>
#define CAFFE2RT_HAS_EIGEN 1
#endif

#ifdef CAFFE2RT_HAS_EIGEN
#include <cstdint>

namespace caffe2 {

// E: Eigen, ER: row-major, otherwise column-major. Arr: array, Mat: matrix, Vec: vector.
template <class T>
using EArrXt = Eigen::Array<T, Eigen::Dynamic, 1>;
template <class T>
using EArrXXt = Eigen::Array<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T>
using ERArrXXt = Eigen::Array<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using EVecXt = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <class T>
using EMatXt = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T>
using ERMatXt = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

using EArrXf = EArrXt<float>;
using EArrXd = EArrXt<double>;
using EArrXi = EArrXt<int>;
using EArrXb = EArrXt<bool>;
using EArrXI32 = EArrXt<int32_t>;
using EArrXU16 = EArrXt<uint16_t>;
using EArrXU8 = EArrXt<uint8_t>;
using EArr3U8 = Eigen::Array<uint8_t, 3, 1>;
using EArrXXf = EArrXXt<float>;
using EArrXXi = EArrXXt<int>;
using EArrXXI32 = EArrXXt<int32_t>;
using EArrXXU16 = EArrXXt<uint16_t>;
using EArrXXU8 = EArrXXt<uint8_t>;
using ERArrXXf = ERArrXXt<float>;
using ERArrXXi = ERArrXXt<int>;
using ERArrXXi32t = ERArrXXt<int32_t>;
using ERArrXXi64t = ERArrXXt<int64_t>;
using ERArrXXI32t = ERArrXXt<int32_t>;
using ERArrXXU16t = ERArrXXt<uint16_t>;
using ERArrXXU8t = ERArrXXt<uint8_t>;
using EVecXf = EVecXt<float>;
using EVecXd = EVecXt<double>;
using ERVecXf = Eigen::RowVectorXf;
using ERVecXd = Eigen::RowVectorXd;
using EMatXf = EMatXt<float>;
using EMatXd = EMatXt<double>;
using EMatXU8 = EMatXt<uint8_t>;
using EMatXU16 = EMatXt<uint16_t>;
using ERMatXf = ERMatXt<float>;
using ERMatXd = ERMatXt<double>;
using ERMatXU8 = ERMatXt<uint8_t>;

template <class T>
using EigenMatrix = EMatXt<T>;
template <class T>
using EigenMatrixMap = Eigen::Map<EMatXt<T>>;
template <class T>
using EigenArrayMap = Eigen::Map<EArrXXt<T>>;
template <class T>
using EigenVectorMap = Eigen::Map<EVecXt<T>>;
template <class T>
using EigenVectorArrayMap = Eigen::Map<EArrXt<T>>;
template <class T>
using ConstEigenMatrixMap = Eigen::Map<const EMatXt<T>>;
template <class T>
using ConstEigenArrayMap = Eigen::Map<const EArrXXt<T>>;
template <class T>
using ConstEigenVectorMap = Eigen::Map<const EVecXt<T>>;
template <class T>
using ConstEigenVectorArrayMap = Eigen::Map<const EArrXt<T>>;

using EigenOuterStride = Eigen::OuterStride<Eigen::Dynamic>;
using EigenInnerStride = Eigen::InnerStride<Eigen::Dynamic>;
using EigenStride = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
template <class T>
using EigenOuterStridedMatrixMap = Eigen::Map<EMatXt<T>, 0, EigenOuterStride>;
template <class T>
using EigenOuterStridedArrayMap = Eigen::Map<EArrXXt<T>, 0, EigenOuterStride>;
template <class T>
using ConstEigenOuterStridedMatrixMap = Eigen::Map<const EMatXt<T>, 0, EigenOuterStride>;
template <class T>
using ConstEigenOuterStridedArrayMap = Eigen::Map<const EArrXXt<T>, 0, EigenOuterStride>;
template <class T>
using EigenStridedMatrixMap = Eigen::Map<EMatXt<T>, 0, EigenStride>;
template <class T>
using EigenStridedArrayMap = Eigen::Map<EArrXXt<T>, 0, EigenStride>;
template <class T>
using ConstEigenStridedMatrixMap = Eigen::Map<const EMatXt<T>, 0, EigenStride>;
template <class T>
using ConstEigenStridedArrayMap = Eigen::Map<const EArrXXt<T>, 0, EigenStride>;

}  // namespace caffe2
#endif
