#pragma once
// CAFFE2RT_TEMPLATED_TENSOR: the generation of Caffe2 that a source was written for.
//
// 0 (the default): `Tensor` is a class, as from the middle of 2018 on.
// 1: `Tensor` is a template over the context, as before. The target caffe2rt::compat_templated
// defines it; a source can also define it before its first #include.
//
// The choice is one per translation unit. Objects of both kinds link into one program and exchange
// blobs, because the tensor in a blob is always a caffe2rt::Tensor.
//
// Classes of namespace caffe2 that differ between the generations are in its inline namespace
// `templated` in the second one, so that their symbols differ too.
#ifndef CAFFE2RT_TEMPLATED_TENSOR
#define CAFFE2RT_TEMPLATED_TENSOR 0
#endif
