// The sweep of Stencil2D: each point becomes the weighted sum of nine. What `sweep.rs` does, by a thread for each point.
//
// 1. Points outside a tile are in the edges that its neighbours sent: `part` has the tile in the middle and an edge for each of the eight
//    ways, row by row; null, and zeros, where the field ends.
// 2. Products and sums are taken in the order of `sweep.rs`, and none are fused (`compile.py`), so that both have the same bits.
//
// `cargo xtask kernels` compiles this to `sweep.ptx`.

typedef long long i64;

template <typename T>
struct Parts {
    const T* part[9];
};

// -1 before the first, 1 behind the last.
__device__ int side(i64 at, i64 len) {
    return (at >= len) - (at < 0);
}

template <typename T>
__device__ T point(const Parts<T>& parts, i64 rows, i64 columns, i64 row, i64 column) {
    int down = side(row, rows), right = side(column, columns);
    const T* part = parts.part[(down + 1) * 3 + right + 1];
    if (part == nullptr) return 0;
    if (down == 0 && right == 0) return part[row * columns + column];
    return part[right == 0 ? column : down == 0 ? row : 0];
}

template <typename T>
__device__ void sweep_point(const Parts<T>& parts, T* swept, i64 rows, i64 columns) {
    i64 column = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    i64 row = (i64)blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || column >= columns) return;
#define AT(down, right) point(parts, rows, columns, row + (down), column + (right))
    T beside = AT(-1, 0) + AT(1, 0) + AT(0, -1) + AT(0, 1);
    T across = AT(-1, -1) + AT(-1, 1) + AT(1, -1) + AT(1, 1);
    swept[row * columns + column] = T(0.25) * AT(0, 0) + T(0.15) * beside + T(0.05) * across;
}

extern "C" __global__ void sweep(Parts<double> parts, double* swept, i64 rows, i64 columns) {
    sweep_point(parts, swept, rows, columns);
}

extern "C" __global__ void sweep_single(Parts<float> parts, float* swept, i64 rows, i64 columns) {
    sweep_point(parts, swept, rows, columns);
}
