"""A small package that uses the engine as Caffe2's front end does. Written for these tests."""
import torch  # noqa: F401
