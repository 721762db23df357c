"""Compiles kernels to PTX by NVRTC, which needs no device: `compile.py LIBNVRTC SOURCE` writes the PTX to standard output."""

import ctypes
import os
import sys

# All devices since 2016 take code for this one (P100, V100, T4, and what came later), which their drivers compile further. Products and
# sums that are not fused have the bits that the host's have.
OPTIONS = [b"--gpu-architecture=compute_60", b"--std=c++17", b"--fmad=false"]


def text(nvrtc, size_of, get, program):
    size = ctypes.c_size_t()
    getattr(nvrtc, size_of)(program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, get)(program, buffer)
    return buffer.value


def main(library, path):
    nvrtc, program = ctypes.CDLL(library), ctypes.c_void_p()
    with open(path, "rb") as source:
        # The name is in messages alone.
        nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.read(), os.path.basename(path).encode(), 0, None, None)
    result = nvrtc.nvrtcCompileProgram(program, len(OPTIONS), (ctypes.c_char_p * len(OPTIONS))(*OPTIONS))
    sys.stderr.buffer.write(text(nvrtc, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog", program))
    if result != 0:
        return f"NVRTC answered {result}"
    sys.stdout.buffer.write(text(nvrtc, "nvrtcGetPTXSize", "nvrtcGetPTX", program))
    return 0


sys.exit(main(*sys.argv[1:]))
