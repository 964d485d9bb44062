"""Compiles the GPU kernels without a GPU and checks them; on a GPU, times them."""
