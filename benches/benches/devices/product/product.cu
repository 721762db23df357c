// A product of two square matrices, a tile at a time: what keeps a device's processors busy while something else is copied.
//
// 1. A block of threads makes a tile of the product, a thread one element. `side` is a multiple of a tile's.
// 2. Terms are added in the order of their index, and none are fused (`compile.py`), so that the host's loop has the same bits.
//
// `cargo xtask kernels` compiles this to `product.ptx`.

#define TILE 16

extern "C" __global__ void product(const float* left, const float* right, float* product, int side) {
    __shared__ float of_left[TILE][TILE], of_right[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int first = 0; first < side; first += TILE) {
        of_left[threadIdx.y][threadIdx.x] = left[(long long)row * side + first + threadIdx.x];
        of_right[threadIdx.y][threadIdx.x] = right[(long long)(first + threadIdx.y) * side + column];
        __syncthreads();
        for (int at = 0; at < TILE; at++) sum += of_left[threadIdx.y][at] * of_right[at][threadIdx.x];
        __syncthreads();
    }
    product[(long long)row * side + column] = sum;
}
